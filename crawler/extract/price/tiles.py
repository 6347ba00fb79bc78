"""The amounts of a page, apart from those in tiles: boxes of one make that each lead to a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

import attrs

from crawler.extract.money.amounts import Money
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line
from crawler.extract.page.page import Element
from crawler.extract.page.places import leads_away, tiles_of
from crawler.extract.visible_signs import Visible
from crawler.extract.words import Marks

#: So many prices in boxes of the same make are the tiles of a listing.
CARDS = 3
#: Characters of a class that count, and boxes around an amount in which a link is looked for.
_LONGEST_CLASS, _MAX_LINKED, _MAX_BOXES = 300, 6, 60
#: The same around an amount that may be a tile; boxes beside one, and amounts, that are looked at.
_MAX_AROUND, _MAX_BESIDE, _MAX_FOUND = 10, 60, 200
#: What a box's class says of its place among others.
_ITS_PLACE = re.compile(r"\b(?:odd|even|first|last)\b|\d+", re.I)
#: Classes without what tells a box from its neighbours: `item odd`, `item last`, `item-12`.
_MAKE = Marks(lambda words: _ITS_PLACE.sub("", words[:_LONGEST_CLASS]))

#: The first of them: others tell what is in a tile, `product first instock sale`.
_FIRST = Marks(lambda words: next(iter(_ITS_PLACE.sub("", words[:_LONGEST_CLASS]).split()), ""))


def _signature(element: Element) -> str:
    parts = []
    here = element
    for _ in range(4):
        if here is None:
            break
        parts.append(f"{here.tag}.{_MAKE[here.get('class') or '']}")
        here = here.getparent()
    return " ".join(parts)


@attrs.define(eq=False, repr=False)
class Amounts:
    """The amounts of a page by line, and which of them stand in tiles: boxes of one make."""

    found: list[tuple[Line, Sequence[Money]]] = attrs.Factory(list)
    look_for_tiles: bool = True

    def add(self, line: Line, monies: Sequence[Money]) -> None:
        """Note a line's amounts."""
        self.found.append((line, monies))

    def _tiles(self, before: bool) -> list[Element]:
        """The tiles' boxes whose class says that the amount in them was asked *before*, or the others."""
        boxes: dict[str, list[Element]] = {}
        if self.look_for_tiles and len(self.found) >= CARDS:
            for line, _ in self.found:
                if bool(line.flags & _lines.OLD) == before:
                    boxes.setdefault(_signature(line.element), []).append(line.element)
        return [tile for members in boxes.values() for tile in tiles_of(members, CARDS)]

    def outside_tiles(
        self, seen: Visible, main: Element | None = None
    ) -> list[tuple[Line, Sequence[Money]]]:
        """The amounts in no listing's tile; the number of those in tiles is put into *seen*.

        *main* is the page's heading: a box around it holds more than tiles.
        """
        # What a class calls the regular price is the only one in some shops' tiles.
        new, old = self._tiles(before=False), self._tiles(before=True)
        seen.cards = len(new) or len(old)
        tiles = {*new, *old}
        seen.cards_apart = all(
            line.flags & _lines.ELSEWHERE for line, _ in self.found if line.element in tiles
        )
        left = [
            (line, monies)
            for line, monies in self.found
            if line.element not in tiles and not (tiles and _is_of_tile(line))
        ]
        frame = _frame(new, main) if left and main is not None and len(new) >= CARDS else None
        if frame is None:
            return left
        # The tiles of what is reduced are of another make.
        return [pair for pair in left if frame not in pair[0].element.iterancestors()]

    def row_of(self, line: Line, heading: Element) -> list[Element]:
        """The tiles in one of which an amount stands, whatever else they hold; [] where in none.

        Each of these boxes, which are beside each other and of one class, holds an amount and leads
        to a page of its own; two of them are enough where they hold pictures. None holds the page's
        main heading.
        """
        if len(self.found) < 2:
            return []
        above = {heading, *heading.iterancestors()}
        for box in (line.element, *islice(line.element.iterancestors(), _MAX_AROUND)):
            parent = box.getparent()
            if parent is None or box in above:
                break
            if not leads_away(box):
                continue
            make = _FIRST[box.get("class") or ""]
            beside = islice(parent.iterchildren(box.tag), _MAX_BESIDE)
            row = [b for b in beside if _FIRST[b.get("class") or ""] == make and b not in above]
            if len(row) > 1 and (row := self._tiles_among(row)) and box in row:
                return row
        return []

    def _tiles_among(self, row: list[Element]) -> list[Element]:
        """Those of some boxes that hold an amount and lead to a page of their own, if enough do."""
        holders: set[Element] = set()
        for line, _ in self.found[:_MAX_FOUND]:
            holders.update((line.element, *islice(line.element.iterancestors(), _MAX_AROUND)))
        led: dict[str, Element] = {}
        for box in row:
            if box in holders and leads_away(box):
                links = (link.get("href") for link in box.iter("a"))
                led.setdefault(next(filter(None, links), ""), box)
        drawn = all(next(box.iter("img"), None) is not None for box in led.values())
        return [*led.values()] if len(led) >= (2 if drawn else CARDS) else []


def _frame(tiles: Sequence[Element], main: Element) -> Element | None:
    """The smallest box around tiles, unless it holds the heading as well."""
    around = set(islice(tiles[0].iterancestors(), _MAX_BOXES))
    box = next((e for e in islice(tiles[-1].iterancestors(), _MAX_BOXES) if e in around), None)
    return None if box is None or box in set(main.iterancestors()) else box


def _is_of_tile(line: Line) -> bool:
    """Whether an amount beside tiles is inside a link: a reduced price's markup differs from others'."""
    if not line.flags & _lines.LINK:
        return False
    boxes = (line.element, *islice(line.element.iterancestors(), _MAX_LINKED))
    return any(box.tag == "a" and leads_away(box) for box in boxes)


def is_within(element: Element, boxes: list[Element]) -> bool:
    """Whether an element is in one of some boxes."""
    return any(box in boxes for box in (element, *islice(element.iterancestors(), _MAX_AROUND)))
