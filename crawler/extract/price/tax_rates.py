"""The rates of sales taxes: whether one amount is another with its tax."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from decimal import Decimal

#: The ratios of the amounts with and without tax: the rates of sales taxes, in thousandths.
_RATIOS = tuple(
    Decimal(rate).scaleb(-3)
    for rate in (1050, 1055, 1060, 1070, 1077, 1080, 1081, 1090, 1100, 1110, 1120, 1130, 1140, 1150,
                 1160, 1170, 1180, 1190, 1200, 1210, 1220, 1230, 1240, 1250, 1255, 1270)
)  # fmt: skip
#: The ratios of prices before and after a change of their tax by a few percent.
_CHANGES = tuple(
    sorted(
        {new / old for new in _RATIOS for old in _RATIOS if 0 < abs(new - old) <= Decimal("0.03")}
    )
)
#: No tax makes an amount higher than by this ratio.
MAX_RATIO = Decimal("1.3")
#: The rounding error of amounts with cents.
CENT = Decimal("0.02")
#: Reductions are usual by multiples of so many per cent.
_USUAL_STEP = Decimal("0.05")


def taxed_by(net: Decimal, gross: Decimal, error: Decimal | int = CENT) -> Decimal | None:
    """Return the ratio of a sales tax by which *gross* is *net* and its tax; None if it is none.

    >>> taxed_by(Decimal("46.13"), Decimal("54.90")), taxed_by(Decimal(50), Decimal(90))
    (Decimal('1.190'), None)
    """
    if not net < gross < net * MAX_RATIO:
        return None
    # The first rate that is not too low decides, because the rates behind it are higher.
    place = bisect_left(_RATIOS, gross - error, key=net.__mul__)
    is_rate = place < len(_RATIOS) and net * _RATIOS[place] <= gross + error
    return _RATIOS[place] if is_rate else None


def are_taxed_anew(prices: Sequence[tuple[Decimal, Decimal]], step: Decimal) -> bool:
    """Whether the tax of all goods changed: pairs of a price since and before differ by its rates.

    >>> are_taxed_anew([(Decimal("121.99"), Decimal("120.99"))], Decimal("0.01"))  # 21 %, then 22 %
    True
    >>> are_taxed_anew([(Decimal("131.12"), Decimal("120.99"))], Decimal("0.01"))
    False
    """
    now, before = max(prices, key=lambda pair: pair[1])
    low, high = (now - step) / before, (now + step) / before
    return any(
        all(abs(price * ratio - new) <= step for new, price in prices)
        for ratio in _CHANGES[bisect_left(_CHANGES, low) : bisect_right(_CHANGES, high)]
    )


def may_be_reduction(ratio: Decimal) -> bool:
    """Whether the ratio of two amounts is as usual between the prices before and after a reduction.

    >>> may_be_reduction(Decimal("1.2")), may_be_reduction(Decimal("1.19"))
    (True, False)
    """
    return not ratio % _USUAL_STEP
