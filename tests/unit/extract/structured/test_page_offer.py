"""Which of several offers and variants in data is the page's, and a stale price of OpenGraph."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from crawler.extract import Found
from crawler.extract.shown_price import stated_source, take_stated_price
from tests.unit.extract.bodies import BUY, H1, URL, found

TAGS = (
    '<meta property="og:type" content="product">'
    '<meta property="product:price:amount" content="39">'
    '<meta property="product:price:currency" content="EUR">'
)
REDUCED = "<div class=price><del>60,00 €</del> <ins>45,00 €</ins></div>"
ATTRIBUTE = '<div class=price><span content="45.00">45,00 €</span></div>'
PLAIN = "<div class=price>45,00 €</div>"


def _offer(price: str, **more: str) -> dict[str, str]:
    return {"@type": "Offer", "price": price, "priceCurrency": "EUR", **more}


def _data(**more: Any) -> str:
    node = {"@type": "Product", "name": "Red Lamp", **more}
    return f'<script type="application/ld+json">{json.dumps(node)}</script>'


@pytest.mark.parametrize(
    ("numbers", "price"),
    [(("L-1", "L-2"), "45"), (("L-2", "L-2"), "39"), (("L-1", "L-3"), "39")],
    ids=["one has it", "both have it", "none has it"],
)
def test_the_only_offer_with_the_products_number_is_the_pages(numbers, price) -> None:
    offers = [_offer("39", sku=numbers[0]), _offer("45", sku=numbers[1])]
    assert found(H1 + BUY, _data(sku="L-2", offers=offers)).fields["price"] == Decimal(price)


def _of_variants(body: str, url: str = URL) -> Found:
    variants = [
        {"@type": "Product", "name": f"Red Lamp {size}", "sku": size, "offers": _offer(price)}
        for size, price in (("S", "39"), ("L", "45"))
    ]
    group = {"@type": "ProductGroup", "hasVariant": variants}
    return found(f"{H1}{body}{BUY}", _data(**group), url=url)


def test_the_variant_with_the_price_beside_the_name_is_the_pages() -> None:
    assert _of_variants(PLAIN).fields["price"] == Decimal(45)


def test_a_price_of_no_variant_one_behind_from_and_one_far_away_are_not_the_variants() -> None:
    assert _of_variants(PLAIN.replace("45", "50")).fields["price"] == Decimal(39)
    cheapest = PLAIN.replace("45,00", "From 45,00")
    assert _of_variants(cheapest).fields["price"] == Decimal(39)
    words = "<p>More of it</p>" * 20
    assert _of_variants(words + PLAIN).fields["price"] == Decimal(39)


def test_a_query_names_the_variant_whatever_price_the_page_shows_first() -> None:
    assert _of_variants(PLAIN, f"{URL}?size=S").fields["price"] == Decimal(39)


@pytest.mark.parametrize("shown", [REDUCED, ATTRIBUTE], ids=["reduced", "in an attribute"])
def test_a_stale_price_of_open_graph_alone_gives_way_to_the_one_beside_the_name(shown) -> None:
    fields = found(f"{H1}{shown}{BUY}", TAGS, lang="de").fields
    assert (fields["price"], fields["currency"]) == (Decimal(45), "EUR")


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (TAGS, PLAIN),
        (TAGS, f"{REDUCED}<p>39,00 €</p>"),
        (TAGS + _data(offers=_offer("39")), ATTRIBUTE.replace("content", "title")),
    ],
    ids=["nothing says which is right", "the page shows both", "JSON-LD has it, too"],
)
def test_a_price_of_open_graph_stays_where_it_may_be_right(head, body) -> None:
    assert found(f"{H1}{body}{BUY}", head, lang="de").fields["price"] == Decimal(39)


def test_the_price_of_open_graph_is_taken_again_where_other_pages_decide() -> None:
    result = found(f"{H1}{REDUCED}{BUY}", TAGS, lang="de")
    assert result.outweighs_data
    assert stated_source(result.offered) == "opengraph"
    take_stated_price(result.fields, result.sources, result.offered)
    assert (result.fields["price"], result.sources["price"]) == (Decimal(39), "opengraph")
    assert "regular_price" not in result.fields
