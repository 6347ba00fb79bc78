"""Products: search, latest changes, and the history of one price."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import orjson
from aiohttp import web

from crawler.dashboard.charts import line_chart
from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import address, badge, link, moment, page, table, tiles
from crawler.dashboard.pages.domains import number
from crawler.reads.database import Row
from crawler.reads.stored import (
    ORDERS,
    ProductFilter,
    changes,
    estimate,
    product,
    search_products,
    sites,
)
from scrapy_seine.reads.formatting import count

PAGE = 50
#: Words of schema.org's ItemAvailability that shops use most.
STOCKS = ("InStock", "OutOfStock", "PreOrder", "BackOrder", "LimitedAvailability", "Discontinued")


async def products(request: web.Request) -> web.Response:
    """List products by words, site and stock, in one of four orders."""
    database, query = context_of(request).database, request.query
    wanted = ProductFilter(
        words=query.get("q", "").strip(),
        site=query.get("site", ""),
        stock=query.get("stock", ""),
        order=query.get("order", "changed"),
    )
    start = number(query.get("from", "0"))
    rows = await search_products(database, wanted, limit=PAGE, start=start)
    names = ("Product", "Site", "Number", "Price", "Stock", "Changed (UTC)")
    asked = {"q": wanted.words, "site": wanted.site, "stock": wanted.stock, "order": wanted.order}
    more: Node = None
    if len(rows) == PAGE:
        onward = address("products", **asked, **{"from": str(start + PAGE)})
        more = tag.p(tag.a("Next page", href=onward))
    return page(
        request,
        "Products",
        _search(wanted, await sites(database)),
        tag.p(f"About {count(await estimate(database, 'products'))} in all. ", _take_out(wanted)),
        table("Products", names, [_row(row) for row in rows], words=3, empty=_none(wanted)),
        more,
    )


def _search(wanted: ProductFilter, known: list[str]) -> Node:
    return tag.form(
        tag.label("Name, brand, number or URL", for_="q"),
        tag.input(type="search", name="q", id="q", value=wanted.words, autocomplete="off"),
        _choice("site", "Site", [("", "all"), *((site, site) for site in known)], wanted.site),
        _choice("stock", "Stock", [("", "all"), *((name, name) for name in STOCKS)], wanted.stock),
        _choice("order", "Order", [(name, name) for name in ORDERS], wanted.order),
        tag.button("Search"),
        method="get",
        role="search",
    )


def _choice(name: str, label: str, options: list[tuple[str, str]], chosen: str) -> Node:
    made = [tag.option(text, value=value, selected=value == chosen) for value, text in options]
    return tag.span(tag.label(label, for_=name), tag.select(made, name=name, id=name))


def _take_out(wanted: ProductFilter) -> Node:
    """Say by which command the list is had as a file."""
    conditions = [("site_id", wanted.site), ("availability", wanted.stock)]
    where = "".join(f" --where {field}={value}" for field, value in conditions if value)
    return ("As a file: ", tag.code(f"scrapy export products{where} -o products.csv"))


def _none(wanted: ProductFilter) -> Node:
    if wanted == ProductFilter(order=wanted.order):
        return ("No product is stored yet: ", tag.code("scrapy crawl catalog -a url=https://…"))
    return "No product matches."


def _row(row: Row) -> tuple[Node, ...]:
    return (
        tag.a(row["name"], href=address("products", row["site_id"], row["external_id"])),
        row["site_id"],
        row["external_id"],
        price(row["price"], row["currency"]),
        row["availability"] or "–",
        moment(row["updated_at"].timestamp()),
    )


def price(amount: Decimal | None, currency: str | None) -> str:
    """Write a price with its currency; a dash where there is none.

    >>> price(Decimal("1299.5"), "EUR"), price(None, None)
    ('1,299.50 EUR', '–')
    """
    return "–" if amount is None else f"{amount:,.2f} {currency or ''}".strip()


async def one_product(request: web.Request) -> web.Response:
    """Show one product, its price over time and what else changed."""
    database = context_of(request).database
    key = request.match_info["site"], request.match_info["id"]
    row = await product(database, *key)
    if row is None:
        raise web.HTTPNotFound(text="There is no such product.\n")
    history = await changes(database, *key)
    rows = [
        (moment(c["changed_at"].timestamp()), c["field"], _short(c["old"]), _short(c["new"]))
        for c in history
    ]
    return page(
        request,
        row["name"],
        tag.p(link(row["url"])),
        tag.p(badge("gone", "bad")) if row["gone_at"] else None,
        _tiles(row),
        _chart(row, history),
        table("What changed", ("Time (UTC)", "Field", "From", "To"), rows, words=4),
        tag.h2("The whole item"),
        tag.pre(_pretty(row["item"]), tabindex="0"),
    )


def _tiles(row: Row) -> Node:
    return tiles(
        [
            ("Price", price(row["price"], row["currency"])),
            ("Availability", row["availability"] or "–"),
            ("Brand", row["brand"] or "–"),
            ("Site", row["site_id"]),
            ("Number", row["external_id"]),
            ("First seen", f"{row['first_seen']:%Y-%m-%d}"),
            ("Last seen", f"{row['scraped_at']:%Y-%m-%d %H:%M}"),
        ]
    )


def prices(row: Row, history: list[Row]) -> list[tuple[float, Decimal]]:
    """Prices with the Unix time from which each held, oldest first; the last one still holds."""
    steps = [c for c in reversed(history) if c["field"] == "price"]
    found: list[tuple[float, Decimal]] = []
    if steps:
        first = row["first_seen"].timestamp()
        known = [
            (first, steps[0]["old"]),
            *((s["changed_at"].timestamp(), s["new"]) for s in steps),
        ]
        found = [(at, amount) for at, raw in known if (amount := _amount(raw)) is not None]
    elif row["price"] is not None:
        found = [(row["first_seen"].timestamp(), row["price"])]
    return found


def _amount(raw: object) -> Decimal | None:
    try:
        return Decimal(str(raw))
    except InvalidOperation:
        return None


def _chart(row: Row, history: list[Row]) -> Node:
    steps = prices(row, history)
    if not steps:
        return None
    begin, end = steps[0][0], max(row["scraped_at"].timestamp(), steps[-1][0])
    shown = evenly(steps, begin, end)
    first, last = f"{row['first_seen']:%Y-%m-%d}", f"{row['scraped_at']:%Y-%m-%d}"
    return tag.figure(
        tag.figcaption(f"Price, {row['currency'] or 'as shown'}"),
        line_chart("Price", shown, first=first, last=last, steps=True),
    )


def evenly(
    steps: list[tuple[float, Decimal]], begin: float, end: float, points: int = 120
) -> list[float]:
    """Price at even steps of time.

    >>> evenly([(0.0, Decimal(5)), (50.0, Decimal(8))], 0.0, 100.0, points=5)
    [5.0, 5.0, 8.0, 8.0, 8.0]
    """
    values, held, at = [], float(steps[0][1]), 0
    for point in range(points):
        now = begin + (end - begin) * point / (points - 1)
        while at < len(steps) and steps[at][0] <= now:
            held, at = float(steps[at][1]), at + 1
        values.append(held)
    return values


def _short(value: object) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    longest = 200
    return text if len(text) <= longest else f"{text[:longest]}…"


def _pretty(item: object) -> str:
    return orjson.dumps(item, option=orjson.OPT_INDENT_2, default=str).decode()
