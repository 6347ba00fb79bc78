"""Converts a product's fields to their types in place; an unreadable value becomes None.

One pass of small steps, each with an early return for valid values, because it runs once a page on
the reactor thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin

import attrs

from crawler.cleaning.missing_key import identify
from crawler.cleaning.money import currency, money
from crawler.cleaning.text import identifier, line, plain, prose
from crawler.extract.gtin import checked_gtin
from crawler.extract.money.counts import count
from crawler.extract.stock.availability import availability
from crawler.items import Product
from scrapy_seine.urls import split_login

_LINES = ("name", "brand")
_IDENTIFIERS = ("sku", "mpn")
_MANY = 200
#: Letters of a URL, at most.
URL_LIMIT = 2048
_SKEW = timedelta(minutes=5)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?", re.ASCII)
_SPACE = re.compile(r"[\x00-\x20]")
_HIGHEST_RATING = 100
_availability = lru_cache(maxsize=1024)(availability)
_FIELDS = frozenset(field.name for field in attrs.fields(Product))


def clean(product: Product, now: datetime) -> None:
    """Convert each field to its type; an unreadable value becomes None."""
    product.url = str(product.url or "").strip()
    for name in _LINES:
        value = getattr(product, name)
        if value is not None:
            setattr(product, name, line(value))
    for name in _IDENTIFIERS:
        value = getattr(product, name)
        if value is not None:
            setattr(product, name, identifier(value))
    if product.description is not None:
        product.description = prose(product.description)
    _clean_money(product)
    for name, read in _READERS:
        value = getattr(product, name)
        if value is not None:
            setattr(product, name, read(value))
    _clean_collections(product)
    if product.canonical_url is not None:
        product.canonical_url = absolute(product.canonical_url, product.url)
    product.scraped_at = _time(product.scraped_at, now)
    identify(product)


def _is_confidence(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str) and isinstance(share, int | float) and 0 <= share <= 1
        for name, share in value.items()
    )


def _are_doubts(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str)
        and isinstance(doubt, list | tuple)
        and [type(text) for text in doubt] == [str, str]
        for name, doubt in value.items()
    )


_FORMS: Mapping[str, Callable[[Any], bool]] = {
    "confidence": _is_confidence,
    "doubts": _are_doubts,
}


def from_mapping(fields: Mapping[str, Any]) -> Product:
    """Make a product from a foreign item: fields of Product unchanged, the others as attributes.

    Its own `confidence` or `doubts` of another form than a product's is an attribute as well.
    """
    product_fields = {
        name: value
        for name, value in fields.items()
        if name in _FIELDS and (name not in _FORMS or _FORMS[name](value))
    }
    foreign = {name: value for name, value in fields.items() if name not in product_fields}
    for name in ("images", "breadcrumbs", "variants", "attributes", "sources", "scraped_at"):
        if product_fields.get(name, 0) is None:
            del product_fields[name]
    product = Product(**product_fields)
    if foreign and isinstance(product.attributes, dict):
        product.attributes = {**foreign, **product.attributes}
    return product


def _clean_money(product: Product) -> None:
    code, sign = currency(product.currency) if product.currency else None, None
    if product.price is not None:
        product.price, sign = money(product.price, code)
    if product.regular_price is not None:
        product.regular_price, regular_sign = money(product.regular_price, code)
        sign = sign or regular_sign
    product.currency = code or sign


def _clean_collections(product: Product) -> None:
    base = product.url
    if product.images:
        urls = [absolute(image, base) for image in _list(product.images)]
        product.images = [image for image in dict.fromkeys(urls) if image]
    if product.breadcrumbs:
        product.breadcrumbs = [
            cleaned for raw in _list(product.breadcrumbs) if (cleaned := line(raw))
        ]
    if product.attributes:
        product.attributes = _attributes(product.attributes)
    if product.variants:
        product.variants = [
            cleaned for raw in _list(product.variants) if isinstance(cleaned := plain(raw), dict)
        ]
    sources: Any = product.sources
    if type(sources) is not dict:
        product.sources = {}


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value[:_MANY]
    return list(value)[:_MANY] if isinstance(value, tuple | set | frozenset) else [value]


def _attributes(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    pairs = ((line(key), prose(inner, 4_000)) for key, inner in list(value.items())[:_MANY])
    return {key: inner for key, inner in pairs if key and inner}


def absolute(value: Any, base: str) -> str | None:
    """Make a URL absolute and remove its login; None where it is not http or https.

    >>> absolute("//cdn.example/a b.jpg", "https://shop.example/p/1"), absolute("data:x", "")
    ('https://cdn.example/a%20b.jpg', None)
    >>> absolute("http://me:secret@shop.example/p/1", "")
    'http://shop.example/p/1'
    """
    text = line(value, URL_LIMIT + 1) if isinstance(value, str) else None
    if not text or len(text) > URL_LIMIT:
        return None
    if not text.startswith(("http://", "https://")):
        try:
            text = urljoin(base, text)
        except ValueError:
            return None
        if not text.startswith(("http://", "https://")):
            return None
    if "@" in text:
        text, _ = split_login(text)
    return _SPACE.sub("%20", text) if " " in text else text


def rating(value: Any) -> float | None:
    """Parse `4.5`, `4,5 / 5`, `4.5 stars`; None without a number from 0 to 100."""
    text = str(value)
    match = _NUMBER.search(text)
    stars = float(match[0].replace(",", ".")[:20]) if match else -1.0
    negative = text.lstrip().startswith("-")
    return stars if 0 <= stars <= _HIGHEST_RATING and not negative else None


_READERS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("availability", lambda value: _availability(str(value)[:200])),
    ("gtin", lambda value: checked_gtin(str(value))),
    ("rating", rating),
    ("review_count", count),
)


def _time(value: Any, now: datetime) -> datetime:
    """A time with its zone, not in the future, because such a row could never be overwritten."""
    if not isinstance(value, datetime):
        return now
    if value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    return now if value > now + _SKEW else value
