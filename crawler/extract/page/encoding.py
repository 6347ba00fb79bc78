"""The encoding of a page's bytes: valid UTF-8 is UTF-8, whatever the page declares."""

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
#: Encodings in which a yen sign has the backslash's byte, and such a sign before an amount.
_JAPANESE = ("cp932", "shift", "euc_j", "euc-j", "iso2022_jp", "iso-2022-jp")
_YEN = lazy_patterns.pattern(r"\\(?=\d[\d,])")
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_ALL_BOMS = tuple(bom for bom, _ in _BOMS)
#: A soft hyphen, its second byte, which few pages have, and its names in markup.
_SOFT_HYPHEN, _SECOND_BYTE = "\u00ad".encode(), b"\xad"
_NAMED_HYPHEN = lazy_patterns.pattern(rb"&(?:shy|#173);")
#: First bytes of a page that are searched for its encoding and its type.
SNIFFED_BYTES = 4096


def utf8(content: bytes | str, content_type: str) -> bytes:
    """Return the page as UTF-8 without NUL and soft hyphens, decoded by its BOM, header, meta element or bytes."""
    if isinstance(content, str):
        raw = content.encode("utf-8", "replace")
    else:
        raw = _recoded(content, content_type)
    return _without_hyphens(raw.replace(b"\0", b"") if b"\0" in raw else raw)


def _without_hyphens(raw: bytes) -> bytes:
    """Return a page without soft hyphens, because no word is found in which one stands.

    Searching one byte, and a pattern that begins with a letter, takes a fifth of searching three texts.

    >>> _without_hyphens("Aus\u00adver&shy;kauft".encode())
    b'Ausverkauft'
    """
    if _SECOND_BYTE in raw:
        raw = raw.replace(_SOFT_HYPHEN, b"")
    return _NAMED_HYPHEN.sub(b"", raw) if _NAMED_HYPHEN.search(raw) else raw


def _recoded(body: bytes, content_type: str) -> bytes:
    """Recode the bytes to UTF-8; valid UTF-8 stays as it is, whatever the page declares."""
    if body.startswith(_ALL_BOMS):
        bom, encoding = next(pair for pair in _BOMS if body.startswith(pair[0]))
        return body[len(bom) :].decode(encoding, "replace").encode("utf-8", "replace")
    declared = _declared(body, content_type)
    # A page in UTF-16 has NULs; if it has none, a middleware recoded it, and its header is stale.
    if declared and declared.startswith(_STATEFUL if b"\0" in body else _STATEFUL[1:]):
        return _decoded(body, declared).encode("utf-8", "replace")
    if body.isascii():
        is_japanese = b"\\" in body and declared and declared.startswith(_JAPANESE)
        return _decoded(body, str(declared)).encode() if is_japanese else body
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return _legacy(body, declared).encode("utf-8", "replace")
    return body


def _declared(body: bytes, content_type: str) -> str | None:
    encoding = _header_encoding(content_type)
    if encoding:
        return encoding
    meta = _META_CHARSET.search(body, 0, SNIFFED_BYTES)
    encoding = encoding_of(meta[1].decode("ascii", "replace")) if meta else None
    # The meta element was found as ASCII bytes, so the page is not UTF-16.
    return None if encoding and encoding.startswith("utf-16") else encoding


@lru_cache(maxsize=256)
def _header_encoding(content_type: str) -> str | None:
    header = _HEADER_CHARSET.search(content_type)
    return encoding_of(header[1]) if header else None


def _legacy(body: bytes, declared: str | None) -> str:
    if declared not in {None, "utf-8"}:
        return _decoded(body, str(declared))
    text = body.decode("utf-8", "replace")
    replaced_count = text.count("\ufffd")
    # A list of the characters would take a hundred bytes for each.
    valid_count = len(text) - len(text.encode("ascii", "ignore")) - replaced_count
    # Fewer invalid than valid characters: UTF-8 with a few bad bytes; otherwise another encoding.
    return text if replaced_count < valid_count else body.decode("cp1252", "replace")


def _decoded(body: bytes, encoding: str) -> str:
    try:
        text = body.decode(encoding, "replace")
    except (LookupError, UnicodeError):  # some of Python's codecs raise despite "replace"
        return body.decode("cp1252", "replace")
    return _YEN.sub("¥", text) if encoding.startswith(_JAPANESE) and "\\" in text else text
