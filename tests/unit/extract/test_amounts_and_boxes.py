"""Amounts whose meaning their boxes, their attributes or the data beside them decide."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from crawler.extract.fields import Fields
from tests.unit.extract.bodies import BUY, H1, URL, found


def _data(offers: object, **more: object) -> str:
    node = {"@type": "Product", "name": "Red Lamp", "offers": offers, **more}
    return f'<script type="application/ld+json">{json.dumps(node)}</script>'


def _offer(price: str, **more: object) -> Fields:
    return {"@type": "Offer", "price": price, "priceCurrency": "EUR", **more}


def test_an_offer_that_repeats_its_list_price_has_the_reduced_one_in_its_specification() -> None:
    specs = [{"price": "49", "priceType": "https://schema.org/ListPrice"}, {"price": "39"}]
    fields = found(H1 + BUY, _data(_offer("49", priceSpecification=specs))).fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(39), Decimal(49))


@pytest.mark.parametrize(("address", "sku"), [("?variant=2", "L-2"), ("?variant=1", "L-1")])
def test_the_number_is_that_of_the_offer_to_which_the_address_leads(address: str, sku: str) -> None:
    offers = [_offer(f"{n}0", sku=f"L-{n}", url=f"{URL}?variant={n}") for n in (1, 2)]
    assert found(H1 + BUY, _data(offers, sku="L-1"), URL + address).fields["sku"] == sku


def test_a_percentage_and_the_amount_behind_it_are_two_numbers() -> None:
    box = "<span class=eski-fiyat>8.999,00 TL</span><span>%17</span><span>7.499,00 TL</span>"
    fields = found(f"{H1}<div>{box}</div>{BUY}", lang="tr").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(7499), Decimal(8999))


def test_the_best_of_several_qualities_is_no_price_before() -> None:
    qualities = "<button>Good £189.00</button><button>Excellent £219.00</button>"
    fields = found(f"{H1}{qualities}<div>£189.00</div>{BUY}").fields
    assert fields["price"] == Decimal(189)
    assert "regular_price" not in fields


def test_the_smallest_order_in_brackets_is_no_rival_of_the_price_of_a_metre() -> None:
    box = "<div class=price>£18.90 / m</div><p>Smallest order 0.5 m (£9.45)</p>"
    assert found(f"{H1}{box}{BUY}").fields["price"] == Decimal("18.90")


def test_a_price_in_attributes_is_that_of_the_box_around_the_heading() -> None:
    other = "<div data-product-price=89.00><a href=/p/b>Blue Lamp</a></div>"
    body = f'<div data-product-price="149.00" data-currency="EUR">{H1}{BUY}</div>{{}}'
    fields = found(body.format(other.replace("=89.00", '="89.00"'))).fields
    assert (fields["price"], fields["currency"]) == (Decimal(149), "EUR")


@pytest.mark.parametrize(("written", "price"), [("14,95 €", "14.95"), ("1.495 €", "1495")])
def test_a_script_counts_in_cents_where_its_text_has_whole_units(written: str, price: str) -> None:
    amount = {"value": 1495, "currency": "EUR", "formatted": written}
    state = {"product": {"title": "Notebook A5", "sku": "NB-5", "price": amount}}
    script = f"<script>window.__DATA__={json.dumps(state)};</script>"
    page = found("<div id=app></div>" + script, "<title>Notebook A5</title>", lang="de")
    assert page.fields["price"] == Decimal(price)
