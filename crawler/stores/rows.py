"""What writers store, made ready on the reactor thread: small frozen rows around JSON bytes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs
import orjson

from crawler.items import Product
from scrapy_seine.errors import BadItem
from scrapy_seine.records import Value

#: What is stored of an item: doubts are stored on their own.
_FIELDS = tuple(field.name for field in attrs.fields(Product) if field.name != "doubts")
_LIMIT = 4_000
#: An escaped NUL, and no escaped backslash with four figures behind it.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_ANY = orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Seen(Value):
    """The state of a page that was read: what a later request may name as known."""

    etag: str | None = None
    last_modified: str | None = None
    parser: str
    """Version of the parser that read it."""


@attrs.frozen(eq=False, repr=False)
class Confirmed(Value):
    """A page that is unchanged since the state that its request named."""

    site_id: str
    url: str
    at: datetime
    job_id: str | None
    seen: Seen


def swallowed(table: str) -> BadItem:
    """Make the error of a row that PostgreSQL left out without one: a trigger returned NULL, say.

    The writer takes it for the row's fault, as it takes an error that a trigger raises.
    """
    return BadItem(f"a trigger or a rule of {table} kept it out without an error")


@attrs.frozen(eq=False, repr=False)
class Vanished(Value):
    """The page of known products that is not there any more, or shows no product."""

    site_id: str
    url: str
    """The products' own address, whatever it led to."""
    at: datetime
    final: bool = True
    """The products are gone by that; otherwise the end of a complete crawl decides."""


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
    seen: Seen | None = None
    """How to ask for the page again; None where its answer named no validator."""
    told: bool = False
    """The page was looked at because something said that it changed."""
    doubts: Mapping[str, Sequence[str]] = attrs.Factory(dict)
    """By field: the kind of a doubt about it, and the reason."""
    judged: bool = False
    """The page was held against its site's template."""

    def renamed(self, external_id: str) -> ProductRow:
        """The same page as that of another key."""
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
    """What there was of it, as JSON."""
    rejected_at: datetime
    code: str | None = None
    """SQLSTATE, where PostgreSQL refused it."""
    constraint_name: str | None = None

    @property
    def id(self) -> str:
        """The same page refused again for the same reason is the same row."""
        text = "\0".join((self.job_id or "", self.site_id or "", self.url or "", self.reason))
        return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def product_row(
    product: Product, content_hash: bytes, seen: Seen | None = None, *, told: bool = False
) -> ProductRow:
    """Make the row of a valid product; *seen* and *told* are as in `ProductRow`.

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
        # A number out of an address says nothing against another address of the same product.
        None if product.sources.get("sku") == "url" else product.sku,
        product.gtin,
        product.canonical_url,
        seen,
        told,
        product.doubts,
        bool(product.confidence),
    )


def body_of(product: Product) -> bytes:
    """Write the fields that are filled as JSON; decimals become strings, so none is rounded.

    Raises:
        TypeError, ValueError: a field cannot be written, or holds a NUL, which PostgreSQL refuses.
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
    """The same bytes in no more memory than they need, for rows that wait or are kept.

    orjson hands its buffer out, which is of 4 kB or twice the text.
    """
    return bytes(memoryview(text))


def rejected_row(item: object, reason: str, **known: str | None) -> RejectedRow:
    """Make the row of a refused item of any kind; nothing in it can make this fail.

    *known* gives `site_id`, `job_id` or `url` where the item does not.
    """
    fields = _fields(item)

    def text(name: str) -> str | None:
        value = fields.get(name) or known.get(name)
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
        plain = orjson.dumps(value, default=str, option=_ANY)
        if len(plain) <= _LIMIT and b"\\u0000" not in plain:
            return orjson.loads(plain)
    except (TypeError, ValueError, RecursionError):
        pass
    return _text(value)[:_LIMIT]


def _text(value: Any) -> str:
    """Make text that UTF-8 and PostgreSQL accept."""
    try:
        made = str(value)
    except Exception:  # a foreign object's own error is no reason to lose the report
        made = f"<{type(value).__name__}>"
    return made.replace("\0", "").encode("utf-8", "replace").decode()
