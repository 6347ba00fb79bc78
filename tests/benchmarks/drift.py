"""Changes of a shop's template in mid-crawl: noticed, kept out of the clean table, mended?

Each shop is crawled once, then a second time a day later; from page 60 of that on its template is
changed. What is stored follows the rules of crawler.stores.doubtful, in memory. `noticed`: a doubt
about the field that was changed (or one that it takes with it), within 30 pages. `wrong_rows`:
products whose stored value is wrong afterwards. `misread`: pages whose value the parser alone reads
wrong; a change without such pages need not be noticed. `mended`: of the last 40 pages 95 % of the
values are right and believed when the pages are read first; `mended_after_all`: of all pages since
the change, as they were read last. With 100 products the last 40 pages are all of them, so that
`mended` counts only changes that never made a value doubtful. `told`: the pages still have the
values somewhere. `restored`: after one more crawl, a day later and of the template of before, every
row is right and nothing is doubtful. What the book asks for is told and read again, as a crawl
does. Calm days (tests/benchmarks/calm_days.py) have to raise nothing.

A user has no use for a report of a change that leaves each value right, stored and believed
(`stayed_right`): `settled` counts these and the noticed ones; of the changes that are read right,
`read_right_kept` counts those of which nothing was kept out. `days_with_a_report`: calm days on
which something is said, though nothing is kept out. The sums of all are followed by those of the
changes and days that were tried first, and by those of the further ones, now and at first.

usage: python -m tests.benchmarks.drift [--products 300] [--json]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import attrs
import orjson

from crawler.cleaning.product import clean
from crawler.extract import extract, parse
from crawler.extract.template import Book, Drift
from crawler.extract.template.observation import FIELDS
from crawler.stores.content_hash import digest
from crawler.stores.doubtful import _with_good_values
from crawler.stores.doubts_by_history import (
    SECOND_LOOK,
    EarlierDoubt,
    Stored,
    doubts_of,
    is_seen_again,
)
from crawler.stores.rows import ProductRow, product_row
from scrapy_seine.urls import tidy
from tests.benchmarks.calm_days import BEFORE, DAYS, FIRST_DAYS, UNDECIDABLE, Day, Shown
from tests.benchmarks.further_changes import FIRST_TRY, FURTHER, GOODS_OF, TODAY_FURTHER
from tests.benchmarks.shops import SHOPS, Shop, Thing, things
from tests.benchmarks.template_changes import CHANGES, TODAY, Change

_START, _WITHIN, _LAST = 60, 30, 40
_FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
#: A field's change may show at the one that is read with it.
_TOGETHER = {"currency": {"price", "currency"}, "name": {"name", "product"}}
_TODAY = {**TODAY, **TODAY_FURTHER}


@attrs.define
class Crawl:
    """A shop's products as they are stored, over several crawls."""

    shop: Shop
    structured: bool
    change: Change | None = None
    book: Book = attrs.field(init=False)
    table: dict[str, Stored] = attrs.Factory(dict)
    told: dict[tuple[str, str], tuple[Any, datetime, str]] = attrs.Factory(dict)
    """What is doubtful: the value, since when, and the kind of the doubt."""
    lately: dict[tuple[str, str], tuple[Any, datetime]] = attrs.Factory(dict)
    """What a product's field was before it changed, and when it did."""
    drifts: list[str] = attrs.Factory(list)
    """Fields whose change was told of."""
    said: list[str] = attrs.Factory(list)
    """What was told of them."""
    before: dict[str, Any] = attrs.Factory(dict)
    """By address: what was stored before its page was read."""
    read_at: dict[str, datetime] = attrs.Factory(dict)
    last: dict[int, dict[str, Any]] = attrs.Factory(dict)
    """By a thing's number: what was read of its page the last time."""

    def __attrs_post_init__(self) -> None:
        self.book = Book(self._note_drift)

    def _note_drift(self, drift: Drift) -> None:
        self.drifts.append(drift.field)
        self.said.append(f"{drift.field} {drift.kind}: {drift.reason}")

    def read(self, thing: Thing, at: datetime, change: Change | None) -> set[str]:
        """Read one page and store it; returns the doubtful fields."""
        body = self.shop.page(thing, self.structured)
        body = change(body, thing, self.shop) if change is not None else body
        found = extract(parse(body, self.shop.url(thing)))
        if found.kind != "product":
            self.last[thing.number] = {}
            return {"product"}
        judged = self.book.judge(self.shop.name, found)
        product = found.product()
        assert product is not None
        product.site_id, product.external_id = self.shop.name, str(thing.number)
        product.scraped_at = at
        product.confidence = dict(judged.confidence)
        product.doubts = {name: [d.kind, d.reason] for name, d in judged.doubts.items()}
        clean(product, at)
        product.external_id = str(thing.number)
        row = product_row(product, digest(product))
        self.last[thing.number] = orjson.loads(row.body)
        return self._store(row, at)

    def is_believed(self, thing: Thing, field: str, expected: Any) -> bool:
        """Whether the newest reading of a page has the expected value, and nobody doubts it."""
        value = self.last[thing.number].get(field)
        return value == expected and (str(thing.number), field) not in self.told

    def _store(self, row: ProductRow, at: datetime) -> set[str]:
        """Do what crawler.stores.doubtful does with a row; returns the fields that are doubtful."""
        key, before = row.external_id, self.table.get(row.external_id)
        found_doubts = [
            doubt
            for doubt in doubts_of(
                row, before and attrs.evolve(before, earlier_values=self._lately(key, at))
            )
            if not is_seen_again(doubt, self._told(key, doubt.field, before))
        ]
        doubted = {doubt.field for doubt in found_doubts}
        self.told = {
            pair: told for pair, told in self.told.items() if pair[0] != key or pair[1] in doubted
        }
        for doubt in found_doubts:
            value, since, _ = self.told.get((key, doubt.field), (None, at, ""))
            since = since if value == doubt.value else at
            self.told[key, doubt.field] = doubt.value, since, doubt.kind
        if any(doubt.is_essential for doubt in found_doubts):
            return doubted  # as in the storage, nothing of such a page is stored
        item: dict[str, Any] = dict(before.item) if before is not None else {}
        if at - self.read_at.get(row.url, _FIRST_DAY - SECOND_LOOK) > timedelta(minutes=15):
            price, _ = self.lately.get((key, "price"), (None, at))
            self.before[row.url] = {**item, "earlier_price": price} if item else None
        self.read_at[row.url] = at
        kept = _with_good_values(row, found_doubts, before) if found_doubts else row
        now = orjson.loads(kept.body)
        changed_fields = {name for name in FIELDS if item and item.get(name) != now.get(name)}
        self.lately.update({(key, name): (item.get(name), at) for name in changed_fields})
        self.table[key] = Stored(now, row.url, at)
        return doubted

    def _told(self, key: str, field: str, stored: Stored | None) -> EarlierDoubt | None:
        if (key, field) not in self.told:
            return None
        value, since, _ = self.told[key, field]
        jumps = sum(kind == "jump" for _, _, kind in self.told.values())
        mixed = field == "currency" and any(
            other.item.get(field) == (stored and stored.item.get(field))
            and other.scraped_at > since
            and (number, field) not in self.told
            for number, other in self.table.items()
        )
        return EarlierDoubt(value, since, jumps, mixed)

    def _lately(self, key: str, at: datetime) -> dict[str, Any]:
        told = {name: self.lately.get((key, name)) for name in FIELDS}
        return {name: one[0] for name, one in told.items() if one and at - one[1] < SECOND_LOOK}

    def look_after(self, goods: Mapping[str, Shown], at: datetime, change: Change | None) -> None:
        """Tell the book of stored values as the storage does, and read again what it asks for."""
        for site, urls in list(self.book.awaited_pages()):
            self.book.recall(site, {url: self.before.get(url) for url in urls})
        for url, _ in self.book.pages_to_reread(self.shop.name):
            thing, self.shop = goods[url]
            self.read(thing, at + timedelta(minutes=1), change)
        for look in self.book.currencies.looks(self.shop.name):
            self.book.currencies.expect(self.shop.name, look)
            thing, self.shop = goods[look.url]
            self.read(thing, at + timedelta(minutes=1), change)


