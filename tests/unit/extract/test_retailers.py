"""Pages as large and mid-sized retailers have them: boxes, data and words of their own templates."""

from decimal import Decimal

import pytest

from crawler.extract.stock.availability import buys
from tests.unit.extract.bodies import BUY, H1, found


def _data(price="12", currency="EUR", stock="InStock"):
    return (
        '<script type="application/ld+json">{"@type": "Product", "name": "Red Lamp", "offers": '
        f'{{"price": "{price}", "priceCurrency": "{currency}", "availability": "{stock}"}}}}</script>'
    )


def test_a_sidebar_named_after_the_price_is_the_products_own():
    body = f"{H1}<p>Oak.</p><div class=price-sidebar><div class=price>12,50 €</div>{BUY}</div>"
    assert found(body).fields["price"] == Decimal("12.50")


def test_a_source_that_loses_its_price_loses_a_currency_that_the_page_does_not_show():
    body = f"{H1}<div class=price><s>was £65.00</s><b class=price-sales>now £39.00</b></div>{BUY}"
    fields = found(body, _data("65", "USD")).fields
    assert (fields["price"], fields["currency"]) == (Decimal(39), "GBP")


def test_a_price_that_words_call_net_is_dropped_without_a_box_for_the_price():
    body = f"{H1}<ul><li><h2>219,00 zł</h2><li>Netto: 178,05 zł</ul>{BUY}"
    assert found(body, _data("178.05", "PLN"), lang="pl").fields["price"] == Decimal(219)


def test_the_price_of_a_pack_counts_and_that_of_a_unit_in_brackets_does_not():
    body = f"{H1}<div class=price>$42.99 /carton<div>($4.30/ream)</div></div>{BUY}"
    assert found(body).fields["price"] == Decimal("42.99")


def test_a_cartridge_is_no_cart():
    body = f"{H1}<p>Cartridge $48.89</p><p>Sample in a jar $5.00</p>{BUY}"
    assert found(body).fields["price"] == Decimal("48.89")


@pytest.mark.parametrize(
    ("words", "currency"),
    [
        ("Prices are in AUD and include GST", "AUD"),
        ("Prices in AUD or USD", "USD"),
        ("We ship to AUD and CAD countries", "USD"),
    ],
)
def test_the_terms_of_a_page_name_the_dollars_of_its_prices(words, currency):
    body = f"{H1}<div class=price>$29.95</div>{BUY}<p>{words}</p>"
    assert found(body).fields["currency"] == currency


@pytest.mark.parametrize(
    ("words", "button", "stated", "stock"),
    [
        ("<li>Availability: Backorder</li>", BUY, "InStock", "BackOrder"),
        ("<li>Availability: Ships in a day</li>", BUY, "InStock", "InStock"),
        ("<p>This item has been discontinued.</p>", "", "InStock", "Discontinued"),
        ("<p>The older lamp has been discontinued.</p>", BUY, "InStock", "InStock"),
        ("<p class=stock>Available on backorder</p>", BUY, "OutOfStock", "BackOrder"),
        ("<p>Available on backorder</p>", BUY, "OutOfStock", "OutOfStock"),
        ("<p class=delivery--information>Backorder</p>", BUY, "InStock", "BackOrder"),
        ("", "<button>Pre-order now</button>", "InStock", "PreOrder"),
        ("", f"{BUY}<a href=/x>Lamp 2</a><button>Pre-order</button>", "InStock", "InStock"),
        ("", "<input type=submit value='Pre-order now'>", "InStock", "PreOrder"),
        ("<b>Availability:</b> Back ordered - ships in 4-6 weeks", BUY, "InStock", "BackOrder"),
    ],
)
def test_what_the_page_says_of_the_stock_outweighs_two_states_of_its_data(
    words, button, stated, stock
):
    body = f"{H1}<div class=price>12.00 €</div>{words}{button}"
    assert found(body, _data(stock=stated)).fields["availability"] == stock


def test_an_address_that_ends_in_p_is_a_products():
    body = f"{H1}<p>Ref.: L1200-220</p><p>Produto indisponível</p>"
    assert found(body, url="https://shop.example/red-lamp/p").kind == "product"
    assert found(body, url="https://shop.example/red-lamp").kind == "other"


def test_a_list_of_wishes_is_no_cart():
    assert not buys("Aggiungi alla lista dei desideri")
    assert buys("Aggiungi al carrello")


def test_the_stock_in_a_box_outweighs_data_beside_a_button_that_is_disabled():
    body = f"{H1}<div class=price>12.00 €</div><p class=stock>Out of stock</p>"
    off = "<button disabled>Add to cart</button>"
    assert found(body + off, _data()).fields["availability"] == "OutOfStock"


@pytest.mark.parametrize(
    ("buttons", "stock"),
    [
        ("<button>Add to cart</button><button>Buy now</button>", "InStock"),
        ("<button>Pre-order now</button>", "PreOrder"),
        ("<button disabled>Add to cart</button>", None),
        ("<button>Add to cart</button><button>Add to cart</button>", None),
        ("<header><nav><a href=/>Home</a></nav><button>Buy now</button></header>", None),
    ],
)
def test_buttons_below_the_pictures_before_the_name_sell_the_product(buttons, stock):
    body = f"<div><img alt=Lamp>{buttons}</div>{H1}<div class=price>₹1,299</div><p>Available offers"
    assert found(body).fields.get("availability") == stock


def test_a_heading_in_a_tiles_link_is_not_the_name_beside_a_price():
    tiles = "".join(
        f"<li><a href=/p/{n}><h3>Acme</h3><p>Lamp {n}</p></a><p class=price{n // 3}>$ {n}2.00</p>"
        for n in range(1, 6)
    )
    page = found(f"<h2>Night sale</h2><ul>{tiles}</ul>", url="https://shop.example/store/home")
    assert page.offered["text"].get("name") != "Acme"
