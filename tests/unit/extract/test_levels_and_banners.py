"""Pages with the prices of a shop's levels of membership, or with its banner above the product."""

from decimal import Decimal

import pytest

from tests.unit.extract.bodies import BUY, H1, found

DATA = """<div itemscope itemtype="http://schema.org/Product"><meta itemprop="name" content="Red Lamp">
<div itemprop="offers" itemscope itemtype="http://schema.org/Offer"><meta itemprop="price"
content="4.07"><meta itemprop="priceCurrency" content="USD"></div></div>"""


def _rows(*labels: str) -> str:
    prices = ("3.95", "3.83", "3.71")
    rows = (
        f"<li><b>{label}</b><p class=price>US ${price}</p></li>"
        for label, price in zip(labels, prices, strict=True)
    )
    return f"<li><b>Price:</b><s>US $4.07</s></li>{''.join(rows)}"


@pytest.mark.parametrize(
    "labels",
    [
        ("Bronze Price:", "Silver Price:", "Gold Price:"),
        ("Member price", "VIP price", "Club price"),
    ],
)
def test_the_struck_price_above_those_of_membership_levels_stays_that_of_the_data(labels):
    fields = found(f"{H1}<ul>{_rows(*labels)}</ul>{BUY}{DATA}").fields
    assert fields["price"] == Decimal("4.07")
    assert "regular_price" not in fields


@pytest.mark.parametrize(
    "labels", [("Our price:", "Red:", "Blue:"), ("1 piece", "10 pieces", "50 pieces")]
)
def test_lower_amounts_that_are_no_levels_are_prices_after_a_reduction(labels):
    fields = found(f"{H1}<ul>{_rows(*labels)}</ul>{BUY}").fields
    assert fields["price"] == Decimal("3.95")
    assert fields["regular_price"] == Decimal("4.07")
