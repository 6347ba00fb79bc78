"""Read bare numbers whose currency stands in the next line, on a page that has no other amount."""

from __future__ import annotations

from crawler.extract.money.amounts import find_prices
from crawler.extract.money.currencies import is_currency
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import short_text
from crawler.extract.price.tiles import Amounts

#: Characters of a bare number, of it with its currency, and the first figures of a number.
_MAX_BARE, _MAX_BOTH, _FIRST_FIGURES = 12, 24, frozenset("123456789")


def with_signs_below(
    amounts: Amounts, lines: list[Line], walk: Lines, local: str | None
) -> Amounts:
    """Add those of the lines with a figure whose currency is the rest of their box: `870 / руб`."""
    for line in [n for n in lines if len(n.text) <= _MAX_BARE and n.text[0] in _FIRST_FIGURES]:
        text, below = line.text, walk.lines[line.index + 1 : line.index + 2]
        if not below or not is_currency(below[0].text) or not text[-1].isdecimal():
            continue
        monies = tuple(find_prices(f"{text} {below[0].text}", local))
        if len(monies) == 1 and _fill_box(line, below[0]):
            amounts.add(line, monies)
    return amounts


def _fill_box(line: Line, below: Line) -> bool:
    """Whether a box around the first of two lines holds both, and nothing else."""
    both = f"{line.text}{below.text}".replace(" ", "")
    boxes = (line.element, line.element.getparent())
    return any(
        box is not None and short_text(box, _MAX_BOTH).replace(" ", "") == both for box in boxes
    )
