"""Structured data with another product's values, with one number or with the shop's name."""

from typing import Any

import orjson
import pytest

from crawler.extract import extract, parse
from crawler.extract.template import Book

_WORDS = ("Amber", "Birch", "Coral", "Denim", "Ebony", "Frost", "Grove", "Hazel", "Ivory", "Jute")
_GOODS = [f"{word} {thing}" for thing in ("Lamp", "Chair", "Rug") for word in _WORDS]
_SHOP = "Corner House"
_LEARNED = 20


def data(number: int, **changed: Any) -> dict[str, Any]:
    """Return the structured data of a product."""
    offer = {"price": 20 + number, "priceCurrency": "EUR", "availability": "InStock"}
    made = {"@type": "Product", "name": _GOODS[number], "sku": f"CH-{number:03}", "offers": offer}
    return {"@context": "https://schema.org", **made, **changed}


def page(number: int, stated: dict[str, Any] | None, heading: str = "", stock: str = "") -> str:
    """Return the page of a product, with any structured data."""
    name = _GOODS[number]
    script = f"<script type='application/ld+json'>{orjson.dumps(stated).decode()}</script>"
    return (
        f"<html lang='en'><head><title>{name} | {_SHOP}</title>{script if stated else ''}</head>"
        f"<body><h1>{heading or name}</h1><p class='price'>{20 + number}.00 EUR</p>"
        f"<p class='state'>{stock or 'In stock'}</p><p>SKU: CH-{number:03}</p>"
        "<button>Add to cart</button></body></html>"
    )


class Reading:
    """A book that has learned a shop's pages, and the pages read since."""

    def __init__(self, **learned: Any) -> None:
        self.told: list[Any] = []
        self.book = Book(self.told.append)
        for number in range(_LEARNED):
            stated = learned["stated"](number) if "stated" in learned else data(number)
            self.read(number, page(number, stated))

    def read(self, number: int, html: str) -> tuple[dict[str, Any], Any]:
        """Return the fields of a page and its judgement."""
        found = extract(parse(html, f"https://shop.example/products/thing-{number}"))
        judged = self.book.judge("shop", found)
        return found.fields, judged


@pytest.mark.parametrize("in_tags", [False, True])
def test_data_of_another_product_are_left_out(in_tags: bool) -> None:
    reading = Reading()
    for number in range(_LEARNED, 29):
        html = page(number, data(29 - number), stock="Sold out")
        tags = f"<meta property='og:title' content='{_GOODS[29 - number]}'>"
        tags += f"<meta property='product:price:amount' content='{49 - number}'>"
        html = html.replace("</head>", f"{tags}</head>") if in_tags else html
        fields, judged = reading.read(number, html)
        read = {name: str(fields.get(name)) for name in ("name", "price", "sku", "external_id")}
        assert read["name"] == _GOODS[number]
        assert read["external_id"] == read["sku"] == f"CH-{number:03}"
        assert float(read["price"]) == 20 + number
        assert fields["availability"] == "OutOfStock"
        assert "name" not in judged.doubts
    assert [d.kind for d in reading.told if d.field == "name"] == ["others"]


def test_data_of_a_product_with_a_shorter_name_are_left_out_once_others_were() -> None:
    reading = Reading()
    for number in range(_LEARNED, 29):
        stated = data(5) if number < 24 else data(number, name=_GOODS[number][:-1], sku="CH-005")
        assert reading.read(number, page(number, stated))[0]["external_id"] == f"CH-{number:03}"
    assert not [d for d in reading.told if d.kind == "dispute"]


def test_data_with_numbers_of_their_own_and_another_name_are_not_left_out() -> None:
    reading = Reading(stated=lambda number: data(number, sku=str(7000 + number)))
    stated = data(21, sku="7021", name="Frosted glass with a stand")
    reading.read(21, page(21, stated))
    assert not [d for d in reading.told if d.kind == "others"]


def test_one_number_of_all_products_is_no_key() -> None:
    reading = Reading()
    keys = [
        reading.read(number, page(number, data(number, sku="DEFAULT-1")))[0]["external_id"]
        for number in range(_LEARNED, 30)
    ]
    assert keys[2:] == [f"CH-{number:03}" for number in range(22, 30)]
    assert not any(d.kind == "repeated" for d in reading.told)


@pytest.mark.parametrize("in_heading", [False, True])
def test_the_shop_s_name_in_place_of_the_product_s_makes_no_stock_doubtful(
    in_heading: bool,
) -> None:
    reading = Reading()
    for number in range(_LEARNED, 30):
        stated = data(number) if in_heading else data(number, name=_SHOP)
        html = page(number, stated, heading=_SHOP if in_heading else "")
        assert "availability" not in reading.read(number, html)[1].doubts


def test_data_that_a_shop_adds_do_not_replace_what_its_pages_say() -> None:
    reading = Reading(stated=lambda number: None)
    offer = {"price": 0, "priceCurrency": "EUR", "availability": "OutOfStock"}
    doubts, stocks = [], []
    for number in range(_LEARNED, 30):
        stated = data(number, offers={**offer, "price": 20 + number})
        fields, judged = reading.read(number, page(number, stated))
        doubts.append(judged.doubts.get("availability"))
        stocks.append(fields["availability"])
    assert doubts[0].kind == "dispute"
    assert stocks[-1] == "InStock"
    assert doubts[-1] is None


def test_right_data_beside_another_kind_of_number_are_read_once_others_were_left_out() -> None:
    reading = Reading()
    reading.read(20, page(20, data(5)))
    html = page(21, data(21, gtin13="5901234123457")).replace("SKU: CH-021", "SKU: 77-4411")
    fields, _ = reading.read(21, html)
    assert fields["gtin"] == "5901234123457"
