"""Generated pages: parts of real ones put together wrongly, and of any size."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.hostile.kinds import damaged, junk
from tests.benchmarks.hostile.pages import BUY, HEAD, ld

_PAGES = Path(__file__).parents[2] / "pages"
_TYPES = (
    "Product",
    "Offer",
    "ProductGroup",
    "ItemList",
    "BreadcrumbList",
    "WebPage",
    ["Product", 7],
)
_KEYS = (
    "name",
    "sku",
    "offers",
    "price",
    "priceCurrency",
    "brand",
    "image",
    "hasVariant",
    "aggregateRating",
)
_TAGS = (
    b"div",
    b"p",
    b"a",
    b"script",
    b"table",
    b"tr",
    b"td",
    b"li",
    b"ul",
    b"b",
    b"h1",
    b"svg",
    b"select",
    b"template",
)
_NAMES = (
    b"class",
    b"id",
    b"href",
    b"itemprop",
    b"itemscope",
    b"itemref",
    b"itemtype",
    b"content",
    b"style",
    b"data-price",
)
_VALUES = (
    b"price",
    b"a",
    b"http://schema.org/Product",
    b"display:none",
    b"5",
    b"/p/1",
    b"\xff",
    b"'\"<",
    b"sku name",
    b"old sale",
)
_TEXTS = (
    b"$5",
    b"EUR 9",
    "9,99 €".encode(),
    b"&lt;",
    b"\0",
    b"{",
    b"1-9 of 99",
    b"in stock",
    b" ",
    b"\xed\xa0\x80",
    b"Lamp",
)


def relatives(dice: random.Random) -> Iterator[bytes]:
    """Make pages without end."""
    real = sorted(_PAGES.glob("*/*.html"))
    while True:
        way = dice.randrange(4)
        if way == 0 and real:
            yield damaged(dice, dice.choice(real).read_bytes()[:300_000])
        elif way == 1:
            yield HEAD + _soup(dice) + BUY
        elif way == 2:
            nodes = [_node(dice, 3) for _ in range(dice.choice((1, 3, 30)))]
            yield HEAD + ld({"@graph": nodes}) + BUY
        else:
            unit = _soup(dice, dice.randrange(1, 5))
            yield HEAD + BUY + unit * dice.choice((10, 1000, 10_000))


def _soup(dice: random.Random, parts: int = 0) -> bytes:
    made = []
    for _ in range(parts or dice.choice((5, 50, 500))):
        way = dice.randrange(4)
        tag = dice.choice(_TAGS)
        if way == 0:
            made.append(b"</" + tag + b">")
        elif way == 1:
            made.append(dice.choice(_TEXTS) * dice.choice((1, 1, 1, 60)))
        else:
            pairs = (
                dice.choice(_NAMES) + b'="' + dice.choice(_VALUES) + b'" '
                for _ in range(dice.randrange(4))
            )
            made.append(b"<" + tag + b" " + b"".join(pairs) + b">")
    return b"".join(made)


def _node(dice: random.Random, depth: int) -> object:
    node: dict[str, object] = {"@type": dice.choice(_TYPES), "@id": f"#{dice.randrange(9)}"}
    for key in dice.sample(_KEYS, dice.randrange(1, 6)):
        way = dice.randrange(4)
        if way == 0 and depth:
            node[key] = [_node(dice, depth - 1) for _ in range(dice.randrange(4))]
        elif way == 1:
            node[key] = {"@id": f"#{dice.randrange(9)}"}
        elif way == 2:
            node[key] = dice.choice(("Lamp", "5.00", "EUR", 5))
        else:
            node[key] = _plain(junk(dice))
    return node


def _plain(value: object) -> object:
    """As JSON would have it back; what is too deep for it stays out."""
    try:
        return json.loads(json.dumps(value))
    except (RecursionError, ValueError):
        return None
