"""Links to what a shop offers about one product: its print view, a form, a place on a list.

Such a link carries the number of the product as a value or as its last segment, and no number that
is not the product's: that of the page's own address or text, or the one that the other link or the
picture of its tile has. It leads to no further product, whatever its words are: `/druk.php?id=1003`
beside `/towar.php?id=1003`. What several addresses have beside a number of their own is the number
of a category, a shop or a visit, and what a product's address ends in is no variant's.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from itertools import chain, compress, islice
from operator import attrgetter
from typing import Any

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import without_origin
from crawler.extract.page.page import Element, Page, short_text
from scrapy_seine.attrs_bases import Record

#: Such links of a page, other links that are compared, anchors that are looked at, boxes around a
#: link, and elements of its tile.
_MAX_LINKS, _MAX_COMPARED, _MAX_ANCHORS, _MAX_BOXES, _MAX_ELEMENTS = 400, 1_000, 2_000, 4, 40
#: Addresses that a tile has at least, and pages beside such links that it leads to at most: the
#: product's, its maker's and its category's.
_MIN_URLS, _MAX_KEPT = 2, 3
#: Characters of a number that ties a link to its tile; a page's own product may have a shorter one.
_MIN_LENGTH = 3
#: Addresses with a number beside one of their own that make it no product's.
_MIN_SHARED = 2
#: Values and segments of an address, and the number at the begin or the end of a segment.
_VALUE = lazy_patterns.pattern(r"(?<==)[^&=;#]{1,40}")
_SEGMENT = lazy_patterns.pattern(r"(?<=/)[^/?&=;#]{1,200}(?=[/?;#]|$)")
_EDGE = lazy_patterns.pattern(r"^\d{2,12}(?=[-_])|(?<=[-_])\d{2,12}$")
_EXTENSION = lazy_patterns.pattern(r"\.[a-z]{2,5}$", re.I)
#: An address with a digit behind its host.
_NUMBERED = lazy_patterns.pattern(r"\w/.*\d")
_kind_of = attrgetter("kind")
_DIGIT, _DIGITS = lazy_patterns.pattern(r"\d"), lazy_patterns.pattern(r"\d+")

#: Numbers that may be a product's, and all numbers of its addresses.
_Known = tuple[frozenset[str], frozenset[str]]


def leave_out(page: Page, links: dict[str, Any], url_of: Callable[[str], str | None]) -> None:
    """Delete such links from *links*, the page's links by their addresses.

    *url_of* returns the address for a reference. Only links are deleted that are no product's and
    no listing's by their address or their place, and that stand nowhere else on the page. The first
    link of a tile stays.
    """
    # Without a loop over the links, because most pages have none of these.
    others = [*compress(links, map("other".__eq__, map(_kind_of, links.values())))]
    if not _NUMBERED.search("\n".join(others)):
        return
    candidates = {
        url: carried
        for url in others[:_MAX_LINKS]
        if _NUMBERED.search(url) and (carried := carried_by(url))
    }
    if not candidates:
        return
    own = _known([page.url], {(page.number or "").casefold()}) if page.shows_product else None
    for url in _Companions(page, links, url_of, candidates, own).companions():
        del links[url]


@attrs.define(eq=False, repr=False)
class _Companions(Record):
    """Tells which of a page's links lead to what is offered about one product."""

    page: Page
    links: Mapping[str, Any]
    url_of: Callable[[str], str | None]
    candidates: dict[str, frozenset[str]]
    """What the links carry that may be such ones."""
    own: _Known | None
    """The numbers of the page's product."""

    @cached_property
    def by_number(self) -> dict[str, list[str]]:
        """The page's links by what they carry."""
        found = defaultdict(list)
        for url in islice(self.links, _MAX_COMPARED):
            for number in carried_by(url):
                found[number].append(url)
        return found

    @cached_property
    def shapes(self) -> Counter[str]:
        """The numbers of links that differ in figures alone, by their common form."""
        return Counter(_DIGITS.sub("#", url) for url in islice(self.links, _MAX_COMPARED))

    def companions(self) -> set[str]:
        found, elsewhere = set[str](), set[str]()
        for anchor in self.page.anchors[:_MAX_ANCHORS]:
            url = self.url_of(anchor.get("href") or "#") or ""
            if url in self.candidates and url not in elsewhere:
                (found if self._is_companion(anchor, url) else elsewhere).add(url)
        return found - elsewhere

    def _is_companion(self, anchor: Element, url: str) -> bool:
        carried = self.candidates[url]
        is_long = len(max(carried, key=len)) >= _MIN_LENGTH
        is_tied = self.own is not None and self._belongs_to(url, self.own)
        is_tied = is_tied and not self._is_above(url)
        # A category may have the product's short number: `?id=5` beside `?id=6`.
        is_tied = is_tied and (is_long or self.shapes[_DIGITS.sub("#", url)] == 1)
        if not is_tied and is_long:
            known = self._known_in_tile(anchor)
            is_tied = known is not None and self._belongs_to(url, known)
        return is_tied and short_text(anchor).casefold() not in carried

    def _is_above(self, url: str) -> bool:
        """Whether a link has a part of the page's parameters, as that to its category: `?cat=12`.

        Those of the category are the ones that the links to its other products have, too.
        """
        pairs, own_pairs = (set(u.partition("?")[2].split("&")) for u in (url, self.page.url))
        if "" in pairs or not pairs < own_pairs:
            return False
        own_place = self.page.url.partition("?")[0]
        places = [link.partition("?") for link in self.links if link != self.page.url]
        others = [query.split("&") for place, _, query in places if place == own_place]
        return not others or pairs <= {*chain.from_iterable(others)}

    def _belongs_to(self, url: str, known: _Known) -> bool:
        """Whether an address carries the number of a product, and no other number."""
        numbers, known_numbers = known
        common = self.candidates[url] & numbers
        if not common or not _numbers_in(url) <= known_numbers:
            return False
        return any(not self._is_shared(number, known_numbers) for number in common)

    def _is_shared(self, number: str, known_numbers: frozenset[str]) -> bool:
        others = (url for url in self.by_number[number] if not _numbers_in(url) <= known_numbers)
        return len([*islice(others, _MIN_SHARED)]) >= _MIN_SHARED

    def _known_in_tile(self, anchor: Element) -> _Known | None:
        """Return the numbers of the other pages and the picture in a link's tile; None: no tile."""
        links = self.links
        for box in islice(anchor.iterancestors(), _MAX_BOXES):
            anchors = [*islice(box.iterdescendants("a"), _MAX_ELEMENTS)]
            hrefs = [href for each in anchors if (href := each.get("href") or "#")[0] != "#"]
            urls = [*dict.fromkeys(filter(None, map(self.url_of, hrefs)))]
            if len(urls) < _MIN_URLS:
                continue
            # The first one leads to the product, whatever the link is called.
            candidates = self.candidates
            kept = [
                url for url in urls if url in links and (url == urls[0] or url not in candidates)
            ]
            if not (
                self.page.shows_product
                or self.page.tile_amounts
                or any(links[url].kind == "product" for url in kept)
            ):
                return None
            if anchor.get("href") == hrefs[0] or not 0 < len(kept) <= _MAX_KEPT:
                return None
            pictures = (
                _numbers_of_picture(picture)
                for each in anchors
                if self.url_of(each.get("href") or "#") in kept
                for picture in each.iter("img")
            )
            return _known(kept, chain.from_iterable(pictures))
        return None


