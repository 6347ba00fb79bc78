"""The rows that writers store, built on the reactor thread: small frozen rows with JSON bytes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs
import orjson

from crawler.items import Product
from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import BadItem

#: Fields that are stored of an item; doubts are stored in their own table.
_FIELDS = tuple(field.name for field in attrs.fields(Product) if field.name != "doubts")
_MAX_LENGTH = 4_000
#: An escaped NUL, but no escaped backslash followed by `u0000`.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_ANY = orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS


@attrs.frozen(kw_only=True, eq=False, repr=False)
class PageValidators(Value):
    """The validators of a page that was read, for a later conditional request."""

    etag: str | None = None
    last_modified: str | None = None
    parser: str
    """Version of the parser that read the page."""


@attrs.frozen(eq=False, repr=False)
class Confirmed(Value):
    """A page that is unchanged since the validators that its request sent."""

    site_id: str
    url: str
    at: datetime
    job_id: str | None
    validators: PageValidators


def swallowed_row_error(table: str) -> BadItem:
    """Return the error for a row that PostgreSQL omitted silently: a trigger returned NULL.

    The writer blames the row, as it does for an error that a trigger raises.
    """
    return BadItem(f"a trigger or a rule of {table} kept it out without an error")


@attrs.frozen(eq=False, repr=False)
class Vanished(Value):
    """A page of known products that no longer exists or shows no product."""

    site_id: str
    url: str
    """The products' own URL, before any redirect."""
    at: datetime
    final: bool = True
    """True: the products are gone; False: the end of a complete crawl decides."""
    may_pass: bool = False
    """Whether the page may show the product again, so that one crawl is no proof."""
    is_blank: bool = False
    """Whether the page has no text, so that no number of crawls is a proof."""


@attrs.frozen(eq=False, repr=False)
class ProductRow(Value):
    """One product, ready to be stored."""

    site_id: str
    external_id: str
    url: str
    content_hash: bytes
    scraped_at: datetime
    job_id: str | None
    body: bytes
    """The whole item as JSON."""
    sku: str | None = None
    gtin: str | None = None
    canonical_url: str | None = None
    validators: PageValidators | None = None
    """Validators of the page; None where its response had none."""
    is_announced: bool = False
    """The page was requested because a sitemap announced it."""
    doubts: Mapping[str, Sequence[str]] = attrs.Factory(dict)
    """By field: the kind of a doubt about it, and the reason."""
    judged: bool = False
    """The page was compared with its site's template."""
    is_of_box: bool = False
    """The page shows further products, each in a box, so that its URL tells none from another."""

    def renamed(self, external_id: str) -> ProductRow:
        """Return the same page under another key."""
        body = fitting(orjson.dumps({**orjson.loads(self.body), "external_id": external_id}))
        return attrs.evolve(self, external_id=external_id, body=body)


@attrs.frozen(eq=False, repr=False)
class RejectedRow(Value):
    """One item that was refused, with the reason."""

    site_id: str | None
    job_id: str | None
    url: str | None
    reason: str
    body: bytes
    """The fields of the item, as JSON."""
    rejected_at: datetime
    code: str | None = None
    """SQLSTATE, where PostgreSQL refused it."""
    constraint_name: str | None = None

    @property
    def id(self) -> str:
        """A hash, equal for the same page refused again for the same reason."""
        text = "\0".join((self.job_id or "", self.site_id or "", self.url or "", self.reason))
        return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def product_row(
    product: Product,
    content_hash: bytes,
    validators: PageValidators | None = None,
    *,
    is_announced: bool = False,
) -> ProductRow:
    """Build the row of a valid product; *validators* and *is_announced* are as in `ProductRow`.

    Raises:
        TypeError: a value has no JSON form.
        ValueError: the product has no site or no external id.
    """
    if not product.site_id or not product.external_id:
        raise ValueError("no site_id or external_id")
    return ProductRow(
        product.site_id,
        product.external_id,
        product.url,
        content_hash,
        product.scraped_at,
        product.job_id,
        body_of(product),
        # A SKU from the URL is not compared, because the same product has other URLs.
        None if product.sources.get("sku") == "url" else product.sku,
        product.gtin,
        product.canonical_url,
        validators,
        is_announced,
        product.doubts,
        bool(product.confidence),
        product.sources.get("external_id") == "box",
    )


def body_of(product: Product) -> bytes:
    """Return the filled fields as JSON; decimals become strings, so none is rounded.

    Raises:
        TypeError, ValueError: a field has no JSON form, or has a NUL, which PostgreSQL refuses.
    """
    filled = {}
    for name in _FIELDS:
        value = getattr(product, name)
        if value or value == 0:
            filled[name] = value
    body = orjson.dumps(filled, default=str)
    if b"u0000" in body and _NUL.search(body):
        raise ValueError("a field holds a NUL")
    return fitting(body)


def fitting(text: bytes) -> bytes:
    """Copy bytes into a buffer of their exact size, for rows that stay in memory.

    orjson returns its own buffer, which has 4 kB or twice the size of the text.
    """
    return bytes(memoryview(text))


def rejected_row(item: object, reason: str, **defaults: str | None) -> RejectedRow:
    """Build the row of a refused item of any type; no item makes this fail.

    *defaults* has `site_id`, `job_id` or `url` for an item that lacks them.
    """
    fields = _fields(item)

    def text(name: str) -> str | None:
        value = fields.get(name) or defaults.get(name)
        return _text(value)[:2000] if value else None

    return RejectedRow(
        text("site_id"),
        text("job_id"),
        text("url"),
        _text(reason)[:500],
        fitting(orjson.dumps({_text(key): _brief(value) for key, value in fields.items()})),
        datetime.now(UTC),
    )


def _fields(item: object) -> dict[Any, Any]:
    if isinstance(item, dict):
        return item
    names = [field.name for field in getattr(type(item), "__attrs_attrs__", ())]
    if names:
        return {name: getattr(item, name, None) for name in names}
    return {"item": item}


def _brief(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    try:
        encoded = orjson.dumps(value, default=str, option=_ANY)
        if len(encoded) <= _MAX_LENGTH and b"\\u0000" not in encoded:
            return orjson.loads(encoded)
    except (TypeError, ValueError, RecursionError):
        pass
    return _text(value)[:_MAX_LENGTH]


def _text(value: Any) -> str:
    """Return text that UTF-8 and PostgreSQL accept."""
    try:
        text = str(value)
    except Exception:  # an object whose __str__ fails must not lose the report
        text = f"<{type(value).__name__}>"
    return text.replace("\0", "").encode("utf-8", "replace").decode()
