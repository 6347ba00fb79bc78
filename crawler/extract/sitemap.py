"""Sitemaps: XML and its indexes, plain text, RSS and Atom, gzipped or not, well-formed or not."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from html import unescape

import attrs

from crawler.urls import absolute

#: The protocol's own limits, with room for those who bend them.
MOST_URLS = 50_000
MOST_BYTES = 64_000_000
#: So many pages are not changed in one second, unless all of them are.
_SAME = 20
_DATE = len("2026-11-21")

_ENTRY = re.compile(rb"<(?:\w+:)?(url|sitemap|item|entry)[\s>].*?</(?:\w+:)?\1>", re.S | re.I)
_LOC = re.compile(
    rb"<(?:\w+:)?(?:loc|link|guid)(?:\s[^>]*)?>\s*(?:<!\[CDATA\[)?\s*(https?:[^<\]]+?|/[^<\]]*?)\s*(?:\]\]>)?\s*</"
    rb"|<link[^>]+?href=[\"']([^\"']+)[\"']",
    re.I,
)
_LASTMOD = re.compile(rb"<(?:\w+:)?(?:lastmod|pubDate|updated)[^>]*>\s*([^<]+?)\s*</", re.I)
_ROBOTS = re.compile(r"^\s*sitemap\s*:\s*(\S+)", re.I | re.M)


@attrs.frozen
class Sitemap:
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
        return Sitemap(pages=[(line, "") for line in _lines(raw)][:MOST_URLS])
    pages: dict[str, str] = {}
    sitemaps: dict[str, None] = {}
    for match in _ENTRY.finditer(raw):
        entry = match[0]
        loc = _LOC.search(entry)
        address = _address((loc[1] or loc[2]) if loc else b"", url)
        if address is None:
            continue
        if match[1].lower() == b"sitemap":
            sitemaps[address] = None
        else:
            changed = _LASTMOD.search(entry)
            pages[address] = changed[1].decode("utf-8", "replace") if changed else ""
        if len(pages) >= MOST_URLS or len(sitemaps) >= MOST_URLS:
            break
    return Sitemap(pages=list(pages.items()), sitemaps=[s for s in sitemaps if s != url])


def named_in_robots(text: str, url: str) -> list[str]:
    """The sitemaps that a robots.txt names.

    >>> named_in_robots("User-agent: *\\nSitemap: /map.xml", "http://a.example/robots.txt")
    ['http://a.example/map.xml']
    """
    found = (_address(name.encode(), url) for name in _ROBOTS.findall(text))
    return list(dict.fromkeys(address for address in found if address))


def dates_of(pages: Sequence[tuple[str, str]]) -> dict[str, str]:
    """When each page was last changed; "" for all where the dates say nothing.

    Some shops date every page with the time at which the sitemap was written.
    """
    dates = {changed for _, changed in pages}
    told = len(dates) > 1 or len(pages) < _SAME
    return {url: changed if told else "" for url, changed in pages}


def is_news(changed: str, since: datetime) -> bool:
    """Whether a page that was last changed then, as a sitemap has it, may be new since a time.

    A date without a time is any time of that day, anywhere; what cannot be read may be anything.

    >>> is_news("2026-11-20", datetime(2026, 11, 22, tzinfo=UTC))
    False
    >>> is_news("2026-11-22T08:00:00Z", datetime(2026, 11, 22, tzinfo=UTC))
    True
    """
    try:
        found = datetime.fromisoformat(changed)
    except ValueError:
        try:
            found = parsedate_to_datetime(changed)
        except (TypeError, ValueError, IndexError):
            return True
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC) + timedelta(hours=12)
    if len(changed) <= _DATE:
        found += timedelta(days=1)
    return found >= since


def _address(raw: bytes, url: str) -> str | None:
    text = unescape(raw.decode("utf-8", "replace")).strip()
    try:
        address = absolute(url, text) if text else ""
    except ValueError:
        return None
    return address if address.startswith(("http://", "https://")) else None


def _lines(raw: bytes) -> list[str]:
    words = (line.strip() for line in raw.decode("utf-8-sig", "replace").splitlines())
    return [word for word in words if word.startswith(("http://", "https://"))]


def _plain(body: bytes) -> bytes:
    """The bytes, unpacked as far as they can be, and no further than is reasonable."""
    if not body.startswith(b"\x1f\x8b"):
        return body[:MOST_BYTES]
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        return unpacker.decompress(body, MOST_BYTES)
    except zlib.error:
        return b""
