"""Drop conversions between currencies: `25,00 лв. / 12,78 €`, and rates: `1 € = 7,53450 kn`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from crawler.extract.money.amounts import Money
from crawler.extract.page.lines import PRICE
from crawler.extract.price.alone import are_alone
from crawler.extract.price.regular_price import Candidate, stands_alone

#: Signs between an amount and the same one in another currency.
_SIGNS_BETWEEN = " \u00a0/|()[]≈~=·•-–—"

#: The sign and the amount behind one unit of another currency.
_EQUALS_AMOUNT = re.compile(r"\s?=\s?\D{0,4}\d").match


def without_rates(text: str, monies: Sequence[Money]) -> Sequence[Money]:
    """Drop the amounts of an exchange rate in a text, and those behind them."""
    for place, money in enumerate(monies):
        if money.value == 1 and _EQUALS_AMOUNT(text, money.end):
            return monies[:place]
    return monies


def without_conversions(candidates: list[Candidate], shop_currency: str | None) -> list[Candidate]:
    """Drop the second of two amounts that are the same in two currencies.

    The first is the price, because laws on a change of currency demand that order, unless the
    second is in *shop_currency*, which the shop's structured data name.
    """
    if len({c.money.currency for c in candidates} - {None}) < 2:
        return candidates
    unconverted: list[Candidate] = []
    behind: Candidate | None = None  # the amount of which the next may be a conversion
    for c in candidates:
        if behind is None or not _are_same_amount(behind, c):
            unconverted.append(c)
            behind = c
            continue
        if c.money.currency == shop_currency:
            unconverted[-1] = attrs.evolve(behind, money=c.money, line=c.line)
        behind = None
    return unconverted


def _are_same_amount(amount: Candidate, other: Candidate) -> bool:
    """Whether only signs stand between amounts of two currencies."""
    money, other_money = amount.money, other.money
    if None in {money.currency, other_money.currency} or money.currency == other_money.currency:
        return False
    if amount.line is other.line:
        return not amount.line.text[money.end : other_money.start].strip(_SIGNS_BETWEEN)
    follows = other.line.index - amount.line.index == 1
    ends_line = not amount.line.text[money.end :].strip(_SIGNS_BETWEEN)
    # A price box holds both or none: the line before it may be a number, `SKU: TL15`.
    share_a_box = amount.line.flags & PRICE or not other.line.flags & PRICE
    return bool(follows and ends_line and share_a_box and _stands_behind_signs(other))


def _stands_behind_signs(amount: Candidate) -> bool:
    """Whether a line holds just amounts, or one behind a sign: `/ 9,00 €`."""
    text, money = amount.line.text, amount.money
    begins = not text[: money.start].strip(_SIGNS_BETWEEN)
    return stands_alone(amount) or (begins and are_alone(text[money.start :], money.currency))