def _is_wrong(stored: Mapping[str, Any], fine: Sequence[Thing], shop: Shop, field: str) -> bool:
    value = stored.get(field)
    if value is None:
        return False
    if field == "price":
        return Decimal(str(value)) not in [thing.price for thing in fine]
    return value not in [_expected(thing, field, shop) for thing in fine]


@attrs.define
class _Watch:
    """What is noted of the pages after a change."""

    noticed: int | None = None
    misread: int = 0
    """Pages whose value the parser alone reads wrong."""
    first: list[bool] = attrs.Factory(list)
    """Whether the value was right and believed when a page was read first."""
    tells: list[bool] = attrs.Factory(list)
    held: int = 0


def changed(shop: Shop, structured: bool, change: Change, field: str, count: int) -> dict[str, Any]:
    """One change in mid-crawl: when it was noticed, rows that are wrong, whether it is mended."""
    crawl, watch = Crawl(shop, structured), _Watch()
    goods = [GOODS_OF.get(change, lambda thing: thing)(thing) for thing in things(count, 5)]
    today = {t.number: _TODAY.get(change, lambda thing: thing)(t) for t in goods}
    for thing in goods:
        crawl.read(thing, _FIRST_DAY, None)
    by_url = {tidy(shop.url(thing)): (thing, shop) for thing in goods}
    for place, thing in enumerate(goods):
        at, since = _FIRST_DAY + timedelta(days=1), change if place >= _START else None
        doubts = crawl.read(thing, at, since)
        value = crawl.last[thing.number].get(field)
        crawl.look_after(by_url, at, change if since else None)
        if since is None:
            watch.held += len(doubts)
            crawl.drifts.clear()
            continue
        expected = _expected(today[thing.number], field, shop)
        if watch.noticed is None and (doubts | set(crawl.drifts)) & _TOGETHER.get(field, {field}):
            watch.noticed = place - _START + 1
        html = change(shop.page(thing, structured), thing, shop)
        alone = extract(parse(html, shop.url(thing))).fields
        watch.misread += field not in alone or _is_wrong(alone, [today[thing.number]], shop, field)
        watch.first.append(field not in doubts and value == expected)
        watch.tells.append(_tells(html, field, today[thing.number], shop))
    last = [
        crawl.is_believed(thing, field, _expected(today[thing.number], field, shop))
        for thing in goods[_START:]
    ]
    wrong = sum(
        _is_wrong(dict(crawl.table[str(t.number)].item), [t, today[t.number]], shop, field)
        for t in goods
    )
    return {
        "change": change.__name__,
        "shop": shop.name + "+" * structured,
        "field": field,
        "noticed": watch.noticed is not None and watch.noticed <= _WITHIN,
        "after": watch.noticed,
        "misread": watch.misread,
        "stayed_right": not watch.misread and not wrong and all(last),
        "wrong_rows": wrong,
        "mended": sum(watch.first[-_LAST:]) >= 0.95 * _LAST,
        "mended_after_all": sum(last) >= 0.95 * len(last),
        "told": sum(watch.tells[-_LAST:]) >= 0.95 * _LAST,
        "restored": _restored(crawl, goods, by_url, field),
        "held_before": watch.held,
    }


