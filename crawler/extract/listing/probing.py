"""Find the page count of a listing that does not state it, by doubling and bisection. Pure.

The last page to which a page links is asked first: if it leads no further, the listing ends there,
and nothing is probed. A short listing is followed page by page.

The probed pages are ordinary pages of the listing, which are read and followed. A page exists if
its content differs from the first page's, because some shops answer any number with their first
page. Others answer with their last page or an empty one: if two numbers show the same content, the
end is not beyond the smaller one. Until the end is known, only probed pages are requested, so that
an endless listing is crawled by its own links alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from crawler.extract.links.choice import Link
from crawler.extract.listing.further_pages import MAX_PAGES, numbers_of, split_number, step_of
from crawler.extract.page.page import Page, short_text
from scrapy_seine.attrs_bases import Value
from scrapy_seine.urls import MAX_LENGTH

#: Pages probed of one listing, at most.
MAX_TRIES = 24
#: A stored search with a larger place or step is refused: a search begins at twice the highest
#: number that the first page links to, and an address has six digits for a page number.
_MAX_PLACE, _MAX_STEP = 10_000, 1_000_000
#: Numbers of a pager from which on it may be cut off; with fewer, but several, it is complete.
_PAGER_WINDOW = 5
#: A listing is followed page by page up to this one, and its end is searched beyond it.
MIN_PLACE = 5


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Probe(Value):
    """The state of a search; places count pages from 1, whatever the addresses count."""

    template: str
    """Address with `{}` for the page number."""
    step: int = 1
    """Products on a page if the addresses count products, else 1."""
    first: int
    """Fingerprint of the first page (`listing_fingerprint`)."""
    before: int = 1
    """A place below `low` that exists."""
    low: int
    """The largest place that seems to exist."""
    low_shows: int | None = None
    """Fingerprint of the page at `low`; None if it was not requested."""
    high: int = 0
    """The smallest place that does not exist; 0 if none is known."""
    clone: int | None = None
    """Fingerprint of the page that the shop repeats beyond the end."""
    asked: int
    """The place to request next."""
    tries: int = 1

    @property
    def url(self) -> str:
        """The address to request next."""
        return self.address(self.asked)

    @property
    def last_known(self) -> str:
        """The address of the largest place that seems to exist."""
        return self.address(self.low)

    def address(self, place: int) -> str:
        """Return the address of a place."""
        number = place if self.step == 1 else (place - 1) * self.step
        return self.template.replace("{}", str(number))

    def pages(self) -> list[str]:
        """Return the addresses from the second to the last page known.

        If the shop repeats a page beyond the end, its first occurrence is included as the last page.
        """
        last_place = self.low if self.clone is None else self.high
        return [self.address(place) for place in range(2, last_place + 1)]

    def plain(self) -> dict[str, object]:
        """Return the state as a dictionary for a stored request."""
        return attrs.asdict(self)


def begin(page: Page, links: Iterable[Link], fingerprint: int | None) -> Probe | None:
    """Begin a search at a listing's first page; None if its pager is complete or missing."""
    numbers = {} if fingerprint is None else numbers_of(links)
    if fingerprint is None or not numbers:
        return None
    current = split_number(page.url)
    if current is not None and current[1] > 1:
        return None
    template, linked_numbers = max(numbers.items(), key=lambda pair: len(pair[1]))
    step = step_of(template, linked_numbers)
    places = sorted(number if step == 1 else number // step + 1 for number in linked_numbers)
    is_complete = places != list(range(2, len(places) + 2)) or 1 < len(places) < _PAGER_WINDOW - 1
    second = template.replace("{}", str(max(linked_numbers)))
    if is_complete or (len(places) == 1 and _is_numbered(page, second)):
        return None
    low = places[-1]
    return Probe(template=template, step=step, first=fingerprint, low=low, asked=2 * low)


def lead_on(search: Probe, links: Sequence[Link]) -> Probe | None:
    """Continue a search at the page at `low`; None if no link of the page leads further.

    Or if one leads beyond `MAX_PAGES`, where no search goes.

    A part of a page that a script loads has tiles alone, so that the search goes on as it is.
    """
    numbers = numbers_of(links).get(search.template)
    if not numbers:
        return search if all(link.kind == "product" for link in links) else None
    last = max(numbers)
    low = last if search.step == 1 else last // search.step + 1
    if low <= search.low or low >= MAX_PAGES:
        return None
    return attrs.evolve(search, before=search.low, low=low, asked=2 * low)


def _is_numbered(page: Page, second: str) -> bool:
    """Whether a pager that leads to one further page calls it "2", as each page of a short listing.

    A link to that page may say "Page 2", and one to a product "Mug 2".

    A longer listing whose pager shows its neighbours alone is crawled page by page.
    """
    labels = ((anchor, short_text(anchor)) for anchor in page.anchors)
    return any(
        label == "2"
        or (
            label[-1:] == "2"
            and not label[-2].isdigit()
            and page.resolve(anchor.get("href") or "") == second
        )
        for anchor, label in labels
    )


def resume(plain: Mapping[str, object]) -> Probe:
    """Restore a search from `Probe.plain`.

    Raises:
        TypeError: *plain* has other fields than a search.
        ValueError: a place is beyond any search's, and `pages` would return as many addresses.
    """
    probe = Probe(**plain)  # type: ignore[arg-type]  # a stored request holds any value
    for place in (probe.before, probe.low, probe.high, probe.asked, probe.tries):
        if type(place) is not int or not 0 <= place <= _MAX_PLACE:
            raise ValueError(f"a search of a listing's pages is at {place!r:.40}")
    template, step = probe.template, probe.step
    if len(template) > MAX_LENGTH or template.count("{}") != 1 or not 0 < step <= _MAX_STEP:
        raise ValueError(f"a search of a listing's pages asks for {template!r:.80}")
    return probe


def judge(probe: Probe, fingerprint: int | None) -> tuple[Probe | None, Probe | None]:
    """Return the next probe, or the finished search (see `pages`), by the fingerprint of a page.

    *fingerprint* is None if the page does not exist. Both results are None if the search failed.
    """
    if fingerprint is not None and fingerprint == probe.low_shows:
        # Both places are beyond the end, or `low` is the last page.
        narrowed = attrs.evolve(
            probe, high=probe.low, low=probe.before, low_shows=None, clone=fingerprint
        )
    elif fingerprint is None or fingerprint in (probe.first, probe.clone):
        narrowed = attrs.evolve(probe, high=probe.asked)
    else:
        narrowed = attrs.evolve(probe, before=probe.low, low=probe.asked, low_shows=fingerprint)
    if narrowed.high and narrowed.high - narrowed.low <= 1:
        return None, narrowed
    next_place = (
        (narrowed.low + narrowed.high) // 2 if narrowed.high else min(2 * narrowed.low, MAX_PAGES)
    )
    if narrowed.low >= MAX_PAGES or narrowed.tries >= MAX_TRIES:
        return None, None
    return attrs.evolve(narrowed, asked=next_place, tries=narrowed.tries + 1), None
