"""An amount that is told in two currencies: `25,00 лв. / 12,78 €`."""

from __future__ import annotations

import attrs

from crawler.extract.price.regular_price import Candidate, stands_alone

#: Signs between an amount and the same one in another currency.
_BETWEEN = " \u00a0/|()[]≈~=·•-–—"


def without_conversions(candidates: list[Candidate], own: str | None) -> list[Candidate]:
    """Leave out the second of the two currencies in which an amount is told.

    The first is the one that is asked, because laws on a change of currency demand that order,
    unless the shop's structured data tell that the second is its *own*.
    """
    if len({c.money.currency for c in candidates} - {None}) < 2:
        return candidates
    kept: list[Candidate] = []
    behind: Candidate | None = None  # what the next amount may be a conversion of
    for c in candidates:
        if behind is None or not _are_one(behind, c):
            kept.append(c)
            behind = c
            continue
        if c.money.currency == own:
            kept[-1] = attrs.evolve(behind, money=c.money, line=c.line)
        behind = None
    return kept


def _are_one(first: Candidate, second: Candidate) -> bool:
    """Whether only signs stand between amounts of two currencies."""
    one, two = first.money, second.money
    if None in {one.currency, two.currency} or one.currency == two.currency:
        return False
    if first.line is second.line:
        return not first.line.text[one.end : two.start].strip(_BETWEEN)
    follows = second.line.index - first.line.index == 1
    ends = not first.line.text[one.end :].strip(_BETWEEN)
    return follows and ends and stands_alone(second)