def _restored(crawl: Crawl, goods: list[Thing], by_url: Mapping[str, Shown], field: str) -> bool:
    """Whether a crawl of the template of before leaves right values alone."""
    at = _FIRST_DAY + timedelta(days=2)
    for thing in goods:
        crawl.read(thing, at, None)
        crawl.look_after(by_url, at, None)
    return not crawl.told and not any(
        crawl.table[str(t.number)].item.get(field) != _expected(t, field, crawl.shop) for t in goods
    )


def _tells(html: str, field: str, thing: Thing, shop: Shop) -> bool:
    """Whether a page still has the right value of a field somewhere."""
    words = {
        "price": (shop.words.money(thing.price), f'"price": "{thing.price}"'),
        "availability": (shop.words.yes if thing.in_stock else shop.words.no,),
        "currency": (shop.words.money(thing.price),),
    }.get(field) or (str(getattr(thing, field)),)
    return any(word in html for word in words)


def _expected(thing: Thing, field: str, shop: Shop) -> Any:
    if field == "price":
        return str(thing.price)
    if field == "currency":
        return shop.words.currency
    if field == "availability":
        return "InStock" if thing.in_stock else "OutOfStock"
    return getattr(thing, field)


def calm(shop: Shop, structured: bool, name: str, day: Day, count: int) -> dict[str, Any]:
    """A second crawl of the same template: doubts, values read, and stale values after it."""
    crawl = Crawl(shop, structured)
    goods = [BEFORE.get(day, lambda thing: thing)(thing) for thing in things(count, 5)]
    for thing in goods:
        crawl.read(thing, _FIRST_DAY, None)
    doubts: Counter[str] = Counter()
    shown, at, values = day(goods, shop), _FIRST_DAY + timedelta(days=1), 0
    by_url = {tidy(shown_by.url(thing)): (thing, shown_by) for thing, shown_by in shown}
    for thing, shown_by in shown:
        crawl.shop = shown_by
        doubts.update(crawl.read(thing, at, None))
        values += len(crawl.last[thing.number])
        crawl.look_after(by_url, at, None)
    stale = sum(
        crawl.table[str(thing.number)].item.get(field) != _expected(thing, field, shown_by)
        for thing, shown_by in shown
        for field in ("name", "price", "currency", "availability", "sku")
    )
    return {
        "day": name,
        "shop": shop.name + "+" * structured,
        "doubts": dict(doubts),
        "values": values,
        "left_stale": stale,
        "said": crawl.said,
    }


