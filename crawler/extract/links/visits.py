"""Parameters that name a visit under a name that nobody knows: a new value in the links of each page.

A shop that writes one into its links has no end: each page leads to all others under new addresses.
A parameter says nothing where ten pages whose addresses differ in nothing else showed the same, and
none showed anything else. From then on no page is fetched that is known but for its value. The pages
of products decide; a listing's parameter must say nothing on listings, too. Pure, and bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from time import monotonic

import attrs

#: Pages that showed the same before their parameter says nothing.
ENOUGH = 10
#: The reason, as logs and the dashboard show it.
ALIKE = f"{ENOUGH} of them showed the same, and none anything else"
#: Parameters of an address that are looked at; parameters that are remembered, and pages of all.
_MOST_NAMES, _MOST_PARAMETERS, _MOST_PAGES = 4, 500, 50_000
#: Links of a page that are compared.
_MOST_LINKS = 400
#: How long a page stays known, s: a worker that never ends fetches it again.
_KNOWN_S = 3600.0

#: A job, a host, a parameter's name, and whether the pages are those of products.
_Key = tuple[str, str, str, bool]


@attrs.define(eq=False, repr=False)
class _Parameter:
    """What is known of a parameter."""

    same: int = 0
    """How often another value showed the same."""
    tells: bool = False
    """Two of its values showed different things."""

    @property
    def says_nothing(self) -> bool:
        return self.same >= ENOUGH and not self.tells


@attrs.define(eq=False, repr=False)
class Visits:
    """What the parameters of each site's addresses say."""

    _known: OrderedDict[_Key, _Parameter] = attrs.Factory(OrderedDict)
    _pages: OrderedDict[int, tuple[int, int, float]] = attrs.Factory(OrderedDict)
    """By parameter and address without it, as hashes: value, what the page showed, monotonic s."""
    found: set[str] = attrs.Factory(set)
    """Names of those that say nothing."""

    def note(
        self, job: str, url: str, products: Sequence[Hashable], links: Sequence[str]
    ) -> str | None:
        """Take what a page showed; returns the name of a parameter that says nothing since.

        *products* is what tells each of its products from others, *links* are where it leads.
        """
        news = None
        for host, name, value, page in _parameters(url):
            key = job, host, name, bool(products)
            known = self._parameter(key)
            if known.tells:
                continue
            if products:
                shown = hash(tuple(products))
            else:
                shown = hash(frozenset(page_without(link, name) for link in links[:_MOST_LINKS]))
            told = known.says_nothing
            self._note(known, hash((key, page)), hash(value), shown)
            if products and known.says_nothing and not told:
                self.found.add(name)
                news = name
        return news

    def is_known(self, job: str, url: str) -> bool:
        """Whether a page was fetched already under another value of a parameter that says nothing."""
        if not any(name in url for name in self.found):
            return False
        for host, name, _, page in _parameters(url):
            if not self._says_nothing((job, host, name, True)):
                continue
            if self._has((job, host, name, True), page):
                return True
            listings = job, host, name, False
            if self._says_nothing(listings) and self._has(listings, page):
                return True
        return False

    def _note(self, known: _Parameter, page: int, value: int, shown: int) -> None:
        before = self._pages.get(page)
        self._pages[page] = value, shown, monotonic()
        self._pages.move_to_end(page)
        if len(self._pages) > _MOST_PAGES:
            self._pages.popitem(last=False)
        if before is not None and before[0] != value:
            known.same += before[1] == shown
            known.tells = before[1] != shown

    def _says_nothing(self, key: _Key) -> bool:
        known = self._known.get(key)
        return known is not None and known.says_nothing

    def _has(self, key: _Key, page: str) -> bool:
        before = self._pages.get(hash((key, page)))
        return before is not None and monotonic() - before[2] < _KNOWN_S

    def _parameter(self, key: _Key) -> _Parameter:
        known = self._known.setdefault(key, _Parameter())
        self._known.move_to_end(key)
        if len(self._known) > _MOST_PARAMETERS:
            self._known.popitem(last=False)
        return known


def page_without(url: str, name: str) -> str:
    """An address without a parameter.

    >>> page_without("https://a.example/p?id=7&visit=3f", "visit")
    'https://a.example/p?id=7'
    """
    place, _, query = url.partition("?")
    rest = [pair for pair in query.split("&") if pair and pair.partition("=")[0] != name]
    return f"{place}?{'&'.join(rest)}"


def _parameters(url: str) -> Iterator[tuple[str, str, str, str]]:
    """Host, name, value, and the address without it, of each parameter."""
    place, _, query = url.partition("?")
    if not query:
        return
    host = place.partition("://")[2].partition("/")[0]
    for pair in islice(query.split("&"), _MOST_NAMES):
        name, _, value = pair.partition("=")
        if name:
            yield host, name, value, page_without(url, name)
