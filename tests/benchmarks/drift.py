"""Changes of a shop's template in mid-crawl: noticed, kept out of the clean table, mended?

Each shop is crawled once, then a second time a day later; from page 60 of that on its template is
changed. What is stored follows the rules of crawler.stores.doubtful, in memory. `noticed`: a doubt
about the field that was changed (or one that it takes with it), within 30 pages. `wrong_rows`:
products whose stored value is wrong afterwards. `mended`: of the last 40 pages 95 % of the values
are right and believed; `told`: the pages still have them somewhere. `restored`: after one more
crawl, a day later and of the template of before, every row is right and nothing is doubtful. What
the book asks for is told and read again, as a crawl does. Unchanged crawls and a day of many price
changes have to raise nothing.

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
from hashlib import blake2b
from typing import Any

import attrs
import orjson

from crawler.cleaning.product import clean
from crawler.extract import extract, parse
from crawler.extract.template import Book
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


def _in_stock(html: str, thing: Thing, shop: Shop) -> str:
    bare = html.replace(shop.words.no, shop.words.yes).replace("/OutOfStock", "/InStock")
    return bare.replace(" disabled>", ">").replace("out-of-stock", "in-stock")


def _cut_cents(html: str, thing: Thing, shop: Shop) -> str:
    """The cents are gone: 12 where it was 12.99, in structured data as well."""
    whole = Decimal(int(thing.price))
    return html.replace(_money(shop, thing.price), _money(shop, whole)).replace(
        f'"price": "{thing.price}"', f'"price": "{whole}"'
    )


def _instalment_first(html: str, thing: Thing, shop: Shop) -> str:
    """An instalment where the price was; the price in a row of its own below."""
    row = f'<div class="sum"><p>Total</p><p>{_money(shop, thing.price)}</p></div>'
    return _instalment(html, thing, shop).replace("<footer", f"{row}<footer")


def _swapped(html: str, thing: Thing, shop: Shop) -> str:
    """Price and price before a reduction change their places."""
    if thing.regular is None:
        return html
    now, before = _money(shop, thing.price), _money(shop, thing.regular)
    return html.replace(now, "\0").replace(before, now).replace("\0", before)


def _hashed(html: str, thing: Thing, shop: Shop) -> str:
    """Each class gets a name without meaning, as build tools give them."""

    def letters(word: str) -> str:
        return "".join(
            chr(97 + byte % 26) for byte in blake2b(word.encode(), digest_size=5).digest()
        )

    def hashed(match: re.Match[str]) -> str:
        return f'class="{" ".join(letters(word) for word in match[1].split())}"'

    return re.sub(r"""class=["']([^"']*)["']""", hashed, html)


def _half(html: str, thing: Thing, shop: Shop) -> str:
    """Every second page has a new template: other classes, other boxes around the heading."""
    if thing.number % 2:
        return html
    other = _hashed(html, thing, shop)
    return re.sub(r"(<h[12][ >])", r'<article class="intro"><section>\1', other, count=1)


def _title_only(html: str, thing: Thing, shop: Shop) -> str:
    """The heading greets on all pages; the name stands in a box below, and in the title."""
    head, mark, body = html.partition("</head>")
    heading = r"<(h[12])([^>]*>)(?:<span[^>]*>)?" + re.escape(thing.name) + r"(?:</span>)?</h"
    other = rf'<\1\2Welcome to our shop</\1><div class="pname">{thing.name}</div><x-h'
    return head + mark + re.sub(heading, other, body, count=1)


def _unlabelled(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(shop.words.sku + ":", "").replace(shop.words.sku, "").replace(
        'class="sku"', 'class="n"'
    )  # fmt: skip


def _in_cents(html: str, thing: Thing, shop: Shop) -> str:
    """Structured data tells cents."""
    return html.replace(f'"price": "{thing.price}"', f'"price": "{int(thing.price * 100)}"')


def _unstructured(html: str, thing: Thing, shop: Shop) -> str:
    return re.sub(r'<script type="application/ld\+json">.*?</script>', "", html)


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
    (_in_stock, "availability", "woo luma presta+"),
    (_cut_cents, "price", "woo dawn+ luma presta"),
    (_instalment_first, "price", "woo luma ware plain"),
    (_swapped, "price", "woo dawn luma presta"),
    (_hashed, "price", "woo luma ware"),
    (_half, "price", "woo luma presta"),
    (_title_only, "name", "woo luma presta"),
    (_unlabelled, "sku", "woo dawn"),
    (_in_cents, "price", "woo+ dawn+ luma+"),
    (_unstructured, "price", "woo+ luma+ presta+"),
)


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
    before: dict[str, Any] = attrs.Factory(dict)
    """By address: what was stored before its page was read."""
    read_at: dict[str, datetime] = attrs.Factory(dict)

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
        return self._store(row, at), orjson.loads(row.body)

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
        if not found_doubts:
            self.told = {pair: told for pair, told in self.told.items() if pair[0] != key}
        for doubt in found_doubts:
            value, since, _ = self.told.get((key, doubt.field), (None, at, ""))
            since = since if value == doubt.value else at
            self.told[key, doubt.field] = doubt.value, since, doubt.kind
        item: dict[str, Any] = dict(before.item) if before is not None else {}
        if at - self.read_at.get(row.url, _FIRST_DAY - SECOND_LOOK) > timedelta(minutes=15):
            self.before[row.url] = item or None  # as the storage tells it
        self.read_at[row.url] = at
        kept = _with_good_values(row, found_doubts, before) if found_doubts else row
        now = orjson.loads(kept.body)
        changed_fields = {name for name in FIELDS if item and item.get(name) != now.get(name)}
        self.lately.update({(key, name): (item.get(name), at) for name in changed_fields})
        self.table[key] = Stored(now, row.url, at)
        return {doubt.field for doubt in found_doubts}

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

    def look_after(self, goods: dict[str, Thing], at: datetime, change: Change | None) -> None:
        """Tell the book of stored values as the storage does, and read again what it asks for."""
        for site, urls in list(self.book.awaited_pages()):
            self.book.recall(site, {url: self.before.get(url) for url in urls})
        for url, _ in self.book.pages_to_reread(self.shop.name):
            thing = goods[url]
            self.read(thing, at + timedelta(minutes=1), change if thing.number >= _START else None)
        for look in self.book.currencies.looks(self.shop.name):
            self.book.currencies.expect(self.shop.name, look)
            self.read(goods[look.url], at + timedelta(minutes=1), change)


def _wrong(stored: dict[str, Any], thing: Thing, shop: Shop, field: str, stale: bool) -> bool:
    value = stored.get(field)
    if field == "price":
        raised = (thing.price * Decimal("1.1")).quantize(Decimal("0.01"))
        fine = {thing.price, raised} if stale else {thing.price}
        return value is not None and Decimal(str(value)) not in fine
    return value is not None and value != _expected(thing, field, shop, stale)


def changed(shop: Shop, structured: bool, change: Change, field: str, count: int) -> dict[str, Any]:
    """One change in mid-crawl: when it was noticed, rows that are wrong, whether it is mended."""
    crawl, goods = Crawl(shop, structured), things(count, 5)
    for thing in goods:
        crawl.read(thing, _FIRST_DAY, None)
    noticed, late, held, telling = None, 0, 0, 0
    by_url = {tidy(shop.url(thing)): thing for thing in goods}
    for place, thing in enumerate(goods):
        at = _FIRST_DAY + timedelta(days=1)
        doubts, told = crawl.read(thing, at, change if place >= _START else None)
        crawl.look_after(by_url, at, change if place >= _START else None)
        if place < _START:
            held += len(doubts)
            crawl.drifts.clear()
            continue
        said = doubts | set(crawl.drifts)
        if noticed is None and said & _TOGETHER.get(field, {field}):
            noticed = place - _START + 1
        if place >= count - _LAST:
            stale = change is _stale
            telling += _tells(change(shop.page(thing, structured), thing, shop), field, thing, shop)
            value = told.get(field)
            expected = _expected(thing, field, shop, stale)
            late += field not in doubts and value == expected
    wrong = sum(
        _wrong(dict(crawl.table[str(t.number)].item), t, shop, field, change is _stale)
        for t in goods
    )
    return {
        "change": change.__name__.strip("_"),
        "shop": shop.name + "+" * structured,
        "field": field,
        "noticed": noticed is not None and noticed <= _WITHIN,
        "after": noticed,
        "wrong_rows": wrong,
        "mended": late >= 0.95 * _LAST,
        "told": telling >= 0.95 * _LAST,
        "restored": _restored(crawl, goods, by_url, field),
        "held_before": held,
    }


def _restored(crawl: Crawl, goods: list[Thing], by_url: dict[str, Thing], field: str) -> bool:
    """Whether a crawl of the template of before leaves right values alone."""
    at = _FIRST_DAY + timedelta(days=2)
    for thing in goods:
        crawl.read(thing, at, None)
        crawl.look_after(by_url, at, None)
    return not crawl.told and not any(
        crawl.table[str(t.number)].item.get(field) != _expected(t, field, crawl.shop, False)
        for t in goods
    )


def _tells(html: str, field: str, thing: Thing, shop: Shop) -> bool:
    """Whether a page still has the right value of a field somewhere."""
    words = {
        "price": (_money(shop, thing.price), f'"price": "{thing.price}"'),
        "availability": (shop.words.yes if thing.in_stock else shop.words.no,),
        "currency": (_money(shop, thing.price),),
    }.get(field) or (str(getattr(thing, field)),)
    return any(word in html for word in words)


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
        "told": sum(row["told"] for row in rows),
        "mended_of_told": sum(row["mended"] and row["told"] for row in rows),
        "restored": sum(row["restored"] for row in rows),
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
