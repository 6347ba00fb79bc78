"""Further pages of a listing without a pager's links: addresses that only its source has, and buttons.

Scripts load such a page when a visitor scrolls: `hx-get="/lamps?page=2"`, a frame, a state's `next`.
The source of a listing that no link leads on from is searched for its own address with a higher
page number. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import islice
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import orjson

from crawler.extract import lazy_patterns
from crawler.extract.links.choice import Link
from crawler.extract.links.pagination import (
    has_page_number,
    is_page_parameter,
    page_number,
    without_page,
)
from crawler.extract.links.unlinked import action_of, hidden_fields_of, request_of, says_more
from crawler.extract.page.page import Page

#: The reason of such a link.
IN_SOURCE = "the listing's source has its own address with this page number"
#: Occurrences of an address, and buttons, that are examined; pages that are followed.
_MAX_OCCURRENCES, _MAX_BUTTONS, _MAX_PAGES = 200, 300, 100
_REST = lazy_patterns.pattern(rb"[\w%.:/\\-]{0,60}(?:\?[\w\[\]%.=&;:,+\\-]{3,300})?")
#: How a query, or a page number in a path, begins behind an address; few tiles' addresses do.
_NUMBERED = lazy_patterns.pattern(rb"(?:\\?/)?\?|\\?[-/][a-z]{1,12}(?:\\?[-/])?\d", re.I)
#: Events for which htmx loads what follows a listing.
_AT_END = ("revealed", "intersect")
_SIGNS = (b"hx-get", b"-url-value", b"<turbo-frame")
#: Attributes with an address that the scripts of the large libraries load.
_LOADED = lazy_patterns.pattern(
    rb"(?:hx-get|-url-value|<turbo-frame\b[^<>]{0,200}?\ssrc)=[\"']([^\"'<>]{3,300})"
)


class _Parts(NamedTuple):
    host: str
    path: str
    """Without its page number."""
    parameters: list[tuple[str, str]]
    """Without the page number."""
    number: int
    """Of the page; 0 without one."""


def own_pages(page: Page, links: Sequence[Link]) -> list[Link]:
    """Return links to further pages of a listing from which no link leads on."""
    if page.shows_product or any(link.kind == "pagination" for link in links):
        return []
    own = _split(page.url)
    urls: dict[str, None] = {}
    for reference in _references(page, own.path):
        url = page.resolve(unescape(reference))
        if url is None:
            continue
        target = _split(url)
        is_other = target.path == own.path and target.parameters != own.parameters
        if target.number > max(own.number, 1) and target.host == own.host and not is_other:
            urls[url] = None
    for reference in _loads_more(page):
        url = page.resolve(reference)
        if url is not None and url != page.url and urlsplit(url).netloc == own.host:
            urls[url] = None
    return [Link(url, "pagination", IN_SOURCE) for url in islice(urls, _MAX_PAGES)]


def _references(page: Page, path: str) -> Iterator[str]:
    """Yield the addresses that may be those of further pages."""
    if path.strip("/"):
        for spelt in (path, path.replace("/", "\\/")):
            yield from (path + rest for rest in _rests_behind(page.raw, spelt.encode()))
    if any(map(page.holds, _SIGNS)):
        for match in islice(_LOADED.finditer(page.raw), _MAX_OCCURRENCES):
            yield match[1].decode("utf-8", "replace")
    for button in islice(page.root.iter("button"), _MAX_BUTTONS):
        name, value = button.get("name"), button.get("value")
        if not name or not value or not is_page_parameter(name):
            continue
        form = next(button.iterancestors("form"), None)
        if form is not None and (form.get("method") or "get").strip().lower() == "get":
            yield request_of(action_of(form), [*hidden_fields_of(form), (name, value)])


def _loads_more(page: Page) -> Iterator[str]:
    """Yield the addresses that htmx requests at the listing's end, with the values that it adds."""
    if not page.holds(b"hx-get"):
        return
    for element in page.root.xpath("//*[@hx-get]")[:_MAX_BUTTONS]:
        trigger, values = element.get("hx-trigger") or "", element.get("hx-vals") or "{}"
        if not any(event in trigger for event in _AT_END) and not says_more(element):
            continue
        try:
            pairs = orjson.loads(values)
        except ValueError:
            continue  # a script computes them
        if isinstance(pairs, dict):
            fields = [(str(name), str(value)) for name, value in pairs.items()]
            address = element.get("hx-get")
            yield request_of(address, fields) if fields else address


def _rests_behind(raw: bytes, path: bytes) -> Iterator[str]:
    """Yield what follows an address in a page's source, where that has a page number."""
    place = raw.find(path)
    for _ in range(_MAX_OCCURRENCES):
        if place < 0:
            return
        place += len(path)
        if _NUMBERED.match(raw, place) and (match := _REST.match(raw, place)):
            rest = match[0].decode("utf-8", "replace").replace("\\u0026", "&")
            rest = rest.replace("\\/", "/").rstrip("\\")
            if "?" in rest or has_page_number(rest):
                yield rest
        place = raw.find(path, place)


def _split(url: str) -> _Parts:
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query)
    parameters = [pair for pair in pairs if not is_page_parameter(pair[0])]
    number = page_number(("", parts.path, tuple(pairs)))
    return _Parts(parts.netloc, without_page(parts.path), parameters, number)
