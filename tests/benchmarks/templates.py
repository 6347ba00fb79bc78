"""The parser on generated shops, with structured data and without, alone and with their templates.

Seventeen templates in eight languages and six currencies (tests/benchmarks/shops.py). A value that
is wrong, missing or doubtful counts as missed. `guard` is the number of values that are right
without the template and wrong with it: it has to be 0.

usage: python -m tests.benchmarks.templates [--products 60] [--json]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from crawler.extract import Found, extract, parse
from crawler.extract.template import Book
from tests.benchmarks.shops import SHOPS, Shop, Thing, things

FIELDS = ("name", "price", "regular_price", "currency", "availability", "sku")


def truth(shop: Shop, thing: Thing, body: str) -> dict[str, Any]:
    """What a page says: a price that it does not show is none."""
    priced = shop.words.money(thing.price) in body or str(thing.price).split(".")[0] in body
    return {
        "name": thing.name,
        "price": thing.price if priced else None,
        "regular_price": thing.regular if priced else None,
        "currency": shop.words.currency if priced else None,
        "availability": "InStock" if thing.in_stock else "OutOfStock",
        "sku": thing.sku,
    }


def right(found: Found, expected: dict[str, Any], without: Sequence[str] = ()) -> set[str]:
    """The fields that were read as they are."""
    told = found.fields
    return {
        name
        for name, value in expected.items()
        if name not in without and _same(told.get(name), value)
    }


def _same(value: Any, expected: Any) -> bool:
    if isinstance(expected, Decimal) and value is not None:
        return Decimal(str(value)) == expected
    return bool(value == expected)


def measure(products: int) -> tuple[dict[str, Any], list[str]]:
    """Shares of what is right by field, of both kinds of pages, and a line for each fault."""
    result: dict[str, Any] = {"shops": len(SHOPS)}
    faults: list[str] = []
    guard = sure = sure_right = confident = 0
    for kind, structured in (("structured", True), ("stripped", False)):
        alone, taught, pages = Counter[str](), Counter[str](), 0
        for place, shop in enumerate(SHOPS):
            book = Book()
            for thing in things(products, place):
                body = shop.page(thing, structured)
                expected = truth(shop, thing, shop.product(thing, shop.words) + body * structured)
                pages += 1
                found = extract(parse(body, shop.url(thing)))
                first = right(found, expected)
                alone.update([*first, *(["product"] if found.kind == "product" else [])])
                if found.kind != "product":
                    faults.append(f"{kind} {shop.name} {thing.number}: {found.verdict.reasons}")
                    continue
                judged = book.judge(shop.name, found)
                second = right(found, expected, without=list(judged.doubts))
                taught.update([*second, "product"])
                guard += len([name for name in first - second if name not in judged.doubts])
                for name in expected.keys() - second:
                    doubt = judged.doubts.get(name)
                    said = doubt.reason if doubt else repr(found.fields.get(name))
                    faults.append(f"{kind} {shop.name} {thing.number}: {name} {said}")
                for name, chance in judged.confidence.items():
                    sure += 1
                    confident += chance >= 0.95
                    sure_right += chance >= 0.95 and name in second
        for name in ("product", *FIELDS):
            result[f"{kind}.{name}"] = round(taught[name] / pages, 4)
            result[f"{kind}.{name}.alone"] = round(alone[name] / pages, 4)
    listings = [
        extract(parse(s.listing(things(24, 1)), f"https://{s.name}.example/c/1")) for s in SHOPS
    ]
    result["listings_taken_for_products"] = sum(found.kind == "product" for found in listings)
    result["guard"] = guard
    result["calibration.share_confident"] = round(confident / max(1, sure), 4)
    result["calibration.confident_right"] = round(sure_right / max(1, confident), 4)
    return result, faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the faults and the shares; with --json, one object in the last line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--products", type=int, default=60)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args(arguments)
    result, faults = measure(chosen.products)
    print(*faults[:200], sep="\n")
    for name, value in result.items():
        print(f"{name:36} {value}")
    if chosen.json:
        print(json.dumps(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
