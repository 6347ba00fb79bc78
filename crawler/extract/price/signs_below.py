"""Read bare numbers whose currency stands in the next line, on a page that has no other amount."""

from __future__ import annotations

from crawler.extract.money.amounts import find_prices
from crawler.extract.money.currencies import is_currency
from crawler.extract.page.lines import HIDDEN, Line, Lines
from crawler.extract.price.tiles import Amounts

#: Characters of a bare number, and the first of them.
_MAX_BARE, _FIRST_FIGURES = 12, frozenset("123456789")


def with_signs_below(amounts: Amounts, walk: Lines, local: str | None) -> Amounts:
    """Add the numbers whose currency stands in the next line of their box: `870 / руб`."""
    for line in [n for n in walk.lines[:-1] if n.text[:1] in _FIRST_FIGURES]:
        text, below = line.text, walk.lines[line.index + 1]
        is_short = not line.flags & HIDDEN and 1 < len(text) <= _MAX_BARE
        if not is_short or not is_currency(below.text):
            continue
        monies = tuple(find_prices(f"{text} {below.text}", local))
        if text[-1].isdecimal() and len(monies) == 1 and _share_box(line, below):
            amounts.add(line, monies)
    return amounts


def _share_box(line: Line, below: Line) -> bool:
    """Whether two lines begin in one box, or in boxes right beside each other."""
    boxes = {line.element, line.element.getparent()}
    return below.element in boxes or below.element.getparent() in boxes
