"""Know the words for the stock of other products, in their tiles, from those of the page's product."""

from __future__ import annotations

from itertools import islice

from crawler.extract.money.amounts import find_prices
from crawler.extract.page.cards import largest_own_boxes
from crawler.extract.page.lines import LINK, Line
from crawler.extract.page.link_targets import leads_away
from crawler.extract.page.page import Element
from crawler.extract.visible_signs import Visible

#: Boxes around an amount that may be its tile, tiles of a page that are told apart, and lines of a
#: tile before its amount.
_MAX_AROUND, _MAX_TILES, _MAX_BEFORE = 6, 60, 6
#: Characters of a line with a tile's price.
_MAX_PRICE = 200


class Tiles:
    """The tiles of a page, by their amounts; found at the first question, because few pages ask."""

    __slots__ = ("_amounts", "_begin", "_boxes")

    def __init__(self, signs: Visible) -> None:
        self._amounts = signs.tile_amounts
        self._boxes: set[Element] | None = None
        self._begin = 1_000_000 if signs.tiles_from is None else signs.tiles_from - _MAX_BEFORE
        """The first line that may be of a tile."""

    def hold(self, line: Line) -> bool:
        """Whether a line is in a tile, which leads to its product's page."""
        if line.index < self._begin:
            return False
        if self._boxes is None:
            own_boxes = largest_own_boxes(self._amounts[:_MAX_TILES], _MAX_AROUND)
            self._boxes = set(own_boxes) - {None}
        for box in (line.element, *islice(line.element.iterancestors(), _MAX_AROUND)):
            if box in self._boxes:
                return leads_away(box)
        return False


def buys_linked(before: list[Line], signs: Visible) -> bool:
    """Whether the two lines before a button are a link to another product, and its price."""
    if len(before) < 2 or not (before[0].flags & LINK and leads_away(before[0].element)):
        return False
    amounts = [money.value for money in find_prices(before[1].text[:_MAX_PRICE])]
    return bool(amounts) and signs.fields.get("price") not in amounts
