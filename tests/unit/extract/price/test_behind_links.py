"""An amount behind the link to another product, on the page of a product that cannot be had."""

from __future__ import annotations

import pytest

from crawler.extract import extract, parse
from crawler.extract.fields import Fields


def _read(behind: str, stock: str = "<p>Sold out</p>") -> Fields:
    page = (
        "<html><head><title>Oak lamp | Shop</title></head><body><h1>Oak lamp</h1>"
        f'<img src="/i/oak.jpg" alt="Oak lamp"><p>SKU: LMP-12</p>{stock}{behind}</body></html>'
    )
    return extract(parse(page, "https://www.shop.example/p/oak-lamp")).fields


@pytest.mark.parametrize(
    "behind",
    [
        '<ul><li><a href="/p/red-lamp">Red lamp</a> $15.00</li></ul>',
        '<ul><li><a href="/p/red-lamp">Red lamp</a> $15.00</li>'
        '<li><a href="/p/ash-lamp">Ash lamp</a> $16.00</li></ul>',
        '<div><a href="/p/red-lamp">Next: Red lamp $15.00</a></div>',
    ],
)
def test_a_sold_out_product_has_no_price_of_another_to_which_a_link_leads(behind: str) -> None:
    fields = _read(behind)
    assert (fields.get("price"), fields["availability"]) == (None, "OutOfStock")


@pytest.mark.parametrize(
    "behind",
    [
        '<p><a href="/p/oak-lamp">Oak lamp</a> $15.00</p>',
        '<p><a href="/brand/acme">Acme</a> $15.00</p>',
        '<p><a href="/p/oak-lamp-price">Price:</a> $15.00</p>',
        "<p>$15.00</p>",
    ],
)
def test_a_sold_out_product_keeps_the_price_behind_its_own_or_its_makers_link(behind: str) -> None:
    assert str(_read(behind)["price"]) == "15.00"
