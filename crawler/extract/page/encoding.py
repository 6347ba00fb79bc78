"""Which encoding a page's bytes are in; what is valid UTF-8 is that, whatever the page says."""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.extract import lazy_patterns
from scrapy_seine.charsets import encoding_of

_META_CHARSET = lazy_patterns.pattern(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:-]+)", re.I
)
_HEADER_CHARSET = lazy_patterns.pattern(r"charset\s*=\s*[\"']?\s*([\w:.-]+)", re.I)
_STATEFUL = ("utf-16", "iso2022")
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
#: Bytes of a page's begin in which it says what it is.
SNIFFED = 4096
_FOREIGN = lazy_patterns.pattern(r"[^\x00-\x7f]")


def utf8(content: bytes | str, content_type: str) -> bytes:
    """The page as UTF-8 without NUL: by its mark, its header, its meta element, else by its bytes."""
    if isinstance(content, str):
        raw = content.encode("utf-8", "replace")
    else:
        raw = _recoded(content, content_type)
    return raw.replace(b"\0", b"") if b"\0" in raw else raw


def _recoded(body: bytes, content_type: str) -> bytes:
    """The bytes as UTF-8: what is valid UTF-8 is that, whatever the page says."""
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            text = body[len(mark) :].decode(encoding, "replace")
            return text.encode("utf-8", "replace")
    declared = _declared(body, content_type)
    if declared and declared.lower().startswith(_STATEFUL):
        return _decoded(body, declared).encode("utf-8", "replace")
    if body.isascii():
        return body
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return _legacy(body, declared).encode("utf-8", "replace")
    return body


def _declared(body: bytes, content_type: str) -> str | None:
    known = _told(content_type)
    if known:
        return known
    meta = _META_CHARSET.search(body, 0, SNIFFED)
    known = encoding_of(meta[1].decode("ascii", "replace")) if meta else None
    # The page was readable enough to find its meta element, so it is no UTF-16.
    return None if known and known.startswith("utf-16") else known


@lru_cache(maxsize=256)
def _told(content_type: str) -> str | None:
    header = _HEADER_CHARSET.search(content_type)
    return encoding_of(header[1]) if header else None


def _legacy(body: bytes, declared: str | None) -> str:
    if declared not in {None, "utf-8"}:
        return _decoded(body, str(declared))
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    # A page in UTF-8 with a few bad bytes, or one in another encoding with none that are right?
    return (
        text if broken < len(_FOREIGN.findall(text)) - broken else body.decode("cp1252", "replace")
    )


def _decoded(body: bytes, encoding: str) -> str:
    try:
        return body.decode(encoding, "replace")
    except (LookupError, UnicodeError):  # some of Python's codecs raise although told to replace
        return body.decode("cp1252", "replace")
