"""Separate the amounts of a page from those in tiles: like boxes that each lead to a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import islice, pairwise, takewhile

import attrs

from crawler.extract.money.amounts import Money
from crawler.extract.page import lines as _lines
from crawler.extract.page.cards import is_choice, tiles_of
from crawler.extract.page.lines import Line
from crawler.extract.page.link_targets import leads_away
from crawler.extract.page.page import Element
from crawler.extract.visible_signs import Visible
from crawler.extract.words import CachedRule

#: So many prices in like boxes make the tiles of a listing.
CARDS = 3
#: Characters of a class, and boxes around an amount that are searched for a link or a frame.
_MAX_CLASS, _MAX_LINKED, _MAX_BOXES = 300, 6, 60
#: Boxes around an amount that may be a tile, boxes beside one, and lines that are read.
_MAX_AROUND, _MAX_BESIDE, _MAX_LINES = 10, 60, 200
#: Words in a box's class for its place among others.
_PLACE_WORDS = re.compile(r"\b(?:odd|even|first|last)\b|\d+", re.I)
#: Classes without the words that differ between neighbours: `item odd`, `item last`, `item-12`.
_CLASS_WITHOUT_PLACE = CachedRule(lambda words: _PLACE_WORDS.sub("", words[:_MAX_CLASS]))

#: The first class, because the others describe the product: `product first instock sale`.
_FIRST_CLASS = CachedRule(
    lambda words: next(iter(_PLACE_WORDS.sub("", words[:_MAX_CLASS]).split()), "")
)


def _own_part(box: Element) -> str:
    return f"{box.tag}.{_CLASS_WITHOUT_PLACE[box.get('class') or '']}"


def _signature(element: Element) -> str:
    parts = []
    box = element
    for _ in range(4):
        if box is None:
            break
        parts.append(_own_part(box))
        box = box.getparent()
    return " ".join(parts)


@attrs.define(eq=False, repr=False)
class Amounts:
    """The amounts of a page by line, and which of them stand in tiles."""

    by_line: list[tuple[Line, Sequence[Money]]] = attrs.Factory(list)
    look_for_tiles: bool = True
    in_lone_tiles: set[Decimal] = attrs.Factory(set)
    """The values of the amounts in a few boxes with a title that links to another page."""

    def add(self, line: Line, monies: Sequence[Money]) -> None:
        """Add a line's amounts."""
        self.by_line.append((line, monies))

    def _tiles(self, is_old: bool) -> list[Element]:
        """Return the elements of amounts in tiles: those marked as old, or those that are not."""
        if not self.look_for_tiles or len(self.by_line) < CARDS:
            return []
        elements = [n.element for n, _ in self.by_line if bool(n.flags & _lines.OLD) == is_old]
        if len(elements) < CARDS:
            return []
        # Own tags and classes cost least, and those of most amounts are too few for tiles.
        own_parts = [_own_part(element) for element in elements]
        counts = Counter(own_parts)
        boxes: dict[str, list[Element]] = {}
        for element, own_part in zip(elements, own_parts, strict=True):
            if counts[own_part] >= CARDS:
                boxes.setdefault(_signature(element), []).append(element)
        return [tile for members in boxes.values() for tile in tiles_of(members, CARDS)]

    def outside_tiles(
        self, signs: Visible, main: Element | None = None
    ) -> list[tuple[Line, Sequence[Money]]]:
        """Return the amounts outside of tiles; put the number of those in tiles into *signs*.

        *main* is the page's heading: a box around it holds more than tiles.
        """
        # In the tiles of some shops, the only amount has a class for regular prices.
        current_tiles, old_tiles = self._tiles(is_old=False), self._tiles(is_old=True)
        signs.tile_amounts = current_tiles or old_tiles
        signs.cards = len(signs.tile_amounts)
        tiles = {*current_tiles, *old_tiles}
        if not tiles:  # true of most pages of a product
            signs.cards_apart = True
            return self.by_line
        in_tiles = [line for line, _ in self.by_line if line.element in tiles]
        signs.cards_apart = all(line.flags & _lines.ELSEWHERE for line in in_tiles)
        signs.tiles_from = in_tiles[0].index
        untiled = [
            (line, monies)
            for line, monies in self.by_line
            if line.element not in tiles and not _is_of_tile(line)
        ]
        if not untiled or main is None or len(current_tiles) < CARDS:
            return untiled
        # The tiles of reduced products have other classes.
        frames = _frames(current_tiles, main)
        return [pair for pair in untiled if frames.isdisjoint(pair[0].element.iterancestors())]

    def row_of(self, line: Line, heading: Element | None) -> list[Element]:
        """Return the row of tiles of which one holds an amount; [] if none does.

        The tiles are neighbours with one class, and each holds an amount and leads to a page of its
        own. Two are enough if they hold pictures. None holds the page's main heading, and none holds
        several tiles: the table of related products is no tile beside the product's table.
        """
        if len(self.by_line) < 2:
            return []
        heading_boxes = set() if heading is None else {heading, *heading.iterancestors()}
        for box in (line.element, *islice(line.element.iterancestors(), _MAX_AROUND)):
            parent = box.getparent()
            if parent is None or box in heading_boxes:
                break
            if not leads_away(box) or is_choice(box):
                continue
            box_class = _FIRST_CLASS[box.get("class") or ""]
            siblings = islice(parent.iterchildren(box.tag), _MAX_BESIDE)
            row = [
                b
                for b in siblings
                if _FIRST_CLASS[b.get("class") or ""] == box_class and b not in heading_boxes
            ]
            if len(row) > 1 and (row := self._tiles_among(row)) and box in row:
                sellers = [b for b in row if next(b.iter("form", "button"), None) is not None]
                return [] if sellers == [box] else row  # the product's own box alone has a button
        return []

    def _tiles_among(self, row: list[Element]) -> list[Element]:
        """Return the boxes that hold an amount and lead to a page of their own, if enough do."""
        amounts_by_box: dict[Element, list[Element]] = {}
        for line, _ in self.by_line[:_MAX_LINES]:
            for box in (line.element, *islice(line.element.iterancestors(), _MAX_AROUND)):
                amounts_by_box.setdefault(box, []).append(line.element)
        by_target: dict[str, Element] = {}
        for box in row:
            amounts = amounts_by_box.get(box)
            if amounts and leads_away(box) and not _holds_tiles(box, amounts):
                by_target.setdefault(_target(box), box)
        are_pictured = all(next(box.iter("img"), None) is not None for box in by_target.values())
        return [*by_target.values()] if len(by_target) >= (2 if are_pictured else CARDS) else []


