"""The links of a listing's tiles, by the boxes around a link or around a tile's amount."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

from crawler.extract.page.cards import largest_own_boxes
from crawler.extract.page.page import Element

#: Boxes around a link, one of which may be its item of a list, or its tile; elements of a tile.
_LISTED_LEVELS, _TILE_LEVELS = 3, 2
#: Boxes around a tile's amount that are searched for its link.
_AMOUNT_LEVELS = 4
_MAX_TILE_ELEMENTS = 40
_HEADINGS = frozenset({"h2", "h3", "h4", "h5"})


def is_listed(element: Element) -> bool:
    """Whether a link is that of a list's item, although class names call its box a filter.

    Microdata say so, or a box with a picture and a price whose first link has the same address.
    """
    boxes = list(islice(element.iterancestors(), _LISTED_LEVELS))
    if any(box.get("itemprop") == "itemListElement" for box in boxes):
        return True
    if next(element.iter("img"), None) is None and boxes[0].tag not in _HEADINGS:
        return False  # most options of a filter
    return any(_is_tile(box, element.get("href")) for box in boxes[:_TILE_LEVELS])


def _is_tile(box: Element, href: str | None) -> bool:
    inner = list(islice(box.iterdescendants(), _MAX_TILE_ELEMENTS))
    first = next((other.get("href") for other in inner if other.tag == "a"), None)
    return (
        first == href
        and any(other.tag == "img" for other in inner)
        and any("price" in (other.get("class") or "") for other in inner)
    )


def linked_tiles(amounts: Sequence[Element]) -> list[str]:
    """Return the first references in the boxes of tiles' amounts, if they are as many as the tiles."""
    references = dict.fromkeys(filter(None, map(_first_reference, amounts)))
    return [*references] if len(references) == len(amounts) else []


def _first_reference(amount: Element) -> str | None:
    """Return the first reference in the innermost box around an amount that has one."""
    for box in (amount, *islice(amount.iterancestors(), _AMOUNT_LEVELS)):
        for anchor in box.iter("a"):
            if (href := anchor.get("href")) and href[0] != "#":
                return str(href)
    return None


def only_references(amounts: Sequence[Element]) -> frozenset[str]:
    """Return the references of the tiles of amounts that lead to one address each.

    A tile is the largest box around an amount without another one's. An amount that is itself a
    link's text is a filter's: "up to 10 €".
    """
    beside = (amount for amount in amounts if not _is_link_text(amount))
    # Amounts of one tile, as the price and the one before it, have one innermost box with a link.
    inner = dict.fromkeys(box for box in map(_with_references, beside) if box is not None)
    outer = [box for box in inner if inner.keys().isdisjoint(box.iterancestors())]
    tiles = largest_own_boxes(outer, _AMOUNT_LEVELS)
    found = (_references(tile) for tile in tiles if tile is not None)
    return frozenset(chain(*(references for references in found if len(references) == 1)))


def _is_link_text(amount: Element) -> bool:
    around = next((box for box in (amount, *amount.iterancestors()) if box.tag == "a"), None)
    return around is not None and next(around.iter("img"), None) is None


def _with_references(amount: Element) -> Element | None:
    """Return the innermost box around an amount that has a reference."""
    boxes = (amount, *islice(amount.iterancestors(), _AMOUNT_LEVELS))
    return next(filter(_references, boxes), None)


def _references(box: Element) -> set[str]:
    hrefs = {str(anchor.get("href") or "#") for anchor in box.iter("a")}
    return {href for href in hrefs if href[0] != "#"}
