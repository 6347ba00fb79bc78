"""Layouts of shops that no rule was written for: what a price, a stock and a number stand in."""

import pytest

from crawler.extract import extract, parse
from crawler.extract.shop_number import in_address

TILES = "".join(
    f'<div class="tile"><a href="/p/{n}">Lamp {n}</a><span class="price">${n}.00</span></div>'
    for n in range(7, 11)
)


def found(body, url="https://shop.example/p/red-lamp", lang="en", title="Red Lamp"):
    html = f'<html lang="{lang}"><head><title>{title}</title></head><body>{body}</body></html>'
    return extract(parse(html, url))


BUY = "<button>Add to cart</button>"


@pytest.mark.parametrize(
    ("body", "price"),
    [
        # An attribute for tests, or microdata, names the box whose class is a hash.
        (
            '<a href="#r">12 reviews</a><b data-testid="price">$44.88</b><p>Red</p><p>Lens $9.00</p>',
            "44.88",
        ),
        (
            '<a href="#r">12 reviews</a><b itemprop="price">$44.88</b><p>Red</p><p>Lens $9.00</p>',
            "44.88",
        ),
        # A guarantee is a choice that costs more.
        ("<p>Now $44.88</p><label>3 years - $5.00</label>", "44.88"),
        ("<p>$44.88</p><p>Cost to deliver</p><p>$3.50</p>", "44.88"),
        # The class says which of two is asked now; a label stands between them.
        ('<p class="price">$45.00</p><p class="sale-price">$34.50</p>', "34.50"),
        ('<p class="price">$45.00</p><p>for you</p><p class="price-new">$34.50</p>', "34.50"),
        ('<p class="price">$45.00</p><p>Our price</p><p class="price">$34.50</p>', "34.50"),
        ('<p class="origin-price">$45.00</p><p class="price">$34.50</p>', "34.50"),
        # The link behind which it stands names the maker.
        (
            '<a href="/b">Acme</a><b class="promo-price">67<sup>99</sup></b><p>Red</p><p>L</p><p>7 from € 9</p>',
            "67.99",
        ),
        ('<p>x</p><b data-price="current">44.88</b><p>Lens $9.00</p>', "44.88"),
        ('<b class="price">44.88</b><button data-price="9.50">41</button>', "44.88"),
        ('<p id="productUnitPrice" class="price">24.99 €</p><p>from 5: 23.99 €</p>', "24.99"),
        # A label is glued to its amount; choices cost more by so much.
        ("<div><i>Your price</i><b>1,249 €</b></div><label>Oak <i>+35 €</i></label>", "1249"),
        ("<p>$44.88</p><p>Velvet + $12.00</p>", "44.88"),
        # What is saved tells which of two was before; of one piece is no price of a unit.
        ('<p class="price">$9.00</p><p class="price x">$12.00 x</p><p>You save $3.00</p>', "9.00"),
        ("<p>$60.00 here <i>$45.00</i> -25%</p><p>Ring $2.00</p>", "45.00"),
        ('<p class="price">7 490 руб./шт</p><p>Доставка 300 руб.</p>', "7490"),
        ("<p>12,90 €</p><p>0,13 €/Stück</p>", "12.90"),
        ("<p>Price: $39.00 per piece</p><p>4 pieces: $156.00</p>", "39.00"),
        # The box of the currency's sign is called the price's unit.
        ('<p class="price">34,500<i class="price-unit">원</i></p>', "34500"),
    ],
)
def test_the_price_is(body, price):
    fields = found(f"<h1>Red Lamp</h1>{body}{BUY}").fields
    assert str(fields["price"]) == price


LD = (
    '<script type="application/ld+json">{"@type":"Product","name":"Red Lamp","sku":"A-1",'
    '"offers":{"price":"199.95","priceCurrency":"EUR","availability":"InStock"}}</script>'
)


@pytest.mark.parametrize(
    ("shown", "price"),
    [
        ('<b class="old-price">199,95 €</b><b class="price">129,95 €</b>', "129.95"),
        ("<p>statt 199,95 €</p><p>129,95 €</p>", "129.95"),
        # Which of two is the price before is only guessed: who tells it knows better.
        ("<p>199,95 €</p><p>129,95 €</p>", "199.95"),
        # The data's price is stale, because the page shows both others and not that.
        ('<b class="old-price">219,95 €</b><b class="price">129,95 €</b>', "129.95"),
    ],
)
def test_a_price_that_is_marked_as_the_one_before_is_not_the_price(shown, price):
    page = found(f"{LD}<h1>Red Lamp</h1><div>{shown}</div>{BUY}", lang="de")
    assert str(page.fields["price"]) == price
    assert page.fields["currency"] == "EUR"
    assert page.fields["sku"] == "A-1"


@pytest.mark.parametrize(
    ("lang", "body", "price"),
    [
        ("es-CL", "<p>Normal: $ 49.990</p><p>Internet: $ 34.990</p>", "34990"),
        ("nl", "<p>Van €54,95</p><p>voor</p><p>€44,95</p><p>€3,75 per kg</p>", "44.95"),
        ("fr", "<p>39,90 €</p><p>12,90 € / mois avec Alma</p>", "39.90"),
        ("ru", "<p>450 ₸</p><p>от 38 ₸/мес</p>", "450"),
    ],
)
def test_the_words_of_a_country_tell_the_price(lang, body, price):
    fields = found(f"<h1>Red Lamp</h1>{body}{BUY}", lang=lang).fields
    assert str(fields["price"]) == price