def _target(box: Element) -> str:
    """Return the first address to which a box leads."""
    return next(filter(None, (link.get("href") for link in box.iter("a"))), "")


def _holds_tiles(box: Element, amounts: Sequence[Element]) -> bool:
    """Whether a box has several smaller ones that hold an amount and lead to a page each."""
    targets = set()
    for amount in amounts if len(amounts) > 1 else ():
        inner_boxes = takewhile(lambda inner: inner is not box, amount.iterancestors())
        inner = next(filter(leads_away, inner_boxes), None)
        targets.add(None if inner is None else _target(inner))
    return len(targets - {None}) > 1


def _frames(tiles: Sequence[Element], main: Element) -> set[Element]:
    """Return the boxes of which each is the smallest one around three tiles, without the heading.

    The box around two rows of tiles may hold the product's own price between them.
    """
    counts: Counter[Element] = Counter()
    for tile, following in pairwise(tiles[:_MAX_BESIDE]):
        around = set(islice(tile.iterancestors(), _MAX_BOXES))
        common = (box for box in islice(following.iterancestors(), _MAX_BOXES) if box in around)
        counts.update(islice(common, 1))
    return {box for box, pairs in counts.items() if pairs > 1}.difference(main.iterancestors())


def _is_of_tile(line: Line) -> bool:
    """Whether an amount beside tiles is in a link, because reduced prices have other markup."""
    if not line.flags & _lines.LINK:
        return False
    boxes = (line.element, *islice(line.element.iterancestors(), _MAX_LINKED))
    return any(box.tag == "a" and leads_away(box) for box in boxes)


def is_within(element: Element, boxes: list[Element]) -> bool:
    """Whether an element is in one of the boxes."""
    return any(box in boxes for box in (element, *islice(element.iterancestors(), _MAX_AROUND)))
