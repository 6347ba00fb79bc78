"""Tell an amount in a product's name, as of a coin or a gift card, from its price."""

from __future__ import annotations

from decimal import Decimal

import attrs

from crawler.extract.page.lines import PRICE
from crawler.extract.price.regular_price import OTHER, Candidate


def drop_named(candidates: list[Candidate], heading: int) -> list[Candidate]:
    """Mark the amounts in the name, and their repetitions, as others if a price box has another.

    "5 leva 1892, silver" is a coin, and its face value stands in the table of facts as well.
    """
    named = {c.money.value for c in candidates if c.line.index == heading}
    if not named or not any(_is_asked(c, named) for c in candidates):
        return candidates
    return [
        attrs.evolve(c, other=True, cost=c.cost + OTHER)
        if c.money.value in named and not (c.other or c.line.flags & PRICE)
        else c
        for c in candidates
    ]


def _is_asked(amount: Candidate, named: set[Decimal]) -> bool:
    """Whether an amount that is not in the name stands in a price box or behind "now"."""
    is_plain = not (amount.old or amount.other or amount.money.value in named)
    return is_plain and bool(amount.line.flags & PRICE or amount.now)
