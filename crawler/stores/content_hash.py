"""What counts as a change of a product: the fields that a visitor sees, as one hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from crawler.items import Product

#: Fields that a visitor sees. Only a change of one of these is a change of the product; a new URL,
#: another parser or another time is not.
MEANINGFUL = (
    "name", "sku", "gtin", "mpn", "brand", "price", "regular_price", "currency", "availability",
    "description", "images", "breadcrumbs", "rating", "review_count", "attributes", "variants",
)  # fmt: skip
#: Values of fields that a stored item lacks, because they are empty.
_NOTHING: dict[str, Any] = {"images": [], "breadcrumbs": [], "attributes": {}, "variants": []}


def digest(product: Product) -> bytes:
    """Hash the fields of a cleaned product that a visitor sees: 16 bytes.

    Raises:
        TypeError: a value has no JSON form.
    """
    values = [getattr(product, name) for name in MEANINGFUL]
    # Keys are sorted, because the order of a page's attributes is no change.
    text = orjson.dumps(values, default=str, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(text, digest_size=16).digest()


def digest_of(item: Mapping[str, Any]) -> bytes:
    """Hash the fields of a stored item that count as a change."""
    values = [item.get(name, _NOTHING.get(name)) for name in MEANINGFUL]
    text = orjson.dumps(values, default=str, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(text, digest_size=16).digest()
