"""Find the regular price behind an unknown word right above the price: `Richtpreis 622.00`."""

from __future__ import annotations

import re
from itertools import pairwise

import attrs

from crawler.extract.price.other_amounts import WITH_TAX
from crawler.extract.price.regular_price import Candidate, stands_alone
from crawler.extract.price.words_beside import CALLS_PRICE, holds_word

#: A label of one word.
_ONE_WORD = re.compile(r"\W{0,3}[^\W\d]{4,24}\W{0,3}").fullmatch
#: The highest ratio of the two amounts: an unknown word is no proof of a larger reduction.
_MAX_RATIO = 2


def labelled_above(candidates: list[Candidate]) -> list[Candidate]:
    """Mark an amount behind one word as old, if a lower one stands alone in the next line.

    Not if the word calls the amount the price, or says that the tax is included.
    """
    plain = [c for c in candidates if not c.other]
    if any(c.old for c in plain):
        return candidates
    for upper, lower in pairwise(plain):
        if _is_above(upper, lower):
            return [attrs.evolve(c, old=True) if c is upper else c for c in candidates]
    return candidates


def _is_above(upper: Candidate, lower: Candidate) -> bool:
    high, low = upper.money, lower.money
    if high.currency != low.currency or not low.value < high.value < _MAX_RATIO * low.value:
        return False
    if lower.line.index - upper.line.index != 1 or not stands_alone(lower):
        return False
    label = upper.line.text[: high.start]
    return (
        not holds_word(upper.line.text[high.end :])
        and _ONE_WORD(label) is not None
        and CALLS_PRICE(label) is None
        and WITH_TAX(label) is None
    )