def test_a_price_above_the_name_is_found_although_tiles_follow():
    page = found(f"<p>Price: $18.75</p><h1>Red Lamp</h1>{BUY}<h2>Alike</h2>{TILES}")
    assert str(page.fields["price"]) == "18.75"


def test_a_way_of_delivery_that_is_not_to_be_had_is_no_stock():
    page = found(f"<h1>Red Lamp</h1><p>$9.00</p>{BUY}<p>Pickup: Not available</p>")
    assert page.fields["availability"] == "InStock"
    page = found("<h1>Red Lamp</h1><p>$9.00</p><p>SKU: A-1</p><p>Availability: Not available</p>")
    assert page.fields["availability"] == "OutOfStock"


def test_what_can_be_collected_can_be_had():
    body = f"<h1>Red Lamp</h1><p>$9.00</p>{BUY}<p>Out of stock for delivery</p>"
    assert found(body).fields["availability"] == "OutOfStock"
    page = found(f"{body}<p>In stock to collect</p>")
    assert page.fields["availability"] == "InStock"


@pytest.mark.parametrize("button", ["Notify me", "Benachrichtigen", "再入荷お知らせ", "Avvisami"])
def test_a_button_that_offers_to_tell_says_that_nothing_is_left(button):
    body = f"<h1>Red Lamp</h1><p>$9.00</p><button>{button}</button><p>SKU: A-1</p>"
    assert found(body).fields["availability"] == "OutOfStock"
    body = body.replace("<button>", f"{BUY}<button>")
    assert found(body).fields["availability"] == "InStock"


def test_a_question_tells_no_stock():
    body = f"<h1>Red Lamp</h1><p>$9.00</p>{BUY}<p>Size not available? Tell us</p>"
    assert found(body).fields["availability"] == "InStock"


def test_the_price_of_what_replaces_it_is_not_its_own():
    body = "<h1>Red Lamp</h1><p>Item no: AB-1</p><p>No longer available</p>"
    page = found(f'{body}<h2>Successor</h2><a href="/p/b">Blue</a><b>$49.00</b>')
    assert page.fields["availability"] == "Discontinued"
    assert "price" not in page.fields


def test_a_shops_name_stands_before_a_label():
    body = f"<h1>Red Lamp</h1><p>$9.00</p>{BUY}<p>Acme Stock No.: 707-77</p>"
    assert found(body).fields["sku"] == "707-77"
    assert found(body.replace("Acme Stock No.", "Coupon code")).fields.get("sku") is None


def test_a_number_in_the_address_that_the_page_shows_is_its_own():
    body = "<h1>Red Lamp</h1><b>$70</b><p>№ 2812345678, 20 November</p>"
    page = found(body, url="https://shop.example/lamps/red_lamp_2812345678")
    assert (page.kind, page.fields["sku"]) == ("product", "2812345678")
    assert found(body, url="https://shop.example/lamps/red_lamp").kind != "product"


def test_a_makers_page_tells_the_number_of_the_model_that_is_in_its_address():
    body = "<h1>Rotary Hammer</h1><p>Model: HR2470</p><p>780 W</p>"
    page = found(body, url="https://shop.example/products/hr2470")
    assert (page.kind, page.fields["sku"]) == ("product", "HR2470")
    assert found(body, url="https://shop.example/products/hammer").kind != "product"


def test_a_line_tells_two_numbers():
    body = f"<h1>Emma</h1><b>$7</b>{BUY}<p>ISBN 10: 0141439580 / ISBN 13: 9780141439587</p>"
    page = found(body + "<p>/ Item no: A-12</p><p>Brand: Bosch / Siemens</p>")
    assert (page.fields["gtin"], page.fields["sku"]) == ("9780141439587", "A-12")
    assert page.fields["brand"] == "Bosch / Siemens"


def test_a_comparison_is_no_product():
    rows = "<table><tr><th>Price</th><td>$39.99</td><td>$59.00</td></tr></table>"
    body = f"<h1>Compare kettles</h1>{rows}<p>In stock</p>{BUY}"
    assert found(body, url="https://shop.example/compare/kettles").kind != "product"


def test_a_long_text_that_is_most_of_the_title_is_the_name_in_any_box():
    title = "Buy Waterproof backpack for laptops | Shop"
    page = found(f"<div>Waterproof backpack for laptops</div><p>$9.00</p>{BUY}", title=title)
    assert page.fields["name"] == "Waterproof backpack for laptops"


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("/Quiet-Kettle/dp/B08XYZ1234/ref=sr_1_3?k=x", "B08XYZ1234"),
        ("/listing/987654321/oak-sign", "987654321"),
        ("/product/dkp-4567890/lamp/", "4567890"),
        ("/item.htm?id=612345678901", "612345678901"),
        ("/bosch-drill/PLID71234567", "PLID71234567"),
        ("/lamp-p-HBV00000ABC12", "HBV00000ABC12"),
        ("/58123-chateau-talbot-2018", "58123"),
        ("/medicine/1126111/ibu-400-akut.htm", "1126111"),
        ("/MLM-1234567890-headphones-_JM", "MLM-1234567890"),
        ("/page.html?id=612345678901", None),
        ("/LAMP-EXTRA", None),
    ],
)
def test_an_address_tells_the_number(path, number):
    assert in_address(f"https://shop.example{path}") == number
