"""Recognise a lone tile: another product's amount in a box with a title, or below a link."""

from __future__ import annotations

import re
from itertools import islice

from crawler.extract.address_kinds import looks_like_product
from crawler.extract.money.amounts import find_prices
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import Element, short_text
from crawler.extract.page.places import checks_out, leads_away, maker_led_to
from crawler.extract.price.line_amounts import LONGEST_LINE
from crawler.extract.stock.availability import buys

#: Lines of a tile between its title and its price.
_TILE_LINES = 10
LONGEST_TILE_PRICE = 40
#: Boxes around an element, and boxes that are searched for a link.
_MAX_BOXES, _MAX_LINKED = 100, 6
_MIN_NAME = 3
#: Lines in a tile between its link and its price.
_SKIPPED_FLAGS = _lines.OLD | _lines.HIDDEN | _lines.STOCK
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)\b", re.I).search


def is_in_tile(walk: Lines, line: Line) -> bool:
    """Whether a box with a linked heading, or a link itself, holds the price."""
    if line.flags & _lines.LINK and _is_linked(line):
        return True
    main = walk.lines[walk.heading] if walk.heading >= 0 else None
    if main is None or len(line.text) > LONGEST_TILE_PRICE:
        return False
    if line.index < walk.heading:
        return _is_below_product(walk, line)  # in a column before the heading
    title_flags = _lines.HEADING | _lines.LINK
    for place in range(line.index - 1, max(walk.heading, line.index - _TILE_LINES), -1):
        title = walk.lines[place]
        if title.flags & _lines.HEADING:
            is_of_link = title.flags & title_flags == title_flags and title.text != main.text
            return is_of_link and not _share_a_box(main.element, title.element, line.element)
    return False


def _is_linked(line: Line) -> bool:
    """Whether a link to a page holds picture, name and amount, as a tile does."""
    boxes = (line.element, *islice(line.element.iterancestors(), _MAX_LINKED))
    link = next((box for box in boxes if box.tag == "a"), None)
    if link is None or link is line.element or not leads_away(link) or checks_out(link):
        return False
    name = short_text(link).removesuffix(line.text).strip()
    if len(name) < _MIN_NAME or buys(name) or next(link.iter("img"), None) is None:
        return False
    return _PICTURE(link.get("href")) is None


def _is_below_product(walk: Lines, line: Line) -> bool:
    """Whether the last line without an amount before a line is a link to a product's page."""
    place = line.index - 1
    while place > 0 and walk.lines[place].flags & (_lines.DIGIT | _lines.LINK) == _lines.DIGIT:
        place -= 1
    line_before = walk.lines[max(place, 0)]
    boxes = (line_before.element, *islice(line_before.element.iterancestors(), _MAX_LINKED))
    link = next((box for box in boxes if box.tag == "a"), None)
    return link is not None and looks_like_product((link.get("href") or "")[:LONGEST_LINE])


def _share_a_box(main: Element, title: Element, price: Element) -> bool:
    """Whether the smallest box around a title and a price holds the main heading too."""
    around = {price, *islice(price.iterancestors(), _MAX_BOXES)}
    boxes = (title, *islice(title.iterancestors(), _MAX_BOXES))
    box = next((e for e in boxes if e in around), None)
    return box is None or box is main or any(a is box for a in main.iterancestors())


def follows_link(walk: Lines, line: Line) -> bool:
    """Whether a line comes right after a link, as the price in a listing's tile."""
    place = line.index - 1
    while place > 0 and walk.lines[place].flags & _SKIPPED_FLAGS:
        place -= 1
    flags = walk.lines[place].flags
    if place <= walk.heading or not flags & _lines.LINK or flags & _lines.FACT:
        return False
    if flags & _lines.DIGIT and any(find_prices(walk.lines[place].text[:LONGEST_LINE])):
        return False  # another edition with its price
    if walk.heading >= 0 and walk.lines[walk.heading].text.startswith(walk.lines[place].text):
        return False  # the product's maker or its name
    element = walk.lines[place].element
    return maker_led_to(element) is None and not _leads_nowhere(element)


def _leads_nowhere(element: Element) -> bool:
    """Whether a link runs a script instead of leading to a page: `javascript:print()`."""
    boxes = (element, *islice(element.iterancestors(), _MAX_LINKED))
    link = next((box for box in boxes if box.tag == "a"), None)
    return link is not None and not leads_away(link)
