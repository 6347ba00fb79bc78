"""Sitemaps: XML and its indexes, plain text, RSS and Atom, gzipped or not, well-formed or not."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from html import unescape
from itertools import islice

import attrs

from crawler.extract import lazy_patterns
from scrapy_seine.records import Value
from scrapy_seine.urls import MAX_LENGTH, absolute

#: The protocol's own limits, with room for those who bend them.
MOST_URLS = 50_000
MOST_BYTES = 64_000_000
#: Sitemaps that one robots.txt may name.
MOST_NAMED = 500
#: Longer addresses are refused, in each spelling.
_LONGEST_ADDRESS = 6 * MAX_LENGTH

#: Bytes of a sitemap that is a list of lines, and tags of one that is XML: each address of a file
#: of the allowed size may have forty, with its pictures and translations.
MOST_TEXT = 16_000_000
MOST_TAGS = 2_000_000
_LONGEST_DATE = 64
_GZIP, _MOST_LAYERS, _MOST_PIECES = b"\x1f\x8b", 3, 16
_ENTRIES = frozenset({b"url", b"sitemap", b"item", b"entry"})
_CHANGES = frozenset({b"lastmod", b"pubdate", b"updated"})
#: A tag that matters, and the text behind it. No part of it can be read in two ways, and each part
#: ends at the next `<`, so that each byte is looked at once. No XML parser: those that mend faults
#: cut addresses at a bare `&`, which is the commonest fault.
_TAG = lazy_patterns.pattern(
    rb"<(/?)(?:[\w.-]{1,64}+:)?(url|sitemap|item|entry|loc|link|guid|lastmod|pubDate|updated)"
    rb"(?=[\s/>])([^<>]*+)>\s*+(?:<!\[CDATA\[\s*+)?([^<\]]*+)",
    re.I,
)
_HREF = lazy_patterns.pattern(rb"\shref=[\"']([^\"']++)[\"']", re.I)
_LINE = lazy_patterns.pattern(rb"^[ \t]*+(https?://[^\n]*+)", re.M)


@attrs.frozen(eq=False, repr=False)
class Sitemap(Value):
    """What one file lists."""

    pages: list[tuple[str, str]] = attrs.Factory(list)
    """Address and last modification (as written, may be empty) of each page."""
    sitemaps: list[str] = attrs.Factory(list)
    """Further sitemaps, of an index."""


def read_sitemap(body: bytes, url: str) -> Sitemap:
    """Read a sitemap of any kind; what cannot be read gives an empty one, never an error.

    >>> read_sitemap(b"<urlset><url><loc>http://a.example/x</loc></url></urlset>", "")
    Sitemap(pages=[('http://a.example/x', '')], sitemaps=[])
    """
    raw = _plain(body)
    if b"<" not in raw[:1000]:
        return Sitemap(pages=[(line, "") for line in _lines(raw)])
    pages: dict[str, str] = {}
    sitemaps: dict[str, None] = {}
    for name, location, changed in _entries(raw):
        address = _address(location, url)
        if address is None:
            continue
        if name == b"sitemap":
            sitemaps[address] = None
        else:
            pages[address] = changed.decode("utf-8", "replace")[:_LONGEST_DATE]
        if len(pages) >= MOST_URLS or len(sitemaps) >= MOST_URLS:
            break
    return Sitemap(pages=list(pages.items()), sitemaps=[s for s in sitemaps if s != url])


def _entries(raw: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Name, first address and first date of each entry that has an end, in one pass."""
    entry = location = changed = b""
    for match in islice(_TAG.finditer(raw), MOST_TAGS):
        closing, name, marks, text = match.groups()
        name = name.lower()
        if name in _ENTRIES:
            if entry not in {b"", name}:
                continue  # a feed's picture has a `url`, which is no entry
            if location:
                yield entry, location, changed
            entry, location, changed = b"" if closing else name, b"", b""
        elif entry and not closing:
            if name in _CHANGES:
                changed = changed or text.strip()
            elif not location:
                location = _location(text, marks)


def _location(text: bytes, marks: bytes) -> bytes:
    """The address in a tag's text, else in its `href`."""
    if text[:1] == b"/" or text[:5].lower() in {b"http:", b"https"}:
        return text.strip()
    href = _HREF.search(marks)
    return href[1] if href else b""


def named_in_robots(text: str, url: str) -> list[str]:
    """The sitemaps that a robots.txt names.

    >>> named_in_robots("User-agent: *\\nSitemap: /map.xml", "http://a.example/robots.txt")
    ['http://a.example/map.xml']
    """
    found: dict[str, None] = {}
    for line in text.splitlines():
        field, _, value = line.partition(":")
        if field.strip().lower() == "sitemap" and (words := value.split(None, 1)):
            address = _address(words[0].encode("utf-8", "replace"), url)
            if address is not None:
                found[address] = None
        if len(found) >= MOST_NAMED:
            break
    return list(found)


def _address(raw: bytes, url: str) -> str | None:
    if len(raw) > _LONGEST_ADDRESS:
        return None
    text = unescape(raw.decode("utf-8", "replace")).strip()
    try:
        address = absolute(url, text) if text else ""
    except ValueError:
        return None
    return address if address.startswith(("http://", "https://")) else None


def _lines(raw: bytes) -> list[str]:
    text = raw[:MOST_TEXT].removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n")
    found = islice(_LINE.finditer(text), MOST_URLS)
    return [match[1].decode("utf-8", "replace").strip() for match in found]


def _plain(body: bytes) -> bytes:
    """The bytes, unpacked as far as they can be, and no further than is reasonable.

    Some servers pack a file that is packed already, and some files are packed in pieces.
    """
    for _ in range(_MOST_LAYERS):
        if not body.startswith(_GZIP):
            break
        body = _unpacked(body)
    return body[:MOST_BYTES]


def _unpacked(body: bytes) -> bytes:
    pieces: list[bytes] = []
    room = MOST_BYTES
    while body.startswith(_GZIP) and room and len(pieces) < _MOST_PIECES:
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            piece = unpacker.decompress(body, room)
        except zlib.error:
            break
        pieces.append(piece)
        room -= len(piece)
        body = unpacker.unused_data
    return b"".join(pieces)
