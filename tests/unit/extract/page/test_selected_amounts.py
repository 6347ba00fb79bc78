"""Amounts that a selector of a site's file finds, of which a design sets the cents apart."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.cleaning.product import clean
from crawler.extract import parse
from crawler.extract.site import Site


class Shop(Site):
    """A shop whose prices are selected."""

    domains = ("a.example",)
    fields = {"name": "h1::text", "price": ".p", "regular_price": ".old"}


@pytest.mark.parametrize(
    ("shown", "price"),
    [
        ("12<sup>99</sup> €", "12.99"),
        ("<b>1.299</b><small>00</small> €", "1299.00"),
        ("$<i>12</i><i class='cents'>99</i>", "12.99"),
        ("12,99 €", "12.99"),
    ],
)
def test_cents_in_an_element_of_their_own_are_cents(shown: str, price: str) -> None:
    html = f"<h1>Lamp</h1><p class='p'>{shown}</p><button>Add to cart</button>"
    page, shop = parse(html.encode(), "https://a.example/p/lamp"), Shop()
    (product,) = shop.products(page, shop.extract(page))
    clean(product, datetime.now(UTC))
    assert str(product.price) == price
