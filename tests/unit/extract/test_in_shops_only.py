"""The stock of what shops sell and the web does not, and of what is ordered before it is there."""

from __future__ import annotations

import pytest

from crawler.items import Product
from tests.unit.extract.bodies import BUY, H1, found

_PRICE = '<p class="price">€ 19.90</p>'
_DATA = """<script type="application/ld+json">{"@type": "Product", "name": "Red Lamp", "offers":
{"price": "19.90", "priceCurrency": "EUR", "availability": "https://schema.org/%s"}}</script>"""


def _product(stock: str, head: str = "") -> Product:
    product = found(f"{H1}<p>Art.nr: 12-B</p>{_PRICE}{stock}", head=head).product()
    assert product is not None
    return product


@pytest.mark.parametrize(
    "words",
    [
        "Nur im Markt erhältlich", "Alleen verkrijgbaar in de winkel", "In-store only", "Enkel in de winkel",
        "Kan kun købes i butikken", "Disponível apenas em loja", "Endast i butik",
    ],
)  # fmt: skip
def test_what_only_shops_sell_is_in_stores_only(words: str) -> None:
    assert _product(f"<p>{words}</p>").availability == "InStoreOnly"


def test_a_shop_s_own_stock_outweighs_that_the_web_has_none() -> None:
    stock = '<div class="stock">Online nicht bestellbar</div><div>Nur im Markt: 3 Stück</div>'
    assert _product(stock).availability == "InStoreOnly"


@pytest.mark.parametrize("state", ["InStock", "OutOfStock"])
def test_data_of_what_only_shops_sell_is_outweighed(state: str) -> None:
    stock = '<p class="stock">Nur im Markt erhältlich</p>'
    assert _product(stock, _DATA % state).availability == "InStoreOnly"


def test_a_button_that_nobody_can_press_does_not_sell_what_only_shops_sell() -> None:
    stock = '<p class="stock">Available in store only</p><button disabled>Add to cart</button>'
    assert _product(stock, _DATA % "InStock").availability == "InStoreOnly"


def test_what_a_button_sells_is_not_in_stores_only() -> None:
    assert _product(f"<p>Gift wrapping in-store only</p>{BUY}").availability == "InStock"


def test_data_s_kind_of_order_is_outweighed_by_the_box_for_the_stock() -> None:
    stock = f'<div class="stock">Disponible sur commande</div>{BUY}'
    assert _product(stock, _DATA % "PreOrder").availability == "BackOrder"


@pytest.mark.parametrize(
    ("words", "stock"),
    [
        ("Special order: ships in 3 weeks", "BackOrder"),
        ("Erscheint am 15. Januar 2027", "PreOrder"),
        ("Pré-reserva", "PreOrder"),
        ("Nabestelling: levertijd 7 werkdagen", "BackOrder"),
    ],
)
def test_words_of_an_order_ahead(words: str, stock: str) -> None:
    assert _product(f'<div class="stock">{words}</div>{BUY}').availability == stock
