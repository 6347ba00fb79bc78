"""Decide which amounts that words call old are the price before a reduction."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from itertools import islice

import attrs

from crawler.extract.page import lines as _lines
from crawler.extract.price.alone import near
from crawler.extract.price.line_amounts import says_old
from crawler.extract.price.lone_tiles import LONGEST_TILE_PRICE
from crawler.extract.price.other_amounts import RANGE
from crawler.extract.price.regular_price import OTHER, Candidate, is_struck
from crawler.extract.price.sentences import ends_sentence

#: Boxes around an amount whose classes may call it regular.
_MAX_BOXES = 2
#: Lines between a sentence and the price that it is about.
_MAX_SENTENCE_LINES = 1
#: Lines from the price before to the price behind its label.
_MAX_REDUCED_LINES = 3
#: Characters before an amount that may call it old: "the maker's recommended retail price".
MAX_OLD_WORDS = 50


def unmark_old(candidates: list[Candidate]) -> list[Candidate]:
    """Mark amounts that words call old, and that are no price before a reduction, as what they are."""
    if not [c for c in candidates if c.says_old]:
        return candidates
    return _drop_old_in_prose(_unmark_lone(candidates))


def is_surely_old(amount: Candidate) -> bool:
    """Whether a mark, and words or a strike element as well, say that an amount is old."""
    return bool(amount.line.flags & _lines.OLD) and (amount.says_old or is_struck(amount))


def _unmark_lone(candidates: list[Candidate]) -> list[Candidate]:
    """Mark an amount with a label of both prices as the price, if no lower one stands beside it.

    "Retail price" labels both as well, where the page has the saving from a higher amount.
    """
    savings = sorted({c.money.value for c in candidates if c.other})
    return [
        attrs.evolve(c, old=False, says_old=False)
        if c.says_old
        and (c.called or _is_reduced_by_saving(c, candidates, savings))
        and not (c.line.flags & _lines.OLD or _has_lower_beside(c, candidates))
        else c
        for c in candidates
    ]


def _is_reduced_by_saving(
    amount: Candidate, candidates: list[Candidate], savings: Sequence[Decimal]
) -> bool:
    """Whether a higher amount stands beside one, and their difference is one of sorted savings.

    Shops round it: 216 before 156.50 saves 60.
    """
    return bool(savings) and any(
        not c.other
        and _holds_about(savings, c.money.value - amount.money.value)
        and 0 < c.line.index - amount.line.index <= _MAX_REDUCED_LINES
        for c in near(candidates, amount)
    )


def _holds_about(values: Sequence[Decimal], value: Decimal) -> bool:
    """Whether one of sorted values differs from another value by less than one unit."""
    place = bisect_right(values, value - 1)
    return place < len(values) and values[place] < value + 1


def _has_lower_beside(amount: Candidate, candidates: list[Candidate]) -> bool:
    """Whether another amount near one is lower, and so the price after the reduction."""
    return any(
        not (c.old or c.other)
        and c.money.value < amount.money.value
        and abs(c.line.index - amount.line.index) <= _MAX_REDUCED_LINES
        for c in near(candidates, amount)
    )


def _drop_old_in_prose(candidates: list[Candidate]) -> list[Candidate]:
    """Mark an old price as another amount, if only a sentence far from all prices calls it old.

    A description may have the price in other shops, or of the new product.
    """
    priced = [c.line.index for c in candidates if c.line.flags & _lines.PRICE and not c.says_old]
    return [
        c
        if not c.says_old
        or c.line.flags & _lines.OLD
        or not ends_sentence(c)
        or (len(c.line.text) <= LONGEST_TILE_PRICE and _has_lower_beside(c, candidates))
        or any(abs(c.line.index - place) <= _MAX_SENTENCE_LINES for place in priced)
        or any(o.line is c.line and not (o.says_old or o.other) for o in candidates)
        else attrs.evolve(c, old=False, other=True, cost=c.cost + OTHER)
        for c in candidates
    ]


def split_old(candidates: list[Candidate], *, behind: bool) -> list[Candidate]:
    """Mark only those amounts of a struck line as old that words call so, if they call any so.

    `<b>129,99 €</b><s>UVP 199,00 €</s>` is one line. The words may stand *behind* each amount.
    """
    ends = [0, *(c.money.end for c in candidates)]
    are_old = [
        c.says_old
        if behind
        else says_old(c.line.text[end : c.money.start][-MAX_OLD_WORDS:].strip())
        for c, end in zip(candidates, ends, strict=False)
    ]
    if not any(are_old):
        return candidates
    return [attrs.evolve(c, old=is_old) for c, is_old in zip(candidates, are_old, strict=True)]


def spread_other(candidates: list[Candidate]) -> list[Candidate]:
    """Mark the upper end of a range as another amount if the lower end is one: "Estimate 150-200"."""
    spread = candidates[:1]
    for c in candidates[1:]:
        lower = spread[-1]
        is_range = lower.other and RANGE.match(c.line.text[lower.money.end : c.money.start])
        spread.append(
            attrs.evolve(c, other=True, cost=c.cost + OTHER) if is_range and not c.other else c
        )
    return spread


def is_below_price(old: Candidate, price: Candidate) -> bool:
    """Whether an amount that a class calls regular is less than the price, so that it is not old."""
    boxes = (old.line.element, *islice(old.line.element.iterancestors(), _MAX_BOXES))
    if not any("regular" in (box.get("class") or "") for box in boxes):
        return False
    is_less = old.money.value < price.money.value and old.cost < price.cost
    is_first = old.line.index < price.line.index and not price.line.flags & _lines.PRICE
    return is_less and is_first and not (old.says_old or is_struck(old))
