"""Forty changes of a shop's template in mid-crawl: noticed, kept out of the clean table, mended?

Each shop is crawled once, then a second time a day later; from page 60 of that on its template is
changed. What is stored follows the rules of crawler.stores.doubtful, in memory. `noticed`: a doubt
about the field that was changed (or one that it takes with it), within 30 pages. `wrong_rows`:
products whose stored value is wrong afterwards. `mended`: of the last 40 pages 95 % of the values
are right and believed. Unchanged crawls and a day of many price changes have to raise nothing.

usage: python -m tests.benchmarks.drift [--products 300] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import attrs
import orjson

from crawler.cleaning.product import clean
from crawler.extract import extract, parse
from crawler.extract.template import Book
from crawler.stores.doubtful import Stored, _without, doubts_of, is_told_again
from crawler.stores.rows import digest, product_row
from tests.benchmarks.shops import SHOPS, Shop, Thing, things

_START, _WITHIN, _LAST = 60, 30, 40
_FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
#: A field's change may show at the one that is read with it.
_TOGETHER = {"currency": {"price", "currency"}, "price": {"price"}}

Change = Callable[[str, Thing, Shop], str]


def _money(shop: Shop, value: Decimal) -> str:
    return shop.words.money(value)


def _renamed(html: str, thing: Thing, shop: Shop) -> str:
    return re.sub(r'class="([^"]*)"', r'class="x-\1-v2"', html)


def _instalment(html: str, thing: Thing, shop: Shop) -> str:
    month = (thing.price / 12).quantize(Decimal("0.01"))
    return html.replace(_money(shop, thing.price), _money(shop, month))


def _no_currency(html: str, thing: Thing, shop: Shop) -> str:
    bare = re.sub(r"[^\d.,]", "", _money(shop, thing.price))
    return html.replace(_money(shop, thing.price), bare)


def _other_currency(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace("$", "€") if "$" in html else html.replace("€", "£").replace("kr", "£")


def _list_price(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(
        _money(shop, thing.price), _money(shop, (thing.price * 6).quantize(Decimal("0.01")))
    )


def _moved(html: str, thing: Thing, shop: Shop) -> str:
    shown = _money(shop, thing.price)
    bare = html.replace(shown, "", 1)
    return bare.replace("</body>", f'<div class="bottom-bar"><i>{shown}</i></div></body>')


def _stale(html: str, thing: Thing, shop: Shop) -> str:
    """The prices change; structured data keeps the ones before."""
    raised = (thing.price * Decimal("1.1")).quantize(Decimal("0.01"))
    return html.replace(_money(shop, thing.price), _money(shop, raised))


def _in_hundreds(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(_money(shop, thing.price), _money(shop, thing.price * 100))


def _one_price(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(_money(shop, thing.price), _money(shop, Decimal("9.99"))).replace(
        f'"price": "{thing.price}"', '"price": "9.99"'
    )


def _one_name(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(thing.name, "Our best offers")


def _no_price(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(_money(shop, thing.price), "").replace(f'"price": "{thing.price}", ', "")


def _no_stock(html: str, thing: Thing, shop: Shop) -> str:
    bare = html.replace(shop.words.yes, "").replace(shop.words.no, "")
    return bare.replace(shop.words.cart, "Go").replace("schema.org/InStock", "").replace(
        "schema.org/OutOfStock", ""
    )  # fmt: skip


def _no_number(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(thing.sku, "").replace('"sku": "", ', "")


def _sold_out(html: str, thing: Thing, shop: Shop) -> str:
    bare = html.replace(shop.words.yes, shop.words.no).replace(
        "schema.org/InStock", "schema.org/SoldOut"
    )
    return bare.replace('<button type="submit"', '<button disabled type="submit"')


#: The change, the field, the shops (`+`: with structured data).
CHANGES: tuple[tuple[Change, str, str], ...] = (
    (_renamed, "price", "woo luma opencart plain"),
    (_instalment, "price", "woo dawn+ luma plain"),
    (_no_currency, "currency", "woo dawn presta"),
    (_other_currency, "currency", "woo luma lumas"),
    (_list_price, "price", "woo presta tiles"),
    (_moved, "price", "woo luma ware"),
    (_stale, "price", "woo+ dawn+ luma+"),
    (_in_hundreds, "price", "woo ware table"),
    (_one_price, "price", "woo dawn+ presta"),
    (_one_name, "name", "woo luma+ presta"),
    (_no_price, "price", "woo dawn tiles"),
    (_no_stock, "availability", "woo presta"),
    (_no_number, "sku", "woo dawn"),
    (_sold_out, "availability", "luma presta+"),
)


@attrs.define
class Crawl:
    """A shop's products as they are stored, over several crawls."""

    shop: Shop
    structured: bool
    change: Change | None = None
    book: Book = attrs.field(init=False)
    table: dict[str, Stored] = attrs.Factory(dict)
    told: dict[tuple[str, str], tuple[Any, datetime, int]] = attrs.Factory(dict)
    jumps: int = 0
    drifts: list[str] = attrs.Factory(list)
    """Fields whose change was told of."""

    def __attrs_post_init__(self) -> None:
        self.book = Book(lambda drift: self.drifts.append(drift.field))

    def read(
        self, thing: Thing, at: datetime, change: Change | None
    ) -> tuple[set[str], dict[str, Any]]:
        """Read one page and store it; returns the doubtful fields, and what was read."""
        body = self.shop.page(thing, self.structured)
        body = change(body, thing, self.shop) if change is not None else body
        found = extract(parse(body, self.shop.url(thing)))
        if found.kind != "product":
            return {"product"}, {}
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
        before = self.table.get(row.external_id)
        found_doubts = [
            doubt
            for doubt in doubts_of(row, before)
            if not is_told_again(doubt, self.told.get((row.external_id, doubt.field)))
        ]
        self.jumps += sum(doubt.kind == "jump" for doubt in found_doubts)
        for doubt in found_doubts:
            before_value, since, _ = self.told.get((row.external_id, doubt.field), (None, at, 0))
            since = since if before_value == doubt.value else at
            self.told[row.external_id, doubt.field] = doubt.value, since, self.jumps
        kept = _without(row, found_doubts, before) if found_doubts else row
        self.table[row.external_id] = Stored(orjson.loads(kept.body), row.url, at)
        return {doubt.field for doubt in found_doubts}, orjson.loads(row.body)


