"""The page count of a listing that tells it nowhere: found by doubling and bisection. Pure.

The pages asked on the way are ordinary ones of the listing: what they show is read and followed. A
page counts as being there if it shows something else than the first one, since some shops answer
any number with their first page. Some answer with their last page, or an empty one, again and
again: when two numbers show the same, the end lies before the smaller one. While nobody knows the
end, no page but the asked ones enters: a listing that never ends is left to its own links.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from crawler.extract.links.choice import Link
from crawler.extract.listing.further_pages import MOST_PAGES, numbers_of, split, step_of
from crawler.extract.page.page import Page
from scrapy_seine.records import Value
from scrapy_seine.urls import MAX_LENGTH

#: Pages asked of one listing, at most.
MOST_TRIES = 24
#: Places and steps beyond these are no search's of ours: it begins at twice the links of one page,
#: and an address has six digits for a page's number.
_FARTHEST, _LONGEST_STEP = 10_000, 1_000_000
#: A pager with so many numbers may be cut off; with fewer, and more than one, it is whole.
_WINDOW = 5


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Probe(Value):
    """How far the search is; places are counted from 1, whatever the addresses count."""

    template: str
    """Address with `{}` for the page's number."""
    step: int = 1
    """Products on a page, where addresses count these; else 1."""
    first: int
    """What the first page shows (`listing_fingerprint`)."""
    before: int = 1
    """A page that is there, below `low`."""
    low: int
    """The largest place that seems to be there."""
    low_shows: int | None = None
    """What it shows; None: it was not asked."""
    high: int = 0
    """The smallest place that is not; 0: none is known."""
    clone: int | None = None
    """What the shop shows beyond its end."""
    asked: int
    """The place to look at next."""
    tries: int = 1

    @property
    def url(self) -> str:
        """Address to look at next."""
        return self.address(self.asked)

    def address(self, place: int) -> str:
        """Address of a place."""
        number = place if self.step == 1 else (place - 1) * self.step
        return self.template.replace("{}", str(number))

    def pages(self) -> list[str]:
        """All addresses from the second to the last page, as far as it is known.

        Where the shop repeats something, its first occurrence is among them: the last page.
        """
        last = self.low if self.clone is None else self.high
        return [self.address(place) for place in range(2, last + 1)]

    def plain(self) -> dict[str, object]:
        """Lay it out for a stored request."""
        return attrs.asdict(self)


def begin(page: Page, links: Iterable[Link], shows: int | None) -> Probe | None:
    """Begin a search at a listing's first page; None where its pager looks whole, or is none."""
    numbers = {} if shows is None else numbers_of(links)
    if shows is None or not numbers:
        return None
    here = split(page.url)
    if here is not None and here[1] > 1:
        return None
    template, found = max(numbers.items(), key=lambda pair: len(pair[1]))
    step = step_of(template, found)
    places = sorted(number if step == 1 else number // step + 1 for number in found)
    whole = places != list(range(2, len(places) + 2)) or 1 < len(places) < _WINDOW - 1
    if whole:
        return None
    low = places[-1]
    return Probe(template=template, step=step, first=shows, low=low, asked=2 * low)


def resume(plain: Mapping[str, object]) -> Probe:
    """Read what `Probe.plain` laid out.

    Raises:
        TypeError: it is something else.
        ValueError: it is further on than any search goes, and would lay out as many addresses.
    """
    probe = Probe(**plain)  # type: ignore[arg-type]  # a stored request holds any value
    for place in (probe.before, probe.low, probe.high, probe.asked, probe.tries):
        if type(place) is not int or not 0 <= place <= _FARTHEST:
            raise ValueError(f"a search of a listing's pages is at {place!r:.40}")
    template, step = probe.template, probe.step
    if len(template) > MAX_LENGTH or template.count("{}") != 1 or not 0 < step <= _LONGEST_STEP:
        raise ValueError(f"a search of a listing's pages asks for {template!r:.80}")
    return probe


def judge(probe: Probe, shows: int | None) -> tuple[Probe | None, Probe | None]:
    """What the asked page says: the next question, or the end of the search (`pages` tells all).

    *shows* is None where the page is not there. Neither is given where the search was in vain.
    """
    if shows is not None and shows == probe.low_shows:
        # Both are beyond the end, or its last page.
        found = attrs.evolve(probe, high=probe.low, low=probe.before, low_shows=None, clone=shows)
    elif shows is None or shows in (probe.first, probe.clone):
        found = attrs.evolve(probe, high=probe.asked)
    else:
        found = attrs.evolve(probe, before=probe.low, low=probe.asked, low_shows=shows)
    if found.high and found.high - found.low <= 1:
        return None, found
    asked = (found.low + found.high) // 2 if found.high else min(2 * found.low, MOST_PAGES)
    if found.low >= MOST_PAGES or found.tries >= MOST_TRIES:
        return None, None
    return attrs.evolve(found, asked=asked, tries=found.tries + 1), None
