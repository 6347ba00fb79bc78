"""Links to what a shop offers about one product: its print view, a form, a place on a list.

Such a link carries the number of the product: that of the page's own address or text, or the one
that the other link or the picture of its tile has. It leads to no further product, whatever its
words are: `/druk.php?id=1003` beside `/towar.php?id=1003`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence, Set
from functools import lru_cache
from itertools import chain, compress, islice
from operator import attrgetter
from typing import Any

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import without_origin
from crawler.extract.page.page import Element, Page, short_text

#: Such links of a page, boxes around a link, and elements of its tile.
_MAX_LINKS, _MAX_BOXES, _MAX_ELEMENTS = 400, 4, 40
#: Addresses that a tile has at least, and pages beside such links that it leads to at most: the
#: product's, its maker's and its category's.
_MIN_URLS, _MAX_KEPT = 2, 3
#: Values and segments of an address, and the number at the begin or the end of a segment.
_VALUE = lazy_patterns.pattern(r"(?<==)[^&=;#]{1,40}")
_SEGMENT = lazy_patterns.pattern(r"(?<=/)[^/?&=;#]{1,200}(?=[/?;#]|$)")
_EDGE = lazy_patterns.pattern(r"^\d{2,12}(?=[-_])|(?<=[-_])\d{2,12}$")
_EXTENSION = lazy_patterns.pattern(r"\.[a-z]{2,5}$", re.I)
#: An address with a digit behind its host.
_NUMBERED = lazy_patterns.pattern(r"\w/.*\d")
#: Characters of a part that may tie a link to its tile, because shorter ones are alike by chance.
_MIN_LENGTH = 3
_kind_of = attrgetter("kind")
_DIGIT = lazy_patterns.pattern(r"\d")


def leave_out(page: Page, links: dict[str, Any], url_of: Callable[[str], str | None]) -> None:
    """Delete such links from *links*, the page's links by their addresses.

    *url_of* returns the address for a reference. Only links are deleted that are no product's and
    no listing's by their address or their place. The first link of a tile stays.
    """
    # Without a loop over the links, because most pages have none of these.
    others = [*compress(links, map("other".__eq__, map(_kind_of, links.values())))]
    if not _NUMBERED.search("\n".join(others)):
        return
    own = set(own_numbers(page.url)) if page.shows_product else set()
    if page.number:
        own.add(str(page.number).casefold())
    candidates = {
        url: parts
        for url in others[:_MAX_LINKS]
        if _NUMBERED.search(url)
        and (parts := numbered_parts(url))
        and (len(max(chain(*parts), key=len)) >= _MIN_LENGTH or _are_all_in(parts, own))
    }
    for anchor in page.anchors if candidates else ():
        url = url_of(anchor.get("href") or "#") or ""
        if url not in candidates or url not in links or _is_above(url, page.url, links):
            continue
        parts = candidates[url]
        if not _are_all_in(parts, own):
            kept = _kept_in_tile(anchor, links, candidates, url_of)
            if kept is None or not _are_all_in(parts, kept):
                continue
        if not _are_all_in((frozenset({short_text(anchor).casefold()}),), set().union(*parts)):
            del links[url]


def _are_all_in(parts: Sequence[Set[str]], numbers: Set[str]) -> bool:
    """Whether each part of an address is one of a product's numbers, so that it names nothing else."""
    return not any(map(numbers.isdisjoint, parts))


def _is_above(url: str, page: str, links: Iterable[str]) -> bool:
    """Whether a link has a part of a page's parameters, as that to its category: `?cat=12`.

    Those of the category are the ones that the links to its other products have, too.
    """
    pairs, own_pairs = (set(address.partition("?")[2].split("&")) for address in (url, page))
    if "" in pairs or not pairs < own_pairs:
        return False
    places = [link.partition("?") for link in links if link != page]
    others = [query.split("&") for place, _, query in places if place == page.partition("?")[0]]
    return not others or pairs <= {*chain.from_iterable(others)}


def _kept_in_tile(
    anchor: Element,
    links: dict[str, Any],
    candidates: Container[str],
    url_of: Callable[[str], str | None],
) -> set[str] | None:
    """Return the numbers of the other pages and the picture in a link's tile; None: it has none."""
    for box in islice(anchor.iterancestors(), _MAX_BOXES):
        anchors = [*islice(box.iterdescendants("a"), _MAX_ELEMENTS)]
        hrefs = [href for each in anchors if (href := each.get("href") or "#")[0] != "#"]
        urls = [*dict.fromkeys(filter(None, map(url_of, hrefs)))]
        if len(urls) < _MIN_URLS:
            continue
        # The first one leads to the product, whatever the link is called.
        kept = {url for url in urls if url in links and (url == urls[0] or url not in candidates)}
        if anchor.get("href") == hrefs[0] or not 0 < len(kept) <= _MAX_KEPT:
            return None
        numbers = set(chain.from_iterable(map(own_numbers, kept)))
        for each in anchors:
            if url_of(each.get("href") or "#") in kept:
                numbers.update(*map(_numbers_of_picture, each.iter("img")))
        return numbers
    return None


@lru_cache(maxsize=512)
def numbered_parts(url: str) -> tuple[frozenset[str], ...]:
    """Return the values and segments of an address with a digit, each with what may be its number.

    >>> [sorted(part) for part in numbered_parts("https://a.example/12/red-lamp-1003.html?v=RW-1")]
    [['12'], ['1003', 'red-lamp-1003'], ['rw-1']]
    """
    path, _, query = without_origin(url).partition("?")
    parts = [*_SEGMENT.findall(path), *_VALUE.findall(f"?{query}")]
    return tuple(map(_numbers_of_part, filter(_DIGIT.search, parts)))


def own_numbers(url: str) -> frozenset[str]:
    """Return what of an address may be the number of its product: its values and last segments.

    >>> sorted(own_numbers("https://a.example/12/red-lamp-1003.html"))
    ['1003', 'red-lamp-1003']
    >>> sorted(own_numbers("https://a.example/p/1003/red-lamp/?cat=7"))
    ['1003', '7']
    """
    path, _, query = url.partition("?")
    last = next(filter(_DIGIT.search, path.rstrip("/").split("/")[:-3:-1]), "")
    values = filter(_DIGIT.search, _VALUE.findall(f"?{query}"))
    return frozenset().union(*map(_numbers_of_part, (*values, last)))


def _numbers_of_part(part: str) -> frozenset[str]:
    stem = _EXTENSION.sub("", part).casefold()
    return frozenset({stem, *_EDGE.findall(stem)})


def _numbers_of_picture(picture: Element) -> set[str]:
    """Return what the name of a picture's file may have of its product's number.

    >>> sorted(_numbers_of_picture({"src": "/b/300/RW-130_g.jpg"}))
    ['rw-130', 'rw-130_g']
    """
    path = (picture.get("src") or "").partition("?")[0]
    name = _EXTENSION.sub("", path.rpartition("/")[2]).casefold()
    return {name, name.partition("_")[0], *_EDGE.findall(name)}