def measure(count: int) -> tuple[dict[str, Any], list[str]]:
    """All changes and all unchanged crawls."""
    by_name = {shop.name: shop for shop in SHOPS} | {
        "opencart": next(s for s in SHOPS if s.name == "cart")
    }
    rows = [
        changed(by_name[name.rstrip("+")], name.endswith("+"), change, field, count)
        for change, field, names in (*CHANGES, *FURTHER)
        for name in names.split()
    ]
    days = [
        calm(by_name[name.rstrip("+")], name.endswith("+"), day_name, day, count)
        for day_name, day, names in DAYS
        for name in names.split()
    ]
    first_rows = sum(len(names.split()) for _, _, names in CHANGES)
    first_days = {name for name, _, _ in DAYS[:FIRST_DAYS]}
    result = {
        **_sums(rows, days),
        "first_changes": _sums(
            rows[:first_rows],
            [row for row in days if row["day"] in first_days],
        ),
        "further_changes": _sums(rows[first_rows:], []),
        "further_changes_at_first": FIRST_TRY,
    }
    return result, [json.dumps(row) for row in [*rows, *days]]


def _sums(rows: list[dict[str, Any]], days: list[dict[str, Any]]) -> dict[str, Any]:
    """The sums of some changes and some days."""
    calm_days = [row for row in days if row["day"] not in UNDECIDABLE]
    held = sum(sum(row["doubts"].values()) for row in calm_days)
    right = [row for row in rows if not row["misread"]]
    return {
        "mutations": len(rows),
        "noticed": sum(row["noticed"] for row in rows),
        "mended": sum(row["mended"] for row in rows),
        "told": sum(row["told"] for row in rows),
        "mended_of_told": sum(row["mended"] and row["told"] for row in rows),
        "misread": sum(row["misread"] > 0 for row in rows),
        "noticed_of_misread": sum(row["noticed"] and row["misread"] > 0 for row in rows),
        "settled": sum(row["noticed"] or row["stayed_right"] for row in rows),
        "read_right": len(right),
        "read_right_kept": sum(row["stayed_right"] for row in right),
        "mended_after_all": sum(row["mended_after_all"] for row in rows),
        "mended_after_all_of_told": sum(row["mended_after_all"] and row["told"] for row in rows),
        "restored": sum(row["restored"] for row in rows),
        "calm_days": len(calm_days),
        "false_alarms": sum(bool(row["doubts"]) for row in calm_days),
        "days_with_a_report": sum(bool(row["said"]) for row in calm_days),
        "wrong_rows_max": max((row["wrong_rows"] for row in rows), default=0),
        "right_values_held_back": round(held / max(1, sum(row["values"] for row in calm_days)), 5),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print each change and the sums; with --json, one object in the last line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--products", type=int, default=300)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args(arguments)
    result, lines = measure(chosen.products)
    print(*lines, sep="\n")
    for name, value in result.items():
        print(f"{name:24} {json.dumps(value)}")
    if chosen.json:
        print(json.dumps(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
