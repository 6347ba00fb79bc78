"""Rates and fees: in which one way all prices of a make differ from the stored ones."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from itertools import combinations
from math import gcd
from typing import Any, NamedTuple

from crawler.extract.price.tax_rates import are_taxed_anew

#: Different prices that a rate must fit, and the largest share of a price that rounding may be.
_MIN_PRICES, _MAX_ROUNDING = 4, Decimal("0.005")
#: Discounts of sales are multiples of the first; a rate beyond the second is no sale.
_SALE_STEP, _FAR_RATIO = Decimal("0.05"), Decimal("2.5")
#: The largest rate by which a shop raises all its prices at once.
_MAX_RAISE = Decimal("1.09")
#: A fee is more than 1 and than this share of the median price; less is another price ending.
_MIN_FEE = Decimal("0.005")
#: Pages that are compared before a few fees are a change, pages for each of the fees, and the share
#: of pairs of products with different fees of which the dearer one has the lower fee.
_MIN_FEES, _PAGES_OF_FEE, _MIN_FALLING = 12, 3, 0.25
#: Different cents of prices with fees; shops choose prices with fewer.
_MIN_ENDINGS = 3
#: Prices without cents have no endings that tell, so that more pages, and more falling pairs of
#: products, are needed.
_NO_CENTS, _MIN_WHOLE, _MIN_FALLING_WHOLE = {Decimal(0)}, 16, 0.4


class Pair(NamedTuple):
    """The value of a field on a page, and the stored value of its product."""

    page_value: Any
    stored_value: Any
    agreeing: frozenset[str]
    """The page's sources that give the stored value."""


def proportion(pairs: Sequence[Pair]) -> str | None:
    """Return as text the one rate, fee or rounding by which all prices differ from the stored ones."""
    if len({pair.stored_value for pair in pairs}) < _MIN_PRICES:
        return None
    if _lack_cents(pairs):
        return "each price is the stored one without its cents"
    rates = [pair.page_value / pair.stored_value for pair in pairs]
    if min(rates) > _FAR_RATIO or max(rates) < 1 / _FAR_RATIO:
        return "each price is far from the stored one"
    fees = {pair.page_value - pair.stored_value for pair in pairs}
    middle = sorted(pair.stored_value for pair in pairs)[len(pairs) // 2]
    if len(fees) == 1 and abs(fee := fees.pop()) > max(1, _MIN_FEE * middle):
        return f"each price is the stored one and {fee:+}"
    rate = common_rate(pairs)
    if rate is None or is_discount(rate):
        return None
    return f"each price is {rate:.4f} times the stored one"


def _lack_cents(pairs: Sequence[Pair]) -> bool:
    return all(pair.page_value == int(pair.stored_value) != pair.stored_value for pair in pairs)


def common_rate(pairs: Sequence[Pair]) -> Decimal | None:
    """Return the one rate of all prices and the stored ones; None if they have none."""
    page_value, stored_value, _ = max(pairs, key=lambda pair: pair.stored_value)
    rate, step = page_value / stored_value, max(_step(pair.page_value) for pair in pairs)
    rounded = [step / pair.page_value for pair in pairs]
    fits = all(abs(pair.stored_value * rate - pair.page_value) <= step for pair in pairs)
    exact = sum(share <= _MAX_ROUNDING for share in rounded) >= _MIN_PRICES
    return Decimal(rate) if fits and exact else None


def is_discount(rate: Decimal) -> bool:
    """Whether a rate is that of a sale: lower by a round share."""
    return rate < 1 and abs(rate / _SALE_STEP - round(rate / _SALE_STEP)) < _SALE_STEP


def have_few_fees(pairs: Sequence[Pair]) -> bool:
    """Whether all prices are higher by one of a few amounts, which do not grow with the prices.

    A deposit is added then, or the postage of a class of goods. Shops raise dear goods by more, and
    keep to a few endings, as 0.99: the prices of before have as many endings then.
    """
    if len(pairs) < _MIN_FEES:
        return False
    endings, earlier = (
        {_cents(p.page_value) for p in pairs},
        {_cents(p.stored_value) for p in pairs},
    )
    lowest = _MIN_FALLING
    if len(endings) < max(_MIN_ENDINGS, min(len(earlier) + 1, len(pairs) // 2)):
        if earlier != _NO_CENTS or endings != _NO_CENTS or len(pairs) < _MIN_WHOLE:
            return False
        lowest = _MIN_FALLING_WHOLE
    fees = {pair.page_value - pair.stored_value for pair in pairs}
    if min(fees) <= 0 or max(fees) <= 1 or _PAGES_OF_FEE * len(fees) > len(pairs):
        return False
    falling = total = 0
    for one, other in combinations(pairs, 2):
        low, high = sorted((one, other), key=lambda pair: pair.stored_value)
        more = (high.page_value - high.stored_value) - (low.page_value - low.stored_value)
        falling, total = falling + (more < 0), total + (more != 0)
    return lowest * total < falling


def is_raise(pairs: Sequence[Pair]) -> bool:
    """Whether the shop may have changed all prices: by whole percent, a step, or a new tax."""
    if is_raised(pairs) or _is_raised_by_step(pairs):
        return True
    if _lack_cents(pairs) or common_rate(pairs) is None:
        return False
    return are_taxed_anew([pair[:2] for pair in pairs], max(_step(p.page_value) for p in pairs))


def is_raised(pairs: Sequence[Pair], limit: Decimal = _MAX_RAISE) -> bool:
    """Whether all prices were raised by a few whole percent, or such a raise was undone.

    Most taxes are higher, and an exchange rate has more digits.
    """
    step = max(_step(pair.page_value) for pair in pairs)
    low, high = sorted(max(pairs, key=lambda pair: pair.stored_value)[:2])
    rate = Decimal(high / low).quantize(Decimal("0.01"))
    return 1 < rate <= limit and all(
        abs(min(pair[:2]) * rate - max(pair[:2])) <= step * rate for pair in pairs
    )


def _is_raised_by_step(pairs: Sequence[Pair]) -> bool:
    """Whether all prices were raised to the next one or two of those that the shop has.

    Of prices such as 24.99, 29.99 and 34.99, a raise of 3 % makes the next one. A few prices may be
    further apart than the shop's are.
    """
    fees = {pair.page_value - pair.stored_value for pair in pairs}
    fee, lowest = min(fees), min(pair.stored_value for pair in pairs)
    if len(fees) > 1 or not 0 < fee < lowest:
        return False
    distances = [int(100 * (pair.stored_value - lowest)) for pair in pairs]
    step = gcd(*distances)
    return step > 0 and 100 * fee in {step / 2, step, 2 * step}


def _cents(price: Decimal) -> Decimal:
    """Return a price without its whole units, however large it is."""
    return price - price.to_integral_value(ROUND_FLOOR)


def _step(price: Decimal) -> Decimal:
    """Return the smallest step of a price: 0.01, or 1 where the price has no cents."""
    return Decimal(1) if price == price.to_integral_value() else Decimal("0.01")
