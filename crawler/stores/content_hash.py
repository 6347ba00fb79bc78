"""What counts as a change of a product: the fields that a visitor sees, as one hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from crawler.items import Product

#: What a visitor sees. A change of one of these is a change of the product; a new address, another
#: parser or another time of day is not.
MEANINGFUL = (
    "name", "sku", "gtin", "mpn", "brand", "price", "regular_price", "currency", "availability",
    "description", "images", "breadcrumbs", "rating", "review_count", "attributes", "variants",
)  # fmt: skip
#: What a product has of a field that its stored item lacks.
_NOTHING: dict[str, Any] = {"images": [], "breadcrumbs": [], "attributes": {}, "variants": []}


def digest(product: Product) -> bytes:
    """Hash what a visitor sees of a cleaned product: 16 bytes.

    Raises:
        TypeError: a value has no JSON form.
    """
    seen = [getattr(product, name) for name in MEANINGFUL]
    # Keys are sorted: the order of a page's attributes says nothing.
    text = orjson.dumps(seen, default=str, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(text, digest_size=16).digest()


def digest_of(item: Mapping[str, Any]) -> bytes:
    """Hash the fields of a stored item that count as a change."""
    seen = [item.get(name, _NOTHING.get(name)) for name in MEANINGFUL]
    text = orjson.dumps(seen, default=str, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(text, digest_size=16).digest()
