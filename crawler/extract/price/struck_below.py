"""An amount that is marked as the price before a reduction, and is lower than the price.

A template that has swapped the two shows that, or a template that shows the lowest price of 30 days,
which shops must show. Words name the second one.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from crawler.extract.money.amounts import find_prices
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.price.line_amounts import LONGEST_LINE, says_old
from crawler.extract.price.other_amounts import names_lowest
from crawler.extract.price.regular_price import Candidate, is_beside, stands_alone
from crawler.extract.stock.availability import availability_of_text


def struck_below(walk: Lines, candidates: Sequence[Candidate], price: Candidate) -> Decimal | None:
    """Return an amount beside the price that is marked as old without words, and is lower."""
    for c in candidates:
        is_lower = c.old and not c.other and c.money.value < price.money.value
        if not is_lower or c.money.currency != price.money.currency or not is_beside(c, price):
            continue
        if stands_alone(c) and not is_labelled(walk, c.line):
            return c.money.value
    return None


def is_labelled(walk: Lines, line: Line) -> bool:
    """Whether the line before may be an amount's label that calls it the lowest price.

    Headings and amounts are no labels, nor are a stock state and a label with its own value. Words
    that call the amount a list price do not call it the lowest one.
    """
    place = line.index - 1
    while place > 0 and walk.lines[place].flags & _lines.HIDDEN:
        place -= 1
    if place < 0 or place == walk.heading or walk.lines[place].flags & _lines.HEADING:
        return False
    text = walk.lines[place].text[:LONGEST_LINE]
    if names_lowest(text):
        return True
    has_value = ": " in text or availability_of_text(text) is not None
    return not (has_value or says_old(text) or any(find_prices(text)))
