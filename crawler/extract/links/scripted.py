"""Addresses that a page's scripts hold and no link leads to: a listing that a browser draws."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Element, Page

#: Why a link is followed that stands in a script alone.
SCRIPTED = "a script holds a list of such addresses"
#: Pages with more links are drawn by their server.
_MOST_LINKS = 40
#: So many addresses of one shape are a list; so many of a page are followed.
_LIST_OF, _MOST = 3, 300
#: Characters of a script that are read.
_MOST_READ = 1_000_000
#: An address under a name that says that it is one, in JSON, in a script's literal or in a text of
#: either, where quotes and slashes are escaped.
_TOLD = lazy_patterns.pattern(
    r"(?:[uU]rl|[hH]ref|[lL]ink|[pP]ath|[uU]ri)(?:Path|Key)?\\?[\"']?\s?:\s?\\?[\"']"
    r"((?:https?:)?(?:\\?/|\\u002[fF]){1,2}[\w%][^\"'\s<>\\{}]{0,300}"
    r"(?:(?:\\/|\\u002[fF])[^\"'\s<>\\{}]{1,300}){0,12})"
)
_BEGINNINGS = (':"/', ': "/', ":'/", ':"\\/', ':\\"/', ':"http', ': "http', ':"\\u002')
_SLASH = lazy_patterns.pattern(r"\\/|\\u002[fF]")
#: What a browser shows as no page.
_NO_PAGE = re.compile(
    r"\.(?:jpe?g|png|webp|avif|gif|svg|ico|js|mjs|css|json|woff2?|ttf|mp4|pdf|xml|txt)(?:\?|$)"
    r"|/(?:api|graphql|rest|static|assets?|media|images?|img|_next|_nuxt|cdn|uploads?|fonts?)/",
    re.I,
).search
_LAST = lazy_patterns.pattern(r"[^/]+/?$")
_FIGURES = lazy_patterns.pattern(r"\d+")


def scripted(page: Page) -> Iterator[tuple[Element, str]]:
    """The scripts of a page with few links, and the addresses in them that are of a list."""
    if len(page.anchors) > _MOST_LINKS:
        return
    for script in page.scripts:
        text = script.text
        if text and _may_list(text) and "ld+json" not in (script.get("type") or ""):
            for address in _listed(text[:_MOST_READ]):
                yield script, address


def _may_list(text: str) -> bool:
    """Whether a script holds enough values that begin as addresses do: most scripts hold none."""
    return sum(map(text.count, _BEGINNINGS)) >= _LIST_OF


def _listed(text: str) -> Iterator[str]:
    """Addresses of which a text holds several that differ in their last part alone."""
    shapes: dict[str, list[str]] = defaultdict(list)
    for told in _TOLD.finditer(text):
        address = _SLASH.sub("/", told[1])
        if not _NO_PAGE(address):
            shapes[_shape(address)].append(address)
    for addresses in shapes.values():
        several = list(dict.fromkeys(addresses))
        if len(several) >= _LIST_OF:
            yield from several[:_MOST]


def _shape(address: str) -> str:
    """An address without what names one thing.

    >>> _shape("/p/red-lamp"), _shape("/p?id=12"), _shape("/p/red-lamp/12")
    ('/p/', '/p?id=#', '/p/red-lamp/')
    """
    path, mark, query = address.partition("?")
    if mark:
        return f"{path}?{_FIGURES.sub('#', query)}"
    return _LAST.sub("", path)
