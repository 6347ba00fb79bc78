"""Parameters by which a link chooses the visitor's currency, language or store.

A link with one is a switch, and none is followed. Where all links of a shop have the same one,
they lead to its pages, whose addresses are requested without it.
"""

from __future__ import annotations

from itertools import islice

from crawler.extract.page.page import Page
from crawler.extract.words import finder, full_matcher
from scrapy_seine.urls import without_pairs

#: The names of such parameters.
NAME = r"(?:(?:set|change|switch)[-_]?)?currency(?:[-_]?(?:id|code))?|id_currency|setlang|___store"
_SWITCH = full_matcher(NAME)
#: Whether an address has such a parameter.
has_switch = finder(rf"[?&](?:{NAME})=")
#: Places to which links with the same parameter lead, where it is no switch; links that are read.
_MIN_PLACES, _MAX_LINKS = 2, 2000


def common_switches(page: Page) -> frozenset[str]:
    """Return the parameters of such a name that links to several other places have alike."""
    places: dict[str, set[str]] = {}
    own = page.url.partition("?")[0]
    for anchor in islice(page.anchors, _MAX_LINKS):
        place, _, query = (anchor.get("href") or "").partition("#")[0].partition("?")
        for pair in _switches(query):
            if place and not own.endswith(place):
                places.setdefault(pair, set()).add(place)
    return frozenset(pair for pair in places if len(places[pair]) >= _MIN_PLACES)


def without_switches(url: str, common: frozenset[str], own: str) -> tuple[str, str]:
    """Return an address without its *common* parameters, and the one to request.

    The latter has those that *own* has, which is the address of the page with the link.

    >>> common = frozenset({"currency=EUR"})
    >>> without_switches("https://a.example/x?id=1&currency=EUR", common, "https://a.example/")
    ('https://a.example/x?id=1', 'https://a.example/x?id=1')
    >>> without_switches("https://a.example/x?currency=EUR", common, "https://a.example/?currency=EUR")
    ('https://a.example/x', 'https://a.example/x?currency=EUR')
    """
    plain = without_pairs(url, common.__contains__)
    kept = common.intersection(own.partition("?")[2].split("&"))
    return plain, url if kept.issuperset(_switches(url.partition("?")[2])) else plain


def _switches(query: str) -> list[str]:
    return [pair for pair in query.split("&") if _SWITCH(pair.partition("=")[0]) is not None]
