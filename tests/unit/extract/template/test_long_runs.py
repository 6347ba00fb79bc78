"""What is remembered of a site stays right, however many of its pages are read."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.extract import parse
from crawler.extract.template.addresses import Addresses
from crawler.extract.template.observation import Observation
from crawler.extract.template.place_search import Mender, _Search


def test_the_addresses_of_products_are_known_still_after_many_other_shapes() -> None:
    addresses = Addresses()
    for number in range(30):
        addresses.note("shop", f"https://a.example/items/{number}")
    letters = "abcdefghijklmnop"
    for folder in (first + second for first in letters for second in letters):
        assert not addresses.is_product_address("shop", f"https://a.example/{folder}/7")
    assert addresses.is_product_address("shop", "https://a.example/items/99")


def test_the_addresses_of_a_site_that_is_read_are_known_still_after_many_other_sites() -> None:
    addresses = Addresses()
    for number in range(30):
        addresses.note("shop", f"https://a.example/items/{number}")
    for number in range(499):
        addresses.note(f"other {number}", "https://b.example/items/1")
    addresses.note("shop", "https://a.example/items/30")
    addresses.note("the last", "https://b.example/items/1")
    assert addresses.is_product_address("shop", "https://a.example/items/99")


def test_a_price_that_all_products_share_is_searched_on_any_number_of_pages() -> None:
    search = _Search()
    for number in range(1_500):
        search.add(Decimal("9.99"), ["0 1 p"] if number % 10 < 7 else [])
        assert search.place() is None


@pytest.mark.parametrize(("currency", "believed"), [(None, False), ("GBP", True)])
def test_a_currency_is_believed_by_stored_ones_and_not_by_their_lack(
    currency: str | None, believed: bool
) -> None:
    mender, moves = Mender(), []
    observations = {
        "availability": Observation(None, None, {}, None),
        "currency": Observation(currency, currency and "text", {}, None),
    }
    for number in range(12):
        url = f"https://shop.example/p/{number}"
        page = parse("<html><body><h1>Lamp</h1><p>12.00</p></body></html>", url)
        mender.note(page, observations, frozenset({"currency"}), {"price": Decimal(12)})
        moves += mender.recall(url, {"currency": currency, "price": "12.00"})
    assert (("currency", None) in moves) is believed
