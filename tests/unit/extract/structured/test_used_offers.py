"""Of new and used pieces of one product, the price is that of the new ones."""

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.unit.extract.bodies import H1, found


def offer(price: str, condition: str | None, stock: str = "InStock") -> dict[str, Any]:
    state = {"itemCondition": f"https://schema.org/{condition}Condition"} if condition else {}
    return {
        "@type": "Offer",
        "price": price,
        "priceCurrency": "EUR",
        "availability": f"https://schema.org/{stock}",
    } | state


def price_of(offers: Any) -> Any:
    node = {"@type": "Product", "name": "Red Lamp", "offers": offers}
    return found(
        H1, f'<script type="application/ld+json">{json.dumps(node)}</script>'
    ).fields.get("price")  # fmt: skip


@pytest.mark.parametrize("used", ["Used", "Refurbished", "Damaged"])
def test_a_used_pieces_lower_price_is_not_the_products(used: str) -> None:
    offers = [offer("80.00", used), offer("140.00", "New"), offer("120.00", "New")]
    assert price_of(offers[:2]) == Decimal(140)
    group = {"@type": "AggregateOffer", "lowPrice": "80.00", "priceCurrency": "EUR"}
    assert price_of(group | {"offers": [offers[0], offers[2]]}) == Decimal(120)


@pytest.mark.parametrize(
    "offers",
    [
        [offer("80.00", "Used"), offer("90.00", "Used")],
        [offer("80.00", "Used"), offer("140.00", "New", "OutOfStock")],
        [offer("80.00", "New"), offer("90.00", "New")],
        [offer("80.00", None), offer("90.00", "New")],
    ],
)
def test_else_the_first_offer_counts(offers: list[dict[str, Any]]) -> None:
    assert price_of(offers) == Decimal(80)
