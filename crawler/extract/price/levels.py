"""Tell the prices of a shop's levels of membership from a price after a reduction.

A page strikes the price for all above them: "Price 4.07 / Bronze price: 3.95 / Silver price: 3.83".
"""

from __future__ import annotations

from itertools import pairwise

import attrs

from crawler.extract.page.lines import Lines
from crawler.extract.page.page import holds_digit
from crawler.extract.page.places import path
from crawler.extract.price.regular_price import Candidate
from crawler.extract.price.words_around import label_before
from crawler.extract.price.words_beside import CALLS_PRICE, calls_price

#: Levels from which on they are no price and its saving, and lines from one amount to the next.
_MIN_LEVELS, _MAX_LINES = 3, 4


def without_levels(candidates: list[Candidate], walk: Lines) -> list[Candidate]:
    """Mark the amounts of levels below an old price as other ones, and that price as none before."""
    if len(candidates) <= _MIN_LEVELS:
        return candidates
    for place in [n for n, c in enumerate(candidates) if c.old and not c.other]:
        price = candidates[place]
        levels = _levels_below(candidates[place:], walk)
        if len(levels) >= _MIN_LEVELS:
            marked = {id(price): attrs.evolve(price, old=False)}
            marked |= {id(c): attrs.evolve(c, other=True) for c in levels}
            return [marked.get(id(c), c) for c in candidates]
    return candidates


def _levels_below(amounts: list[Candidate], walk: Lines) -> list[Candidate]:
    """Return the amounts behind the first, each lower, in a box like the last, and with a label."""
    levels: list[Candidate] = []
    labels: set[str] = set()
    for before, amount in pairwise(amounts):
        is_next = 0 < amount.line.index - before.line.index <= _MAX_LINES
        if not is_next or amount.old or amount.other or amount.now:
            break
        if amount.money.value >= before.money.value or (
            levels and path(amount.line.element) != path(before.line.element)
        ):
            break
        label = label_before(walk, amount.line).strip(" :：")
        if label in labels or not _names_level(label):
            break
        labels.add(label)
        levels.append(amount)
    return levels


def _names_level(label: str) -> bool:
    """Whether a label has a word for the price, and unknown ones that tell whose price it is.

    >>> _names_level("Bronze price"), _names_level("Our price"), _names_level("Price of 10 pieces")
    (True, False, False)
    """
    words = label.split()
    is_price = any(CALLS_PRICE(word) for word in words)
    return is_price and len(words) > 1 and not (holds_digit(label) or calls_price(label))
