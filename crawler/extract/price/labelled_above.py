"""The price before, behind a word that no list holds, right above the price: `Richtpreis 622.00`."""

from __future__ import annotations

import re
from itertools import pairwise

import attrs

from crawler.extract.price.other_amounts import WITH_TAX
from crawler.extract.price.regular_price import Candidate, stands_alone
from crawler.extract.price.words_beside import CALLS_PRICE, holds_word

#: What one word alone labels.
_ONE_WORD = re.compile(r"\W{0,3}[^\W\d]{4,24}\W{0,3}").fullmatch
#: No unknown word is the label of what came down to less than half.
_LEAST = 2


def labelled_above(candidates: list[Candidate]) -> list[Candidate]:
    """Take an amount behind one word for the one before, where a lower one stands alone below it.

    The lower one is asked, unless the word calls the other one the price, or says that tax is in it.
    """
    plain = [c for c in candidates if not c.other]
    if any(c.old for c in plain):
        return candidates
    for one, two in pairwise(plain):
        if _is_above(one, two):
            return [attrs.evolve(c, old=True) if c is one else c for c in candidates]
    return candidates


def _is_above(one: Candidate, two: Candidate) -> bool:
    high, low = one.money, two.money
    if high.currency != low.currency or not low.value < high.value < _LEAST * low.value:
        return False
    if two.line.index - one.line.index != 1 or not stands_alone(two):
        return False
    label = one.line.text[: high.start]
    return (
        not holds_word(one.line.text[high.end :])
        and _ONE_WORD(label) is not None
        and CALLS_PRICE(label) is None
        and WITH_TAX(label) is None
    )