def _known(urls: Iterable[str], further: Iterable[str]) -> _Known:
    numbers = frozenset(chain(filter(None, further), *map(numbers_of, urls)))
    return numbers, numbers.union(*map(_numbers_in, urls))


@lru_cache(maxsize=512)
def carried_by(url: str) -> frozenset[str]:
    """Return the values of an address and its last segment that may be a product's number.

    >>> sorted(carried_by("https://a.example/print.php?art=RW-130&lang=pl"))
    ['rw-130']
    >>> sorted(carried_by("https://a.example/urun/12/red-lamp-1003.html"))
    ['red-lamp-1003']
    """
    parts = [*_VALUE.findall(without_origin(url)), *_segments(url)[-1:]]
    return frozenset(part.casefold() for part in parts if _DIGIT.search(part))


@lru_cache(maxsize=512)
def numbers_of(url: str) -> frozenset[str]:
    """Return what an address carries, and the number at the begin or the end of its last segment.

    >>> sorted(numbers_of("https://a.example/urun/12/red-lamp-1003.html"))
    ['1003', 'red-lamp-1003']
    """
    return carried_by(url).union(*map(_EDGE.findall, _segments(url)[-1:]))


@lru_cache(maxsize=512)
def _numbers_in(url: str) -> frozenset[str]:
    """Return what an address carries, and its folders with a figure."""
    folders = (part.casefold() for part in _segments(url)[:-1] if _DIGIT.search(part))
    return carried_by(url).union(folders)


def _segments(url: str) -> list[str]:
    segments = _SEGMENT.findall(without_origin(url).partition("?")[0])
    return [*segments[:-1], *(_EXTENSION.sub("", segment) for segment in segments[-1:])]


def _numbers_of_picture(picture: Element) -> set[str]:
    """Return what the name of a picture's file may have of its product's number.

    >>> sorted(_numbers_of_picture({"src": "/b/300/RW-130_g.jpg"}))
    ['rw-130', 'rw-130_g']
    """
    path = (picture.get("src") or "").partition("?")[0]
    name = _EXTENSION.sub("", path.rpartition("/")[2]).casefold()
    return {name, name.partition("_")[0], *_EDGE.findall(name)}
