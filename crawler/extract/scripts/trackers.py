"""A product in the data that a page sends to trackers: pixels, tag managers, data layers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from crawler.extract import lazy_patterns
from crawler.extract.structured.nodes import Node

#: A call with an event's name and an object: `fbq('track', 'ViewContent', {`. It begins with a sign,
#: because a pattern that begins with letters is tried at each letter of a script.
_CALL = lazy_patterns.pattern(r"\((?<=\w\w\()\s*+((?:[\"'][\w .-]{1,40}[\"']\s*+,\s*+){1,3})(?=\{)")
_ABOUT_PRODUCT = lazy_patterns.pattern(r"view|product|item|content", re.I)
#: Text of a tracker's script that does not contain the word "price".
SIGN = "content_name"
_MAX_CALLS = 8
_PREFIX = "product_"
#: Fields of Meta's pixel, by the names that a shop's state uses for them.
_PIXEL = {"content_name": "name", "value": "price", "currency": "currency"}


def call_objects(text: str) -> Iterator[int]:
    """Yield the place of the object in each call that reports a viewed product."""
    calls_left = _MAX_CALLS
    for match in _CALL.finditer(text):
        if _ABOUT_PRODUCT.search(match[1]):
            yield match.end()
            calls_left -= 1
        if not calls_left:
            return


def as_product(node: Node) -> Node:
    """Return a tracker's mapping with the field names that a shop's own state uses.

    Other mappings are returned unchanged.

    >>> as_product({"content_name": "Lamp", "value": 5, "content_ids": ["7"]})
    {'name': 'Lamp', 'price': 5, 'id': '7'}
    >>> as_product({"product_name": ["Lamp"], "product_price": ["5.00"], "page": "x"})
    {'name': 'Lamp', 'price': '5.00'}
    >>> as_product({"productInfo": {"productName": "Lamp"}, "price": {"basePrice": 5}})["productName"]
    'Lamp'
    """
    if "content_name" in node:
        fields = {
            name: node[pixel_name] for pixel_name, name in _PIXEL.items() if pixel_name in node
        }
        product_id = _only_item(node.get("content_ids"))
        return {**fields, "id": product_id} if product_id is not None else fields
    if "product_name" in node and "product_price" in node:
        product = {
            key.removeprefix(_PREFIX): _only_item(v)
            for key, v in node.items()
            if key.startswith(_PREFIX)
        }
        return {key: value for key, value in product.items() if value is not None}
    if isinstance(info := node.get("productInfo"), dict):
        return {**info, **node}
    return node


def _only_item(value: Any) -> Any:
    """Return the only item of a list, None of a longer list, and another value as it is."""
    if isinstance(value, list):
        return value[0] if len(value) == 1 else None
    return value
