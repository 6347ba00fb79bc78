"""Words for the stock: what denies them, and the day from which they hold."""

from __future__ import annotations

import pytest

from crawler.extract import extract, parse
from crawler.extract.stock.availability import availability, availability_of_text


@pytest.mark.parametrize(
    "text",
    [
        "Not sold out",
        "This item is not out of stock",
        "Never out of stock",
        "No longer unavailable",
        "Noch nicht ausverkauft",
        "Niet uitverkocht",
        "不缺货",
    ],
)
def test_denied_words_for_nothing_in_stock_say_nothing_of_it(text: str) -> None:
    assert availability_of_text(text) is None


@pytest.mark.parametrize(
    "text", ["Not available - sold out", "Nicht verfügbar, ausverkauft", "Sorry, sold out"]
)
def test_a_denial_of_something_else_leaves_a_product_sold_out(text: str) -> None:
    assert availability_of_text(text) == "OutOfStock"


@pytest.mark.parametrize(
    "text",
    [
        "Available from 12 March",
        "Available again from 2027-03-12",
        "Available: from March 12, 2027",
        "Disponible dès le 12.5.",
        "Wieder lieferbar ab dem 12. Mai 2027",
        "Voraussichtlich ab 12. Mai lieferbar",
        "Disponible à partir du 12 mai",
        "Disponible a partir del 12 de mayo",
        "Leverbaar vanaf 12 mei",
        "Will be in stock on 12 May",
    ],
)
def test_what_is_available_from_a_day_on_may_not_be_yet(text: str) -> None:
    assert availability_of_text(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Expected in stock 12 May",
        "Expected back in stock: 3 weeks",
    ],
)
def test_what_is_expected_is_not_in_stock(text: str) -> None:
    assert availability_of_text(text) == "OutOfStock"


@pytest.mark.parametrize(
    "text",
    [
        "In stock, delivery from 12 May",
        "Available from £12.50",
        "Available from stock",
        "Lieferbar ab 12 Stück",
        "Lieferbar ab 12.50 €",
        "Lieferbar in 2-3 Tagen",
        "Available until 12 May",
    ],
)
def test_what_no_day_begins_is_in_stock(text: str) -> None:
    assert availability_of_text(text) == "InStock"


@pytest.mark.parametrize("code", ["TEMPORARILY_OUT_OF_STOCK", "NOT_IN_STOCK"])
def test_underlines_divide_the_words_of_a_code(code: str) -> None:
    assert availability(code) == "OutOfStock"


@pytest.mark.parametrize("hyphen", ["\u00ad", "&shy;", "&#173;"])
def test_a_word_with_soft_hyphens_is_found(hyphen: str) -> None:
    html = (
        f"<h1>Eichen{hyphen}lampe</h1><p class=price>49 €</p><p class=stock>Aus{hyphen}verkauft</p>"
    )
    found = extract(parse(f"<html lang=de>{html}</html>".encode(), "https://a.example/p/lampe"))
    assert found.fields["availability"] == "OutOfStock"
    assert found.fields["name"] == "Eichenlampe"


@pytest.mark.parametrize(
    ("words", "stock"),
    [
        ("stock in-stock", "InStock"),
        ("stock is-in-stock", "InStock"),
        ("stock not-in-stock", "OutOfStock"),
        ("stock out-of-stock", "OutOfStock"),
        ("stock back-in-stock", None),
        ("stock hide-if-in-stock", None),
        ("stock never-out-of-stock", None),
        ("stock no-preorder", None),
    ],
)
def test_a_class_that_denies_a_state_does_not_name_it(words: str, stock: str | None) -> None:
    html = f"<h1>Lamp</h1><p class=price>49 €</p><p class='{words}'>Zzyzx</p>"
    found = extract(parse(f"<html>{html}</html>".encode(), "https://a.example/p/lamp"))
    assert found.offered["text"].get("availability") == stock


@pytest.mark.parametrize(
    "text",
    ["Rød knapper 5 stk", "Rote Knöpfe 5 Stk.", "Batterier AA 12 stk pakke", "Knapper (5 stk)"],
)
def test_a_number_of_pieces_in_a_name_says_nothing_of_the_stock(text: str) -> None:
    """What was sold out became available, because a pack of five was taken for five in stock."""
    assert availability_of_text(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Ab März wieder lieferbar",
        "Vanaf maart weer leverbaar",
        "Available from September",
        "Made to order in 4 weeks",
        "Fabriqué à la commande, 4 semaines",
        "Valmistetaan tilauksesta, 4 viikkoa",
        "Utánrendelés alatt, 3 hét",
    ],
)
def test_a_month_to_come_and_a_piece_made_to_order_are_a_back_order(text: str) -> None:
    assert availability_of_text(text) == "BackOrder"


@pytest.mark.parametrize("text", ["Available from May 2019", "Available from Marks & Sons"])
def test_a_past_month_and_a_seller_say_nothing_of_a_delay(text: str) -> None:
    assert availability_of_text(text) != "BackOrder"
