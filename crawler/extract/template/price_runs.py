"""A long run of pages on which nearly all prices fell, or rose far, and no page says why.

A sale marks its prices, lowers a part of them, or lowers them by round percentages. Where nearly
all prices fall by different rates at once, the template shows another price in the price's place:
the cheapest variant's, or that for members. Where nearly all rise by more than a raise, it shows
the price of a pack, of the dearest variant, or of another country. Where many rise and others fall
by half or more, each page shows another product's price, as a broken cache does. The test is
sequential (CUSUM): each page adds to a sum or lowers it, and the sum is never below zero.
"""

from __future__ import annotations

from decimal import Decimal

import attrs

from scrapy_seine.attrs_bases import Record

#: A price that fell to this share, or less, counts; prices of every day move by less.
_FALLEN = Decimal("0.97")
#: A price that rose by the first factor counts, by the second twice; a raise is less.
_RISEN, _FAR_RISEN = Decimal("1.12"), Decimal("1.5")
#: The sum that is reported. In a sale of 30 % of the products, the sum of falls reaches 14 once in
#: 140,000 times; a category of fewer products than that may be on sale.
_MANY = 14
#: The sum from which on each page is compared, and not only a sample.
_FEW = 3
#: A price that rose to this factor, or fell to as small a share, is far from the stored one. Each adds
#: so much to the sum of far prices, which is reported if prices went far in both directions.
_FAR, _FAR_STEP, _MANY_FAR, _MIN_EACH_WAY = 2, 3, 12, 2
#: Rates that differ by less are one rate, about which `mass_changes.proportion` decides.
_MIN_SPREAD = Decimal("0.03")
#: Discounts of sales are multiples of this share.
_SALE_STEP = Decimal("0.05")


@attrs.define(eq=False, repr=False)
class PriceRun(Record):
    """Counts how many prices in a row fell, or rose far, compared with the stored ones."""

    _fallen: int = 0
    _risen: int = 0
    _round: int = 0
    """Those that fell by a round percentage, as in a sale."""
    _rates: tuple[Decimal, ...] = ()
    """The lowest and the highest rate of the prices that fell."""
    _far: int = 0
    """The sum of far prices."""
    _far_up: int = 0
    _far_down: int = 0

    def note(
        self, page_value: Decimal, stored_value: Decimal, *, sale: bool, reduced: bool
    ) -> str | None:
        """Compare a price with the stored one; return what the run says once it is long.

        *sale*: the page marks the stored price as the one before. *reduced*: it marks another one.
        """
        rate = page_value / stored_value
        self._note_far(Decimal(1) if sale or (reduced and rate < 1) else rate)
        if sale or rate == 1:
            self._fallen, self._risen = max(0, self._fallen - 1), max(0, self._risen - 1)
        elif rate > 1:
            self._fallen, step = 0, 2 if rate >= _FAR_RISEN else 1
            self._risen = self._risen + step if rate >= _RISEN else 0
        else:
            self._risen = 0
            if rate <= _FALLEN and not reduced:
                self._note_fall(rate, is_round=_is_round_discount(page_value, stored_value))
        if self._risen >= _MANY:
            return f"nearly all prices rose by a factor of {_RISEN} or more"
        if self._far >= _MANY_FAR and min(self._far_up, self._far_down) >= _MIN_EACH_WAY:
            return f"prices rose and fell by a factor of {_FAR} or more, and no page marks a sale"
        if self._fallen < _MANY or 2 * self._round > self._fallen or not self._has_spread():
            return None
        return "nearly all prices fell by different rates, and no page marks a sale"

    def _note_far(self, rate: Decimal) -> None:
        if rate >= _FAR or rate * _FAR <= 1:
            self._far += _FAR_STEP
            self._far_up, self._far_down = self._far_up + (rate > 1), self._far_down + (rate < 1)
        elif self._far:
            self._far -= 1
        if not self._far:
            self._far_up = self._far_down = 0

    def _note_fall(self, rate: Decimal, *, is_round: bool) -> None:
        if not self._fallen:
            self._round, self._rates = 0, ()
        self._fallen += 1
        self._round += is_round
        self._rates = (min((*self._rates, rate)), max((*self._rates, rate)))

    def _has_spread(self) -> bool:
        """Whether the prices fell by different rates."""
        return self._rates[-1] - self._rates[0] > _MIN_SPREAD

    @property
    def is_begun(self) -> bool:
        """Whether a few prices fell or rose, so that more pages must be compared."""
        return max(self._fallen, self._risen, self._far) >= _FEW


def _is_round_discount(page_value: Decimal, stored_value: Decimal) -> bool:
    """Whether a price is the stored one less a multiple of 5 %, rounded to its own last digit."""
    rounding = Decimal("0.5") if page_value == int(page_value) else Decimal("0.0051")
    share = round(page_value / stored_value / _SALE_STEP) * _SALE_STEP
    return abs(stored_value * share - page_value) <= rounding
