"""Tell amounts by what stands above: an unknown word before the price, the head of a column.

`Richtpreis 622.00` above the price is the regular one; an amount below "Postage" is none.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise

import attrs

from crawler.extract.page.lines import BUTTON, LABEL, LINK
from crawler.extract.page.page import Element, short_text
from crawler.extract.price.other_amounts import WITH_TAX, is_other
from crawler.extract.price.regular_price import OTHER, Candidate, stands_alone
from crawler.extract.price.words_beside import CALLS_PRICE, holds_word

#: A label of one word.
_ONE_WORD = re.compile(r"\W{0,3}[^\W\d]{4,24}\W{0,3}").fullmatch
#: The highest ratio of the two amounts: an unknown word is no proof of a larger reduction.
_MAX_RATIO = 2
#: Boxes that choose a variant.
_CHOICES = BUTTON | LABEL | LINK
#: Characters of a column's head.
_MAX_HEAD = 40
#: Columns of a table that are looked at.
_MAX_COLUMNS = 50
#: Lines from a price without its costs to the sum.
_MAX_SUM_LINES = 6


def _add_up(candidates: list[Candidate]) -> list[Candidate]:
    """Mark a price without its costs as another amount if their sum is called a price as well.

    `Selling price 7,699 / Handling 595 / Sales price 8,294`. A total with postage is no price.
    """
    for first, second, third in zip(candidates, candidates[1:], candidates[2:], strict=False):
        if (
            second.other
            and third.money.value == first.money.value + second.money.value
            and third.money.currency == first.money.currency
            and 0 < third.line.index - first.line.index <= _MAX_SUM_LINES
            and not (first.old or third.old)
            and all(CALLS_PRICE(c.line.text[: c.money.start].strip(" :")) for c in (first, third))
        ):
            net = attrs.evolve(first, other=True, cost=first.cost + OTHER)
            paid = attrs.evolve(third, other=False, now=True, cost=min(first.cost, third.cost))
            return [net if c is first else paid if c is third else c for c in candidates]
    return candidates


def labelled_above(candidates: list[Candidate]) -> list[Candidate]:
    """Mark an amount behind one word as old, if a lower one stands alone in the next line.

    Not if the word calls the amount the price, or says that the tax is included. Amounts below a
    column's head for postage are marked as other ones.
    """
    if "td" in [c.line.element.tag for c in candidates]:
        candidates = [
            attrs.evolve(c, other=True, cost=c.cost + OTHER) if _is_below_other_head(c) else c
            for c in candidates
        ]
    plain = [c for c in candidates if not c.other]
    if len(plain) < len(candidates) > 2:
        candidates = _add_up(candidates)
        plain = [c for c in candidates if not c.other]
    if any(c.old for c in plain):
        return candidates
    for upper, lower in pairwise(plain):
        if lower.line.index - upper.line.index == 1 and _is_above(upper, lower):
            return [attrs.evolve(c, old=True) if c is upper else c for c in candidates]
    return candidates


def _is_below_other_head(amount: Candidate) -> bool:
    """Whether just the head of an amount's column makes it another one than the price."""
    cell = amount.line.element
    head = _head_of(cell) if cell.tag == "td" and not amount.other else None
    return head is not None and is_other(short_text(head, _MAX_HEAD).lower())


def _head_of(cell: Element) -> Element | None:
    """Return the head of a cell's column in a table's first row; None if it has none."""
    row = cell.getparent()
    cells = [*islice(row, _MAX_COLUMNS)] if row is not None else []
    rows = row.getparent() if len(cells) > 2 and cell in cells else None
    if rows is None:
        return None
    above = rows.getprevious()
    heads = above[0] if above is not None and above.tag == "thead" and len(above) else rows[0]
    columns = [*islice(heads, _MAX_COLUMNS)]
    place = cells.index(cell)
    is_head = len(columns) == len(cells) and columns[place].tag == "th"
    return columns[place] if is_head else None


def _is_above(upper: Candidate, lower: Candidate) -> bool:
    high, low = upper.money, lower.money
    if high.currency != low.currency or not low.value < high.value < _MAX_RATIO * low.value:
        return False
    if upper.line.flags & _CHOICES:
        return False  # the last of several qualities
    if not stands_alone(lower):
        return False
    label = upper.line.text[: high.start]
    return (
        not holds_word(upper.line.text[high.end :])
        and _ONE_WORD(label) is not None
        and CALLS_PRICE(label) is None
        and WITH_TAX(label) is None
    )