def _wrong(stored: dict[str, Any], thing: Thing, field: str, stale: bool) -> bool:
    value = stored.get(field)
    if field == "price":
        raised = (thing.price * Decimal("1.1")).quantize(Decimal("0.01"))
        fine = {thing.price, raised} if stale else {thing.price}
        return value is not None and Decimal(str(value)) not in fine
    if field == "availability":
        return value is not None and value != ("InStock" if thing.in_stock else "OutOfStock")
    return value is not None and value != getattr(thing, field, value)


def changed(shop: Shop, structured: bool, change: Change, field: str, count: int) -> dict[str, Any]:
    """One change in mid-crawl: when it was noticed, rows that are wrong, whether it is mended."""
    crawl, goods = Crawl(shop, structured), things(count, 5)
    for thing in goods:
        crawl.read(thing, _FIRST_DAY, None)
    noticed, late, held = None, 0, 0
    for place, thing in enumerate(goods):
        at = _FIRST_DAY + timedelta(days=1)
        doubts, told = crawl.read(thing, at, change if place >= _START else None)
        if place < _START:
            held += len(doubts)
            crawl.drifts.clear()
            continue
        said = doubts | set(crawl.drifts)
        if noticed is None and said & _TOGETHER.get(field, {field}):
            noticed = place - _START + 1
        if place >= count - _LAST:
            stale = change is _stale
            value = told.get(field)
            expected = _expected(thing, field, shop, stale)
            late += field not in doubts and value == expected
    wrong = sum(
        _wrong(dict(crawl.table[str(t.number)].item), t, field, change is _stale) for t in goods
    )
    return {
        "change": change.__name__.strip("_"),
        "shop": shop.name + "+" * structured,
        "field": field,
        "noticed": noticed is not None and noticed <= _WITHIN,
        "after": noticed,
        "wrong_rows": wrong,
        "mended": late >= 0.95 * _LAST,
        "held_before": held,
    }


def _expected(thing: Thing, field: str, shop: Shop, stale: bool) -> Any:
    if field == "price":
        raised = (thing.price * Decimal("1.1")).quantize(Decimal("0.01"))
        return str(raised if stale else thing.price)
    if field == "currency":
        return shop.words.currency
    if field == "availability":
        return "InStock" if thing.in_stock else "OutOfStock"
    return getattr(thing, field)


def unchanged(shop: Shop, structured: bool, count: int, *, prices: bool) -> tuple[int, int]:
    """A second crawl without a change, or with other *prices*: doubts, and values read."""
    rng = random.Random(9)
    crawl, goods = Crawl(shop, structured), things(count, 5)
    doubts = values = 0
    for day in (0, 1):
        for thing in goods:
            factor = Decimal(rng.randrange(60, 160)) / 100 if prices and day else Decimal(1)
            price = (thing.price * factor).quantize(Decimal("0.01"))
            new = attrs.evolve(thing, price=price, regular=None if factor != 1 else thing.regular)
            found, told = crawl.read(new, _FIRST_DAY + timedelta(days=day), None)
            doubts += len(found)
            values += len(told)
    return doubts, values


def measure(count: int) -> tuple[dict[str, Any], list[str]]:
    """All changes and all unchanged crawls."""
    by_name = {shop.name: shop for shop in SHOPS} | {
        "opencart": next(s for s in SHOPS if s.name == "cart")
    }
    rows = [
        changed(by_name[name.rstrip("+")], name.endswith("+"), change, field, count)
        for change, field, names in CHANGES
        for name in names.split()
    ]
    calm = [
        unchanged(shop, place % 2 == 0, count, prices=False)
        for place, shop in enumerate(SHOPS[:10])
    ]
    calm.append(unchanged(SHOPS[0], True, count, prices=True))
    held = sum(doubts for doubts, _ in calm)
    result = {
        "mutations": len(rows),
        "noticed": sum(row["noticed"] for row in rows),
        "mended": sum(row["mended"] for row in rows),
        "false_alarms": sum(doubts > 0 for doubts, _ in calm),
        "wrong_rows_max": max(row["wrong_rows"] for row in rows),
        "right_values_held_back": round(held / max(1, sum(values for _, values in calm)), 5),
    }
    return result, [json.dumps(row) for row in rows] + [f"calm: {one}" for one in calm]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print each change and the sums; with --json, one object in the last line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--products", type=int, default=300)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args(arguments)
    result, lines = measure(chosen.products)
    print(*lines, sep="\n")
    for name, value in result.items():
        print(f"{name:24} {value}")
    if chosen.json:
        print(json.dumps(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
