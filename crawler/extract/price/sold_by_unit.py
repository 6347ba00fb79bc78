"""Take the price of a unit as the price, where the shop sells the product by that unit."""

from __future__ import annotations

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.page.lines import PRICE
from crawler.extract.price.per_unit import counts_use, measures
from crawler.extract.price.regular_price import OTHER, Candidate, is_beside, is_struck
from crawler.extract.price.sentences import ends_sentence

#: How much less the price of a unit costs than any amount outside of price boxes: a price stands
#: beside the price of its unit, and the amounts of reviews and deliveries stand further away.
_MIN_LEAD = 25
#: Numbers of pieces beside an amount.
_NUMBERS = lazy_patterns.pattern(r"(?<![\d.,])[2-9](?![\d.,]*\d)|(?<![\d.,])\d\d(?![\d.,]*\d)")
#: The highest ratio of the two amounts of a reduction.
_MAX_RATIO = 5


def accept_unit(candidates: list[Candidate], name: str) -> list[Candidate]:
    """Unmark the amount for a unit, and the one before its reduction, if no price is near.

    Tiles are sold by the square metre, fabrics by the metre, tyres by the piece. What several
    pieces cost together, "394 € for 4" beside "98,50 € / tyre", is another amount, unless the
    product's *name* is that of a set.
    """
    units = [c for c in candidates if c.unit and not (c.old or counts_use(c.unit))]
    if not units:
        return candidates
    unit = min(units, key=lambda c: c.cost)
    cost = unit.cost - OTHER
    # "1 pack = 1.44 m² = 32.40": the sum of a pack, which the choice of a quantity repeats.
    sums = {c.money.value for c in candidates if c.line.text[: c.money.start].rstrip()[-1:] == "="}
    rivals = [
        c
        for c in candidates
        if not (c.other or _is_before(c, unit) or ends_sentence(c) or _is_of_several(c, unit, name))
        and not _is_remark(c)
        and (c.line.flags & PRICE or c.money.value not in sums)
    ]
    # Of two amounts for one unit, either may be another product's.
    rivals += [
        attrs.evolve(c, cost=c.cost - OTHER)
        for c in units
        if c.unit == unit.unit and c.money.value != unit.money.value
    ]
    if any(c.cost < cost + (OTHER if c.line.flags & PRICE else _MIN_LEAD) for c in rivals):
        return candidates
    return [
        attrs.evolve(c, other=False, cost=c.cost - OTHER)
        if c is unit or (c.unit and _is_before(c, unit))
        else attrs.evolve(c, other=True, cost=c.cost + OTHER)
        if not c.other and _is_of_several(c, unit, name)
        else c
        for c in candidates
    ]


def _is_remark(amount: Candidate) -> bool:
    """Whether an amount outside of price boxes stands in brackets: `Smallest order 0.5 m (9 €)`."""
    before = amount.line.text[: amount.money.start].rstrip()
    return before[-1:] == "(" and len(before) > 1 and not amount.line.flags & PRICE


def _is_of_several(amount: Candidate, unit: Candidate, name: str) -> bool:
    """Whether an amount is that of one unit times a number that its line has, and the name has not.

    A number of kilograms or metres is the quantity that is sold.
    """
    value = unit.money.value
    if not value or amount.money.value < 2 * value or amount.money.value % value:
        return False
    if measures(unit.unit):
        return False
    text, money = amount.line.text, amount.money
    words = f"{text[: money.start]} {text[money.end :]}"
    number = str(int(amount.money.value / value))
    return number in _NUMBERS.findall(words) and number not in _NUMBERS.findall(name)


def _is_before(amount: Candidate, unit: Candidate) -> bool:
    """Whether an amount is surely the price before the reduction to that of a unit."""
    is_old = amount.old and (amount.says_old or amount.unit != "" or is_struck(amount))
    value = unit.money.value
    return is_old and is_beside(amount, unit) and value < amount.money.value < value * _MAX_RATIO
