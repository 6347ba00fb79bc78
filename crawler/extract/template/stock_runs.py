"""Runs of pages in one stock state: the products' news, the order of a listing, or a lost state.

A template that loses the stock state shows all products in one state, so that each product of the
other state seems to have changed. A listing that has sold-out products at its end causes runs as
long, but their products were sold out before. A shop that was closed has all of its products back.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from math import comb, sqrt

import attrs

from crawler.extract.page.page import tidied
from crawler.extract.stock.availability import UNAVAILABLE
from scrapy_seine.attrs_bases import Record

#: Products of a run that changed before it is suspicious, if the shares before it are unknown. In a
#: shop whose whole stock turns over between two crawls, so many occur by chance once in 20,000 times.
_MIN_TURNED = 10
#: Fewer suffice after so many pages, if the run has at most this probability by the shares before it.
_MIN_TURNED_IN_RUN, _MIN_PAGES_BEFORE, _MAX_RUN_CHANCE = 5, 60, 1e-4
#: Products in a row that are gone before that is suspicious, because a category or a season sells
#: out at once. A smaller run is reported only.
_MIN_GONE = 20
#: Standard deviations by which the run's changed products may fall short of the usual share of
#: their state; if they are fewer, the run is the order of a listing.
_MAX_DEVIATION = 1.5
#: The share of sold-out products from which on a shop counts as closed.
_CLOSED_SHARE = 2 / 3
#: Pages in the other state before a run is unusually long, and how many times longer than the usual
#: distance between two of them that run is.
_MIN_OTHERS, _LONG_FACTOR = 5, 2.4
#: Addresses that are kept of a run, and of the pages in each state before it.
_MAX_RUN, _MAX_EARLIER = 60, 16
#: Changed products of a run that are worth a report, if products with the same stored state kept it
#: until the run, and the largest probability of such an order of products that change by chance.
_MIN_REPORTED, _MAX_ORDER_CHANCE = 4, 1 / 200


@attrs.define(eq=False, repr=False)
class StockRuns(Record):
    """Counts the pages of a make by stock state, and its newest run in one state."""

    state: bool | None = None
    """The run's availability."""
    _length: int = 0
    _before: Counter[bool] = attrs.Factory(Counter)
    """Pages before the run, by availability."""
    _stored: Counter[bool] = attrs.Factory(Counter)
    """Compared products, by their stored availability."""
    _stored_in_run: Counter[bool] = attrs.Factory(Counter)
    """Those of the run."""
    _run: list[str] = attrs.Factory(list)
    """The first pages of the run."""
    _earlier: dict[bool, deque[str]] = attrs.Factory(
        lambda: {state: deque(maxlen=_MAX_EARLIER) for state in (True, False)}
    )
    """The newest pages before the run, by availability."""
    requested: dict[str, bool] = attrs.Factory(dict)
    """Pages whose stored state is needed, with the page's availability."""
    _is_requested: bool = False
    """Whether the stored states of the run's first pages were requested."""
    _kept: int | None = None
    """Products that kept the other state before the run; None if their state was not requested."""

    def begin(self, states: Mapping[str, int]) -> None:
        """Begin with the states of pages that were learned earlier."""
        for state, pages in states.items():
            self._before[state not in UNAVAILABLE] += pages

    def note(self, is_available: bool, url: str = "") -> None:
        """Count a page."""
        if is_available is not self.state:
            if self.state is not None:
                self._before[self.state] += self._length
                self._earlier[self.state].extend(self._run)
            self.state, self._length, self._kept = is_available, 0, None
            self._is_requested = False
            for pages in (self._stored_in_run, self._run, self.requested):
                pages.clear()
        self._length += 1
        if len(self._run) < _MAX_RUN:
            self._run.append(url)
        if not self._is_requested and self.is_long:
            self._is_requested = True
            self._stored_in_run.clear()  # all of the run is compared, not only a sample
            self._request(self._run, is_available)

    def _request(self, urls: Iterable[str], is_available: bool) -> None:
        """Request the stored states of pages with this availability."""
        self.requested.update(dict.fromkeys(map(address_of, urls), is_available))

    @property
    def is_long(self) -> bool:
        """Whether the run is unusually long, so that each of its pages must be compared."""
        before, length = self._before, self._length
        others = before[not self.state]
        if others < _MIN_OTHERS or length <= _LONG_FACTOR:  # there are more pages than others
            return False
        return length * others > _LONG_FACTOR * (before.total() + length)

    @property
    def turned(self) -> int:
        """The compared products of the run that had the other state before."""
        return self._stored_in_run[not self.state]

    def compare(self, is_available: bool, was_available: bool) -> int:
        """Compare a page with its stored product; return the run's changed products, or 0.

        The result is above 0 only if they are too many to be the products' news.
        """
        self._stored[was_available] += 1
        if is_available is not self.state:
            return 0
        self._stored_in_run[was_available] += 1
        if self._kept is None and self.turned >= _MIN_REPORTED:
            self._kept = 0
            self._request(self._earlier[not is_available], not is_available)
        return self.turned if self._has_turned() else 0

    def note_kept(self, is_available: bool, was_available: bool) -> None:
        """Count a requested page from before the run."""
        if self._kept is not None and is_available is not self.state:
            self._kept += was_available is is_available

    @property
    def is_reportable(self) -> bool:
        """Whether the run's products have changed, though the ones before it kept their state.

        That may be a delivery, so that the values are believed. Of products that change by chance,
        those that change are rarely all of the last ones.
        """
        turned = self.turned
        if self._kept is None or turned < _MIN_REPORTED or self.is_reopened:
            return False
        if not self._is_new(self._stored_in_run.total()):
            return False
        return bool(_MAX_ORDER_CHANCE * comb(turned + self._kept, turned) >= 1)

    @property
    def is_reopened(self) -> bool:
        """Whether a shop that was closed, with nearly everything sold out, sells again."""
        return bool(self.state and self._stored[False] > _CLOSED_SHARE * self._stored.total())

    def _has_turned(self) -> bool:
        if self.is_reopened or (self.state is False and self.turned < _MIN_GONE):
            return False
        if self._before.total() < _MIN_PAGES_BEFORE:
            return self.turned >= _MIN_TURNED
        return (
            self.turned >= _MIN_TURNED_IN_RUN
            and self._is_new(self._stored_in_run.total())
            and bool((1 - self._share) ** self._length < _MAX_RUN_CHANCE)
        )

    def _is_new(self, compared: int) -> bool:
        """Whether as many products of the run as usual had the other state."""
        expected = self._share * compared
        return self.turned >= expected - _MAX_DEVIATION * sqrt(expected * (1 - self._share))

    @property
    def _share(self) -> float:
        """The share of the other state's pages before the run."""
        return self._before[not self.state] / max(1, self._before.total())


def address_of(url: str) -> str:
    """Return the address under which a page's product is stored."""
    return tidied(url) or url
