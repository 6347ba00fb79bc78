"""Favour an amount that is repeated, or that stands right beside a price before a reduction."""

from __future__ import annotations

from collections import Counter

import attrs

from crawler.extract.price.alone import near
from crawler.extract.price.regular_price import Candidate

#: The value of each repetition of an amount, in lines of distance, and of all together.
_FAVOUR, _MAX_FAVOUR = 4, 12
#: Lines from a price that words call the one before to the price: a label may stand between.
_MAX_LINES = 2


def favour_reduced(candidates: list[Candidate]) -> list[Candidate]:
    """Lower the cost of an amount right beside a regular price: points and sums have none."""
    old_amounts = [c for c in candidates if c.old and not c.other]
    if not old_amounts or len(candidates) < 3:
        return candidates
    return [
        c
        if c.old or c.other or not any(_is_right_before(old, c) for old in near(old_amounts, c))
        else attrs.evolve(c, cost=c.cost - _MAX_FAVOUR)
        for c in candidates
    ]


def _is_right_before(regular: Candidate, current: Candidate) -> bool:
    distance = abs(regular.line.index - current.line.index)
    # A label of the regular price takes a line of its own.
    is_near = distance <= (_MAX_LINES if regular.says_old else 1) and not current.follows_link
    return is_near and current.money.value < regular.money.value < 5 * current.money.value


def favour_repeated(candidates: list[Candidate]) -> list[Candidate]:
    """Lower the cost of a repeated amount: a price stands in the box, the bar and the summary.

    Other sellers' prices, card offers and sponsored products stand there once each.
    """
    if len(candidates) < 3:
        return candidates
    counts = Counter(c.money.value for c in candidates if not c.old and not c.other)
    if len(counts) < 2 or len(counts) == counts.total():
        return candidates
    return [
        c if c.old or c.other else attrs.evolve(c, cost=c.cost - _favour(counts[c.money.value]))
        for c in candidates
    ]


def _favour(count: int) -> int:
    return min(_MAX_FAVOUR, _FAVOUR * (count - 1))
