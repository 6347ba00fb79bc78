"""Links to what a shop offers about one product: its print view, a form, a place on a list.

Such a link carries the number of the product: that of the page's own address or text, or the one
that the other link or the picture of its tile has. It leads to no further product, whatever its
words are: `/druk.php?id=1003` beside `/towar.php?id=1003`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
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
#: Characters of a number that ties a link to its tile; a page's own product may have a shorter one.
_MIN_LENGTH = 3
#: Values and segments of an address, and the number at the begin or the end of a segment.
_VALUE = lazy_patterns.pattern(r"(?<==)[^&=;#]{1,40}")
_SEGMENT = lazy_patterns.pattern(r"(?<=/)[^/?&=;#]{2,200}(?=[/?;#]|$)")
_EDGE = lazy_patterns.pattern(r"^\d{2,12}(?=[-_])|(?<=[-_])\d{2,12}$")
_EXTENSION = lazy_patterns.pattern(r"\.[a-z]{2,5}$", re.I)
#: An address with a digit behind its host.
_NUMBERED = lazy_patterns.pattern(r"\w/.*\d")
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
    is_priced = page.shows_product or bool(page.tile_amounts)
    own = {
        *(numbers_of(page.url) if page.shows_product else ()),
        str(page.number or "").casefold(),
    } - {""}
    candidates = {
        url: numbers
        for url in others[:_MAX_LINKS]
        if _NUMBERED.search(url)
        and (numbers := numbers_of(url))
        and (not numbers.isdisjoint(own) or len(max(numbers, key=len)) >= _MIN_LENGTH)
    }
    for anchor in page.anchors if candidates else ():
        url = url_of(anchor.get("href") or "#") or ""
        if url not in candidates or url not in links:
            continue
        carried = candidates[url]
        if carried.isdisjoint(own):
            kept = _kept_in_tile(anchor, links, candidates, is_priced, url_of)
            if kept is None or carried.isdisjoint(kept):
                continue
        if short_text(anchor).casefold() not in carried:
            del links[url]


def _kept_in_tile(
    anchor: Element,
    links: dict[str, Any],
    candidates: Container[str],
    is_priced: bool,
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
        if not (is_priced or any(links[url].kind == "product" for url in kept)):
            return None
        if anchor.get("href") == hrefs[0] or not 0 < len(kept) <= _MAX_KEPT:
            return None
        numbers = set(chain.from_iterable(map(numbers_of, kept)))
        for each in anchors:
            if url_of(each.get("href") or "#") in kept:
                numbers.update(*map(_numbers_of_picture, each.iter("img")))
        return numbers
    return None


@lru_cache(maxsize=512)
def numbers_of(url: str) -> frozenset[str]:
    """Return the values and segments of an address that may be a product's number.

    >>> sorted(numbers_of("https://a.example/print.php?art=RW-130&lang=pl"))
    ['rw-130']
    >>> sorted(numbers_of("https://a.example/urun/red-lamp-1003.html"))
    ['1003', 'red-lamp-1003']
    """
    address = without_origin(url)
    parts = [*_VALUE.findall(address)]
    for segment in _SEGMENT.findall(address.partition("?")[0]):
        stem = _EXTENSION.sub("", segment)
        parts += [stem, *_EDGE.findall(stem)]
    return frozenset(part.casefold() for part in parts if _DIGIT.search(part))


def _numbers_of_picture(picture: Element) -> set[str]:
    """Return what the name of a picture's file may have of its product's number.

    >>> sorted(_numbers_of_picture({"src": "/b/300/RW-130_g.jpg"}))
    ['rw-130', 'rw-130_g']
    """
    path = (picture.get("src") or "").partition("?")[0]
    name = _EXTENSION.sub("", path.rpartition("/")[2]).casefold()
    return {name, name.partition("_")[0], *_EDGE.findall(name)}
