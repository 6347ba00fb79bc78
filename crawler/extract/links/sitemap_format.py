"""Read sitemaps: XML and its indexes, plain text, RSS and Atom, gzipped or not, malformed or not."""

from __future__ import annotations

import re
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from html import unescape
from itertools import islice
from urllib.parse import urlsplit

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import without_origin
from crawler.extract.links.other_languages import copies_beside, language_folder, market_folder
from scrapy_seine.attrs_bases import Value
from scrapy_seine.charsets import encoding_of
from scrapy_seine.urls import MAX_LENGTH, absolute

#: The limits of the sitemap protocol; the one of bytes is higher, because some files exceed it.
MAX_URLS = 50_000
MAX_BYTES = 64_000_000
#: Sitemaps that are taken from one robots.txt.
MAX_ROBOTS_SITEMAPS = 500
#: Longer addresses, in any spelling, are refused.
_MAX_ADDRESS_BYTES = 6 * MAX_LENGTH

#: Bytes of a plain-text sitemap and of one that is recoded, and tags of an XML sitemap: forty for
#: each of the allowed addresses, enough for images and translations.
MAX_TEXT_BYTES = 16_000_000
MAX_TAGS = 2_000_000
_MAX_DATE_LENGTH = 64
_GZIP, _MAX_GZIP_LAYERS, _MAX_GZIP_MEMBERS = b"\x1f\x8b", 3, 16
_ENTRIES = frozenset({b"url", b"sitemap", b"item", b"entry"})
_FEED_ENTRIES = frozenset({b"item", b"entry"})
_CHANGES = frozenset({b"lastmod", b"pubdate", b"updated"})
#: The surety of the tag that a format has for an entry's page.
_SUREST = 2
#: Namespaces of tags about a page's pictures and films.
_MEDIA = frozenset({b"image", b"video"})
#: The kind of a link in Atom: none, or one that leads to the page itself.
_IS_OTHER_LINK = re.compile(rb"\brel=[\"'](?!alternate\b)", re.I).search
#: A relevant tag and the text behind it. The pattern is unambiguous and each part ends at the next
#: `<`, so that each byte is read once. We use no XML parser, because those that recover from errors
#: cut addresses at a bare `&`, the most common error.
_TAG = lazy_patterns.pattern(
    rb"<(/?)(?:([\w.-]{1,64}+):)?(url|sitemap|item|entry|loc|link|guid|lastmod|pubDate|updated)"
    rb"(?=[\s/>])([^<>]*+)>\s*+(?:<!\[CDATA\[\s*+)?([^<\]]*+)",
    re.I,
)
_HREF = lazy_patterns.pattern(rb"\shref=[\"']([^\"']++)[\"']", re.I)
#: The address of a page in one of its languages, and how many of them are read.
_LINK = lazy_patterns.pattern(rb"<(?:[\w.-]{1,64}+:)?link\s([^<>]*+)", re.I)
_LANGUAGE = lazy_patterns.pattern(rb"\bhreflang=[\"']([\w-]{2,12})[\"']", re.I)
_MAX_ALTERNATES = 1_000
#: Comments that are taken out: a file of nothing else took seconds, and twenty times its size.
_MOST_COMMENTS = 100_000
#: How UTF-16 begins that has no mark (XML 1.0, F.1).
_UTF16 = {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
#: The encoding that an XML file declares; the protocol allows UTF-8 alone.
_DECLARED = lazy_patterns.pattern(
    rb"\s*<\?xml\s[^<>]{0,200}?encoding=[\"']([A-Za-z0-9_-]{1,40}+)", re.I
)
_LINE = lazy_patterns.pattern(rb"^[ \t]*+(https?://[^\n]*+)", re.M)
#: A line of a robots.txt that names sitemaps, by whichever of its usual spellings.
_NAMES_SITEMAPS = lazy_patterns.pattern(
    r"\s*+site-?maps?(?:\s*+:|\s(?=\s*+(?:https?:|/)))([^#]++)", re.I
)


@attrs.frozen(eq=False, repr=False)
class Sitemap(Value):
    """The pages and sitemaps that one file lists."""

    pages: list[tuple[str, str]] = attrs.Factory(list)
    """Address and last modification (as written, or empty) of each page."""
    sitemaps: list[str] = attrs.Factory(list)
    """Addresses of further sitemaps, if the file is an index."""
    foreign_folders: frozenset[str] = frozenset()
    """Folders of the pages' copies in other languages."""

    def addresses(self, origin: str) -> Iterator[str]:
        """Yield the pages' addresses, without those of copies of a shop that begins at *origin*."""
        if not self.foreign_folders or market_folder(urlsplit(origin).path):
            yield from (url for url, _ in self.pages)
            return
        for url, _ in self.pages:
            if market_folder(without_origin(url)) not in self.foreign_folders:
                yield url

    def further_sitemaps(self, origin: str) -> list[str]:
        """Return the further sitemaps, without those of copies of a shop that begins at *origin*.

        Such a copy's sitemap has the name of one in no language's folder: `/fr/products.xml`.
        """
        if market_folder(urlsplit(origin).path):
            return self.sitemaps
        names = {without_origin(url).partition("?")[0] for url in self.sitemaps}
        return [url for url in self.sitemaps if not _is_copy(without_origin(url), names)]


def read_sitemap(body: bytes, url: str) -> Sitemap:
    """Read a sitemap of any format; an unreadable file gives an empty one, never an error.

    >>> read_sitemap(b"<urlset><url><loc>http://a.example/x</loc></url></urlset>", "")
    Sitemap(pages=[('http://a.example/x', '')], sitemaps=[], foreign_folders=frozenset())
    """
    raw = _without_comments(_recoded(_decompressed(body)))
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
            pages[address] = changed.decode("utf-8", "replace")[:_MAX_DATE_LENGTH]
        if len(pages) >= MAX_URLS or len(sitemaps) >= MAX_URLS:
            break
    return Sitemap(
        list(pages.items()), [s for s in sitemaps if s != url], copies_beside(_alternates(raw))
    )


def _recoded(raw: bytes) -> bytes:
    """Return a file of another encoding in UTF-8; valid UTF-8 stays as it is.

    No encoding is guessed, because a guess about 64 MB takes seconds, and gigabytes of memory. Each
    decoded copy takes up to four times the bytes, so that no more than MAX_TEXT_BYTES are recoded.
    """
    if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # some editors and shells write it
        return raw[:MAX_TEXT_BYTES].decode("utf-16", "replace").encode("utf-8", "replace")
    if raw[:2] in _UTF16:
        text = raw[:MAX_TEXT_BYTES].decode(_UTF16[raw[:2]], "replace")
        return text.encode("utf-8", "replace")
    declared = _DECLARED.match(raw)
    encoding = encoding_of(declared[1].decode()) if declared else None
    if encoding is None or encoding.startswith(("utf", "ascii")):
        return raw
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw[:MAX_TEXT_BYTES].decode(encoding, "replace").encode("utf-8", "replace")
    return raw


def _without_comments(raw: bytes) -> bytes:
    """Return a file without what is commented out; each byte is searched once.

    A comment within the text of a feed's entry may have no end, and hides no entry.
    """
    parts: list[bytes] = []
    at = end = 0
    while (start := raw.find(b"<!--", at)) >= 0 and len(parts) < _MOST_COMMENTS:
        end = end if end > start else raw.find(b"-->", start)
        if end < 0:
            break
        text_end = raw.find(b"]]>", start, end)
        is_comment = text_end < 0
        parts.append(raw[at:start] if is_comment else raw[at:text_end])
        at = end + 3 if is_comment else text_end
    return b"".join([*parts, raw[at:]]) if parts else raw


def _entries(raw: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield tag name, surest address and first date of each closed entry, in one pass."""
    entry = location = changed = b""
    prefix: bytes | None = None
    surety = 0
    for match in islice(_TAG.finditer(raw), MAX_TAGS):
        closing, space, name, marks, text = match.groups()
        name = name.lower()
        if name in _ENTRIES:
            if entry not in {b"", name}:
                continue  # a feed's picture has a `url`, which is no entry
            if location:
                yield entry, location, changed
            entry, location, changed, surety = b"" if closing else name, b"", b"", 0
            prefix = space
        elif entry and not closing:
            if name in _CHANGES:
                changed = changed or text.strip()
            elif (
                surety < _SUREST
                and (sure := _surety(entry, space, name, marks, prefix)) > surety
                and (found := _location(text, marks))
            ):
                location, surety = found, sure


def _surety(
    entry: bytes, space: bytes | None, name: bytes, marks: bytes, prefix: bytes | None
) -> int:
    """Return how surely a tag names an entry's page, up to _SUREST; 0 for another page or a file.

    A `loc` without the *prefix* of its entry may be a picture's or a film's, or the entry's own if
    there is no other: a file may give one namespace two prefixes.
    """
    if name == b"loc":
        if space and space.lower() in _MEDIA:
            return 0
        return _SUREST if space == prefix else 1
    if name == b"guid":
        return 1
    if entry in _FEED_ENTRIES:
        return 0 if _IS_OTHER_LINK(marks) else _SUREST
    return 0 if b"hreflang" in marks else 1  # the page in another language


def _is_copy(path: str, names: set[str]) -> bool:
    """Whether a path without its language's folder is one of these."""
    folder = language_folder(path)
    return bool(folder) and path[len(folder) + 1 :].partition("?")[0] in names


def _alternates(raw: bytes) -> Iterator[tuple[str, str]]:
    """Yield language and address of the pages' alternates."""
    for match in islice(_LINK.finditer(raw), _MAX_ALTERNATES if b"hreflang" in raw else 0):
        language, address = _LANGUAGE.search(match[1]), _HREF.search(b" " + match[1])
        if language and address:
            yield language[1].decode().lower(), address[1].decode("utf-8", "replace")


def _location(text: bytes, marks: bytes) -> bytes:
    """Return the address in a tag's text, else in its `href`."""
    if text[:1] == b"/" or text[:5].lower() in {b"http:", b"https"}:
        return text.strip()
    href = _HREF.search(marks)
    return href[1] if href else b""


def named_in_robots(text: str, url: str) -> list[str]:
    """Return the addresses of the sitemaps that a robots.txt names.

    >>> named_in_robots("User-agent: *\\nSitemap: /map.xml", "http://a.example/robots.txt")
    ['http://a.example/map.xml']
    """
    sitemaps: dict[str, None] = {}
    for line in text.splitlines():
        for word in _words_of(line):
            address = _address(word.encode("utf-8", "replace"), url)
            if address is not None:
                sitemaps[address] = None
        if len(sitemaps) >= MAX_ROBOTS_SITEMAPS:
            break
    return list(sitemaps)[:MAX_ROBOTS_SITEMAPS]


def _words_of(line: str) -> list[str]:
    """Return the sitemaps that a line of a robots.txt names: one, or several whole addresses."""
    match = _NAMES_SITEMAPS.match(line)
    words = [word.strip("\"'<>,;") for word in match[1].split()] if match else []
    return [*words[:1], *(word for word in words[1:] if word.startswith(("http:", "https:")))]


def _address(raw: bytes, url: str) -> str | None:
    if len(raw) > _MAX_ADDRESS_BYTES:
        return None
    text = unescape(raw.decode("utf-8", "replace")).strip()
    try:
        address = absolute(url, text) if text else ""
    except ValueError:
        return None
    return address if address.startswith(("http://", "https://")) else None


def _lines(raw: bytes) -> list[str]:
    text = raw[:MAX_TEXT_BYTES].removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n")
    matches = islice(_LINE.finditer(text), MAX_URLS)
    return [match[1].decode("utf-8", "replace").strip() for match in matches]


def _decompressed(body: bytes) -> bytes:
    """Return the body decompressed, up to the limits of gzip layers and bytes.

    Some servers gzip a file that is gzipped already, and some files consist of several members.
    """
    for _ in range(_MAX_GZIP_LAYERS):
        if not body.startswith(_GZIP):
            break
        body = _decompress_members(body)
    return body[:MAX_BYTES]


def _decompress_members(body: bytes) -> bytes:
    members: list[bytes] = []
    bytes_left = MAX_BYTES
    while body.startswith(_GZIP) and bytes_left and len(members) < _MAX_GZIP_MEMBERS:
        decompressor = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            member = decompressor.decompress(body, bytes_left)
        except zlib.error:
            # Only its checksum may be wrong, which stands in its last eight bytes.
            decompressor = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                member = decompressor.decompress(body[:-8], bytes_left)
            except zlib.error:
                break
        members.append(member)
        bytes_left -= len(member)
        body = decompressor.unused_data
    return b"".join(members)
