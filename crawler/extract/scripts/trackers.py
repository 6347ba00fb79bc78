"""A product in what a page hands to those who count visits: pixels, tag managers, data layers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from crawler.extract import lazy_patterns
from crawler.extract.structured.schema import Node

#: A call with an event's name and then what it is about: `fbq('track', 'ViewContent', {`.
_CALLED = lazy_patterns.pattern(
    r"\b\w{2,20}\(\s*+((?:[\"'][\w .-]{1,40}[\"']\s*+,\s*+){1,3})(?=\{)"
)
_VIEWED = lazy_patterns.pattern(r"view|product|item|content", re.I)
#: Signs that a script counts visits, where it names no price.
SIGN = "content_name"
_MOST_CALLS = 8
_BEFORE = "product_"
#: What Meta's pixel calls a product's fields.
_PIXEL = {"content_name": "name", "value": "price", "currency": "currency"}


def calls(text: str) -> Iterator[int]:
    """Where the object begins that each call of a script says of a product seen."""
    left = _MOST_CALLS
    for found in _CALLED.finditer(text):
        if _VIEWED.search(found[1]):
            yield found.end()
            left -= 1
        if not left:
            return


def as_product(node: Node) -> Node:
    """Give the fields of a tracker's mapping the names that a shop's own state uses.

    Other mappings are returned unchanged.

    >>> as_product({"content_name": "Lamp", "value": 5, "content_ids": ["7"]})
    {'name': 'Lamp', 'price': 5, 'id': '7'}
    >>> as_product({"product_name": ["Lamp"], "product_price": ["5.00"], "page": "x"})
    {'name': 'Lamp', 'price': '5.00'}
    >>> as_product({"productInfo": {"productName": "Lamp"}, "price": {"basePrice": 5}})["productName"]
    'Lamp'
    """
    if "content_name" in node:
        made = {ours: node[theirs] for theirs, ours in _PIXEL.items() if theirs in node}
        number = _only(node.get("content_ids"))
        return {**made, "id": number} if number is not None else made
    if "product_name" in node and "product_price" in node:
        own = {
            key.removeprefix(_BEFORE): _only(v)
            for key, v in node.items()
            if key.startswith(_BEFORE)
        }
        return {key: value for key, value in own.items() if value is not None}
    if isinstance(info := node.get("productInfo"), dict):
        return {**info, **node}
    return node


def _only(value: Any) -> Any:
    """The one thing of a list, nothing of several, and what is no list as it is."""
    if isinstance(value, list):
        return value[0] if len(value) == 1 else None
    return value
