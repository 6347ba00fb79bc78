"""Addresses that only a page's scripts contain: a listing that is rendered in the browser."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Element, Page

#: The reason of a link that stands only in a script.
SCRIPTED = "a script holds a list of such addresses"
#: A page with more links is rendered by the server.
_MAX_LINKS = 40
#: Addresses of one shape that make a list, and addresses of a list that are followed.
_MIN_LISTED, _MAX_LISTED = 3, 300
#: Characters of a script that are searched.
_MAX_SCRIPT_LENGTH = 1_000_000
#: An address after a key such as `url` or `href`, in JSON or a script's literal; inside a string of
#: either, quotes and slashes are escaped.
_ADDRESS = lazy_patterns.pattern(
    r"(?:[uU]rl|[hH]ref|[lL]ink|[pP]ath|[uU]ri)(?:Path|Key)?\\?[\"']?\s?:\s?\\?[\"']"
    r"((?:https?:)?(?:\\?/|\\u002[fF]){1,2}[\w%][^\"'\s<>\\{}]{0,300}"
    r"(?:(?:\\/|\\u002[fF])[^\"'\s<>\\{}]{1,300}){0,12})"
)
_ADDRESS_STARTS = (':"/', ': "/', ":'/", ':"\\/', ':\\"/', ':"http', ': "http', ':"\\u002')
_SLASH = lazy_patterns.pattern(r"\\/|\\u002[fF]")
#: Addresses of files and APIs, which are no pages.
_IS_NO_PAGE = re.compile(
    r"\.(?:jpe?g|png|webp|avif|gif|svg|ico|js|mjs|css|json|woff2?|ttf|mp4|pdf|xml|txt)(?:\?|$)"
    r"|/(?:api|graphql|rest|static|assets?|media|images?|img|_next|_nuxt|cdn|uploads?|fonts?)/",
    re.I,
).search
_LAST_SEGMENT = lazy_patterns.pattern(r"[^/]+/?$")
_DIGITS = lazy_patterns.pattern(r"\d+")


def scripted(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield the scripts of a page with few links, each with an address of a list in it."""
    if len(page.anchors) > _MAX_LINKS:
        return
    for script in page.scripts:
        text = script.text
        if text and _may_list(text) and "ld+json" not in (script.get("type") or ""):
            for address in _listed_addresses(text[:_MAX_SCRIPT_LENGTH]):
                yield script, address


def _may_list(text: str) -> bool:
    """Whether a script has enough values that begin like an address; most scripts have none."""
    return sum(map(text.count, _ADDRESS_STARTS)) >= _MIN_LISTED


def _listed_addresses(text: str) -> Iterator[str]:
    """Yield the addresses of a text that differ from several others only in their last segment."""
    shapes: dict[str, list[str]] = defaultdict(list)
    for match in _ADDRESS.finditer(text):
        address = _SLASH.sub("/", match[1])
        if not _IS_NO_PAGE(address):
            shapes[_shape(address)].append(address)
    for addresses in shapes.values():
        distinct = list(dict.fromkeys(addresses))
        if len(distinct) >= _MIN_LISTED:
            yield from distinct[:_MAX_LISTED]


def _shape(address: str) -> str:
    """Return an address without the part that names one product.

    >>> _shape("/p/red-lamp"), _shape("/p?id=12"), _shape("/p/red-lamp/12")
    ('/p/', '/p?id=#', '/p/red-lamp/')
    """
    path, mark, query = address.partition("?")
    if mark:
        return f"{path}?{_DIGITS.sub('#', query)}"
    return _LAST_SEGMENT.sub("", path)
