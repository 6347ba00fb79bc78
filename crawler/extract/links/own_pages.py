"""Further pages of a listing without a pager's links: addresses that only its source has, and buttons.

Scripts load such a page when a visitor scrolls: `hx-get="/lamps?page=2"`, a frame, a state's `next`.
The source of a listing that no link leads on from is searched for its own address with a higher
page number. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import unescape
from itertools import islice
from urllib.parse import parse_qsl, urlsplit

from crawler.extract import lazy_patterns
from crawler.extract.links.choice import Link
from crawler.extract.links.pagination import is_page_parameter
from crawler.extract.links.unlinked import action_of, hidden_fields_of, request_of
from crawler.extract.page.page import Page

#: The reason of such a link.
IN_SOURCE = "the listing's source has its own address with this page number"
#: Occurrences of an address, and buttons, that are examined; pages that are followed.
_MAX_OCCURRENCES, _MAX_BUTTONS, _MAX_PAGES = 200, 300, 100
_MAX_DIGITS = 6
_QUERY = lazy_patterns.pattern(rb"\?[\w\[\]%.=&;:,+\\-]{3,300}")
_SIGNS = (b"hx-get", b"-url-value", b"<turbo-frame")
#: Attributes with an address that the scripts of the large libraries load.
_LOADED = lazy_patterns.pattern(
    rb"(?:hx-get|-url-value|<turbo-frame\b[^<>]{0,200}?\ssrc)=[\"']([^\"'<>]{3,300})"
)

_Pairs = list[tuple[str, str]]


def own_pages(page: Page, links: Sequence[Link]) -> list[Link]:
    """Return links to further pages of a listing from which no link leads on."""
    if page.shows_product or any(link.kind == "pagination" for link in links):
        return []
    parts = urlsplit(page.url)
    others, current = _split(parse_qsl(parts.query))
    urls: dict[str, None] = {}
    for reference in _references(page, parts.path):
        url = page.resolve(unescape(reference))
        if url is None:
            continue
        target = urlsplit(url)
        target_others, number = _split(parse_qsl(target.query))
        is_own = target.path != parts.path or target_others == others
        if number > max(current, 1) and target.netloc == parts.netloc and is_own:
            urls[url] = None
    return [Link(url, "pagination", IN_SOURCE) for url in islice(urls, _MAX_PAGES)]


def _references(page: Page, path: str) -> Iterator[str]:
    """Yield the addresses that may be those of further pages."""
    if path.strip("/"):
        for spelt in (path, path.replace("/", "\\/")):
            yield from (path + query for query in _queries_behind(page.raw, spelt.encode()))
    if any(map(page.holds, _SIGNS)):
        for match in islice(_LOADED.finditer(page.raw), _MAX_OCCURRENCES):
            yield match[1].decode("utf-8", "replace")
    for button in islice(page.root.iter("button"), _MAX_BUTTONS):
        name, value = button.get("name") or "", button.get("value") or ""
        form = next(button.iterancestors("form"), None) if is_page_parameter(name) else None
        if form is not None and (form.get("method") or "get").strip().lower() == "get":
            yield request_of(action_of(form), [*hidden_fields_of(form), (name, value)])


def _queries_behind(raw: bytes, path: bytes) -> Iterator[str]:
    """Yield the queries of an address, wherever it stands in a page's source."""
    place = raw.find(path + b"?")
    for _ in range(_MAX_OCCURRENCES):
        if place < 0:
            return
        place += len(path)
        if match := _QUERY.match(raw, place):
            yield match[0].decode("utf-8", "replace").replace("\\u0026", "&").rstrip("\\")
        place = raw.find(path + b"?", place)


def _split(pairs: _Pairs) -> tuple[_Pairs, int]:
    """Return the parameters of an address without its page number, and that number; 0 without one."""
    others = [pair for pair in pairs if not is_page_parameter(pair[0])]
    values = (value for name, value in pairs if is_page_parameter(name))
    numbers = [int(v) for v in values if v.isdecimal() and len(v) <= _MAX_DIGITS]
    return others, max(numbers, default=0)
