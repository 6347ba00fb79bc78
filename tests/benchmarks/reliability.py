"""Whether a confidence is what it says: of values with 0.9, nine of ten have to be right.

Four series: pages of generated shops (tests/benchmarks/shops.py), with structured data and not;
pages of such shops after their template changed (tests/benchmarks/drift.py), each alone, before
the stored products are asked (`changed`), and the rows that a crawl over the same change leaves
(`stored`); and the saved pages of tests/pages, each alone, to which the parser's rules were made.
Values that are doubted count with their low confidence. `coverage` is the share of
values with a confidence of 0.95 at least, `right` how many of these are right.

usage: python -m tests.benchmarks.reliability [--products 60] [--write] [--json]
"""

from __future__ import annotations

import argparse
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from crawler.extract import extract, parse
from crawler.extract.template import Book
from crawler.extract.template.confidence import doubted
from scrapy_seine.urls import tidy
from tests.benchmarks.drift import _FIRST_DAY, Crawl, _expected, _is_wrong
from tests.benchmarks.shops import SHOPS, Shop, things
from tests.benchmarks.template_changes import CHANGES, TODAY, Change
from tests.benchmarks.templates import right, truth
from tests.pages import cases, judged, same

DOCS = Path(__file__).parents[2] / "docs"
#: Lower ends of the groups in which confidences are counted.
GROUPS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
_SURE = 0.95

Value = tuple[float, bool]
"""A confidence, and whether the value is right."""


def of_shops(products: int) -> Iterator[Value]:
    """The values of generated shops' pages in the order in which a crawl reads them."""
    for structured in (True, False):
        for place, shop in enumerate(SHOPS):
            book = Book()
            for thing in things(products, place):
                body = shop.page(thing, structured)
                found = extract(parse(body, shop.url(thing)))
                if found.kind != "product":
                    continue
                made = book.judge(shop.name, found)
                words = shop.product(thing, shop.words) + body * structured
                good = right(found, truth(shop, thing, words))
                yield from ((sure, name in good) for name, sure in made.confidence.items())


def of_changed_shops(products: int) -> Iterator[Value]:
    """The values of pages after their template changed."""
    for change, shop, structured in _changes():
        book = Book()
        for place, thing in enumerate(things(2 * products, 5)):
            body = shop.page(thing, structured)
            is_changed = place >= products
            found = extract(
                parse(change(body, thing, shop) if is_changed else body, shop.url(thing))
            )
            if found.kind != "product":
                continue
            made = book.judge(shop.name, found)
            if is_changed:
                today = TODAY.get(change, lambda one: one)(thing)
                for field, sure in made.confidence.items():
                    told = found.fields[field]
                    yield sure, str(told) == str(_expected(today, field, shop))


def of_stored_rows(products: int) -> Iterator[Value]:
    """The values of a shop's rows after a second crawl in which half of the pages changed."""
    for change, shop, structured in _changes():
        crawl, goods = Crawl(shop, structured), things(2 * products, 5)
        for thing in goods:
            crawl.read(thing, _FIRST_DAY, None)
        by_url = {tidy(shop.url(thing)): (thing, shop) for thing in goods}
        for place, thing in enumerate(goods):
            since = change if place >= products else None
            crawl.read(thing, _FIRST_DAY + timedelta(days=1), since)
            crawl.look_after(by_url, _FIRST_DAY + timedelta(days=1), since)
        for thing in goods[products:]:
            fine = [thing, TODAY.get(change, lambda one: one)(thing)]
            item = crawl.table[str(thing.number)].item
            for field, sure in item.get("confidence", {}).items():
                is_told = (str(thing.number), field) in crawl.told
                is_right = field in item and not _is_wrong(item, fine, shop, field)
                yield doubted(sure) if is_told else sure, is_right


def _changes() -> Iterator[tuple[Change, Shop, bool]]:
    """Each change with each shop that has it, and whether that has structured data."""
    by_name = {shop.name: shop for shop in SHOPS} | {"opencart": _named("cart")}
    for change, _, names in CHANGES:
        for name in names.split():
            yield change, by_name[name.rstrip("+")], name.endswith("+")


def _named(name: str) -> Shop:
    return next(shop for shop in SHOPS if shop.name == name)


def of_saved_pages() -> Iterator[Value]:
    """The values of saved pages of which nothing else of the site is known."""
    for case in cases():
        found = case.found()
        if found.kind != "product":
            continue
        made = Book().judge("saved", found)
        for name, (expected, value) in judged(case, found).items():
            if name in made.confidence:
                yield made.confidence[name], same(name, expected, value)


def grouped(values: Iterable[Value]) -> list[dict[str, Any]]:
    """By group of confidence: how many values, their mean confidence, and the share that is right.

    >>> grouped([(0.96, True), (0.97, False), (0.1, False)])[-1]
    {'from': 0.95, 'values': 2, 'confidence': 0.965, 'right': 0.5}
    """
    groups: list[list[Value]] = [[] for _ in GROUPS]
    for value in values:
        groups[bisect_right(GROUPS, value[0]) - 1].append(value)
    return [
        {
            "from": low,
            "values": len(group),
            "confidence": round(sum(sure for sure, _ in group) / len(group), 3),
            "right": round(sum(good for _, good in group) / len(group), 4),
        }
        for low, group in zip(GROUPS, groups, strict=True)
        if group
    ]


def measure(products: int) -> dict[str, Any]:
    """All series, in groups and as a whole."""
    result: dict[str, Any] = {}
    series = {
        "shops": of_shops(products),
        "changed": of_changed_shops(products),
        "stored": of_stored_rows(products),
        "saved": of_saved_pages(),
    }
    for name, told in series.items():
        values = list(told)
        sure = [good for chance, good in values if chance >= _SURE]
        result[name] = {
            "values": len(values),
            "coverage": round(len(sure) / max(1, len(values)), 4),
            "right": round(sum(sure) / max(1, len(sure)), 4),
            "groups": grouped(values),
        }
    return result


def write(found: dict[str, Any], path: Path) -> None:
    """Draw the plot: on the line, a confidence is what it says."""
    # Only who draws needs matplotlib.
    from tests.benchmarks import plots

    plots.reliability(found, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the groups; with --write, draw docs/reliability.svg; with --json, one line of JSON."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--products", type=int, default=60)
    options.add_argument("--write", action="store_true")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args(arguments)
    found = measure(chosen.products)
    for name, series in found.items():
        print(f"{name}: coverage {series['coverage']:.1%}, of these right {series['right']:.1%}")
        for group in series["groups"]:
            print(
                f"  from {group['from']:4}  {group['values']:6} values  "
                f"{group['confidence']:.3f} said  {group['right']:.3f} right"
            )
    if chosen.write:
        write(found, DOCS / "reliability.svg")
    if chosen.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
