"""One product: its data, its price over time, its other changes and its doubtful values."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson
from aiohttp import web

from crawler.dashboard.charts import Series, line_chart
from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import badge, link, moment, page, table, tiles
from crawler.dashboard.pages.products import price, stock_words
from crawler.dashboard.product_pictures import PictureStore, picture
from crawler.reads.database import Row
from crawler.reads.products import changes, doubts, product
from scrapy_seine.lenient_parsing import moment_of

#: Points of a price's chart.
_POINTS = 240
_DAY_S = 86400


async def one_product(request: web.Request) -> web.Response:
    """Show one product, its price over time and its other changes."""
    context = context_of(request)
    key = request.match_info["site"], request.match_info["id"]
    row = await product(context.database, *key)
    if row is None:
        raise web.HTTPNotFound(text="There is no such product.\n")
    history, product_doubts = await asyncio.gather(
        changes(context.database, *key), doubts(context.database, *key)
    )
    store = PictureStore.within(context.config.images)
    return page(
        request,
        row["name"],
        tag.p(link(row["url"])),
        tag.p(badge("gone", "bad"), " The shop shows it no more.") if row["gone_at"] else None,
        _doubts(product_doubts),
        tag.div(picture(store, row, large=True), _tiles(row), class_="beside"),
        _chart(row, history),
        table(
            "What changed",
            ("Time (UTC)", "Field", "From", "To"),
            [_change(change) for change in history],
            words=4,
            empty="Nothing since it was first seen.",
        ),
        _confidence_table(row["item"]),
        tag.details(
            tag.summary("The whole item, as JSON"), tag.pre(_pretty(row["item"]), tabindex="0")
        ),
    )


def _change(change: Row) -> tuple[Node, ...]:
    changed_at = moment(change["changed_at"].timestamp())
    return changed_at, change["field"], _shortened(change["old"]), _shortened(change["new"])


def _doubts(product_doubts: Sequence[Any]) -> Node:
    """Render the doubtful values, and the values that the row has instead."""
    if not product_doubts:
        return None
    rows = [
        tag.li(
            tag.strong(doubt["field"]),
            f": the page says {_shortened(doubt['value'])},"
            f" {_shortened(doubt['kept'])} is kept, because ",
            doubt["reason"],
        )
        for doubt in product_doubts
    ]
    return tag.ul(rows, class_="troubles")


def _tiles(row: Row) -> Node:
    return tiles(
        [
            ("Price", price(row["price"], row["currency"])),
            ("Stock", stock_words(row["availability"] or "–")),
            ("Brand", row["brand"] or "–"),
            ("Site", row["site_id"]),
            ("Number", row["external_id"]),
            ("First seen", f"{row['first_seen']:%Y-%m-%d}"),
            ("Last seen", f"{row['scraped_at']:%Y-%m-%d %H:%M}"),
        ],
        words=True,
    )


def _confidence_table(item: Mapping[str, Any]) -> Node:
    """Render the confidence and source of each judged value, the least certain first."""
    confidence, sources = item.get("confidence") or {}, item.get("sources") or {}
    if not confidence:
        return None
    rows = [
        (field, sources.get(field, "–"), f"{100 * share:.0f} %")
        for field, share in sorted(confidence.items(), key=lambda pair: float(pair[1]))
    ]
    return table("How sure each value is", ("Field", "Source", "Confidence"), rows, words=2)


def prices(row: Row, history: Sequence[Row]) -> list[tuple[float, Decimal]]:
    """Return the prices with the Unix time since which each was valid, oldest first."""
    steps = [change for change in reversed(history) if change["field"] == "price"]
    amounts: list[tuple[float, Decimal]] = []
    if steps:
        first_seen_s = row["first_seen"].timestamp()
        raw_amounts = [
            (first_seen_s, steps[0]["old"]),
            *((step["changed_at"].timestamp(), step["new"]) for step in steps),
        ]
        amounts = [
            (at_s, amount) for at_s, raw in raw_amounts if (amount := _amount(raw)) is not None
        ]
    elif row["price"] is not None:
        amounts = [(row["first_seen"].timestamp(), row["price"])]
    return amounts


def _amount(raw: object) -> Decimal | None:
    try:
        amount = Decimal(str(raw))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def _chart(row: Row, history: Sequence[Row]) -> Node:
    steps = prices(row, history)
    if not steps:
        return None
    start = steps[0][0]
    end = max(row["scraped_at"].timestamp(), steps[-1][0], start + 1)
    times = [start + (end - start) * point / (_POINTS - 1) for point in range(_POINTS)]
    pattern = "%Y-%m-%d" if end - start > _DAY_S else "%H:%M"
    labels = [f"{moment_of(time_s):{pattern}}" for time_s in (start, (start + end) / 2, end)]
    values = prices_at(steps, times)
    lowest = min(amount for _, amount in steps)
    return [
        line_chart(
            f"Price, {row['currency'] or 'as shown'}",
            [Series("Price", values)],
            labels,
            steps=True,
            times=times,
            now=price(steps[-1][1], row["currency"]),
        ),
        tag.p(
            f"Lowest {price(lowest, row['currency'])}; {_moves(steps)}. ",
            _events(history),
            class_="faint",
        ),
    ]


def _moves(steps: Sequence[tuple[float, Decimal]]) -> str:
    if len(steps) == 1:
        return "it never changed"
    since = timedelta(seconds=int(steps[-1][0] - steps[0][0]))
    return f"{len(steps) - 1} changes in {since.days or 1} days"


def _events(history: Sequence[Row]) -> str:
    """Describe the latest changes of availability, regular price and currency, newest first."""
    events = [
        f"{change['changed_at']:%Y-%m-%d}: {change['field']} became {_shortened(change['new'])}"
        for change in history
        if change["field"] in {"availability", "regular_price", "currency"}
    ][:3]
    return "; ".join(events)


def prices_at(steps: Sequence[tuple[float, Decimal]], times: Sequence[float]) -> list[float | None]:
    """Return the price at each of some times.

    >>> prices_at([(0.0, Decimal(5)), (50.0, Decimal(8))], [0.0, 25.0, 50.0, 75.0])
    [5.0, 5.0, 8.0, 8.0]
    """
    values: list[float | None] = []
    index = 0
    for time_s in times:
        while index + 1 < len(steps) and steps[index + 1][0] <= time_s:
            index += 1
        values.append(float(steps[index][1]))
    return values


def _shortened(value: object) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    max_length = 200
    return text if len(text) <= max_length else f"{text[:max_length]}…"


def _pretty(item: object) -> str:
    return orjson.dumps(item, option=orjson.OPT_INDENT_2, default=str).decode()
