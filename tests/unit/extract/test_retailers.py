"""Pages as large and mid-sized retailers have them: boxes, data and words of their own templates."""

from decimal import Decimal

import pytest

from crawler.extract import extract, parse
from crawler.extract.address_kinds import is_errand
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


def _offered(offers):
    return f'<script type="application/ld+json">{{"@type": "Product", "name": "Lamp", "offers": {offers}}}</script>'


def _read(body, head="", lang="en", host="www.harborline.example", path="/lamp"):
    html = f"<html lang={lang}><head>{head}</head><body>{body}</body></html>"
    return extract(parse(html, f"https://{host}{path}")).fields


def test_an_offer_for_rent_is_no_price_beside_an_offer_that_sells():
    offers = (
        '{"@type": "Offer", "price": "49.00", "priceCurrency": "EUR", "businessFunction":'
        ' "http://purl.org/goodrelations/v1#LeaseOut"},'
        '{"@type": "Offer", "price": "1049.00", "priceCurrency": "EUR"}'
    )
    found = _read(f"<h1>Red Saw</h1>{BUY}", head=_offered(f"[{offers}]"))
    assert found["price"] == Decimal("1049.00")


def test_the_highest_of_a_range_counts_where_the_page_shows_it_as_the_price():
    offers = (
        '{"@type": "AggregateOffer", "lowPrice": 1.98, "highPrice": 3.27, "priceCurrency": "USD"}'
    )
    table = "<tr><th>Qty</th><th>Unit Price</th></tr><tr><td>1</td><td>$3.27</td></tr>"
    rows = "<p>Made of oak</p>" * 3
    body = f"<h1>TX-4901</h1>{BUY}{rows}<table>{table}<tr><td>100</td><td>$1.98</td></tr></table>"
    assert _read(body, head=_offered(offers))["price"] == Decimal("3.27")


def test_a_makers_folder_is_no_cart_where_a_numbered_name_follows():
    assert not is_errand("/kosar/light-shoe-p-73177780")
    assert is_errand("/kosar/")
    assert is_errand("/cart/lamps-12")


def test_a_shops_name_stands_before_the_label_in_one_word_or_before_the_sign():
    box = "<ul><li>바른몰상품번호: 77199-01</li></ul>"
    assert _read(f"<h1>Lamp</h1><p>39,800원</p>{BUY}{box}")["sku"] == "77199-01"
    box = "<div>Harborline # 62291</div><div>Model # DP-10B</div>"
    assert _read(f"<h1>Drill</h1>{box}<p>$179.99</p>{BUY}")["sku"] == "62291"
    assert (
        _read(f"<h1>Drill</h1>{box.replace('Harborline', 'Review')}<p>$9</p>{BUY}")["sku"]
        == "DP-10B"
    )


def test_a_long_line_of_boxes_begins_with_the_price():
    line = (
        "<div><b>R$ 1.549,00</b><span>ou R$ 1.394,10 no Pix (10% off)</span>"
        "<span>em até 10x de R$ 154,90 sem juros no cartão</span></div><p>Produto indisponível</p>"
    )
    tiles = "".join(
        f"<div class=shelf><a href='/{name}.html'>{name}</a><b>R$ {price}</b></div>"
        for name, price in (("almofada", "49,90"), ("puff", "229,90"))
    )
    found = _read(f"<h1>Mesa de jantar</h1><p>Ref. MJ-6</p>{line}{tiles}", lang="pt-BR")
    assert found["price"] == Decimal("1549.00")


def test_a_labelled_price_right_above_the_heading_precedes_those_below():
    above = "<div><p><span>Price:</span> $64.00</p></div>"
    below = "<p>Sorry, this item is sold out.</p><h3>Hoops</h3><p>$24.00</p><h3>Runner</h3><p>$38.00</p>"
    found = _read(f"{above}<h1>Serving Board</h1><p>Made by hand</p>{below}")
    assert found["price"] == Decimal("64.00")


def test_the_number_of_portuguese_pharmacies_precedes_the_one_in_the_address():
    body = f"<h1>Sérum</h1><p>22,43 €</p><p>CNP: <span>6214783</span></p>{BUY}"
    assert _read(body, path="/serum-3810.html")["sku"] == "6214783"
