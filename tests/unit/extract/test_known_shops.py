"""Single pages in the manner of shops that the rules were not written for: evidence that a person uses."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.extract import parse
from crawler.extract.default_parser import extract
from crawler.extract.fields import Fields


def read(
    body: str, title: str = "Oak Lamp | Shop", url: str = "https://a.example/p/oak-lamp"
) -> Fields:
    html = f'<html lang="en"><head><title>{title}</title></head><body>{body}</body></html>'
    return extract(parse(html.encode(), url, "text/html; charset=utf-8")).fields


def test_an_amount_with_words_does_not_hide_which_of_two_before_it_was_the_price_before():
    fields = read(
        "<h1>Oak Lamp</h1><div><div>€249.00</div><div>€189.00</div><div>In your box <b>€171.00</b>"
        "</div></div><button>Add to cart</button>"
    )
    assert (fields["price"], fields["regular_price"]) == (Decimal("189.00"), Decimal("249.00"))


def test_what_holders_of_the_shops_card_pay_is_not_the_price():
    fields = read(
        '<h1>Oak Lamp</h1><div class="price">$159.00</div><div>5% off: $151.05 with Anna\'s Rewards '
        "Credit Card</div><button>Add to cart</button>"
    )
    assert fields["price"] == Decimal("159.00")
    assert "regular_price" not in fields


def test_what_is_saved_behind_the_price_before_does_not_hide_it():
    fields = read(
        '<h1>Oak Lamp</h1><p class="price">£89.99</p><p><span>Was £109.99</span><span>Save £20.00'
        "</span></p><button>Add to basket</button>"
    )
    assert (fields["price"], fields["regular_price"]) == (Decimal("89.99"), Decimal("109.99"))


def test_a_number_in_brackets_behind_the_name_that_the_address_tells_is_the_shops():
    body = (
        "<h1>Oak Lamp <span>(71862)</span></h1><p>£89.99</p><button>Add to basket</button>"
        "<table><tr><td>Model No</td><td>OL-7N</td></tr></table>"
    )
    fields = read(body, url="https://a.example/p/oak-lamp/71862")
    assert (fields["name"], fields["sku"]) == ("Oak Lamp", "71862")
    other = read(body.replace("71862", "1200mm"), url="https://a.example/p/oak-lamp/71862")
    assert (other["name"], other["sku"]) == ("Oak Lamp (1200mm)", "OL-7N")


def test_a_shops_initials_and_a_number_sign_label_its_own_number():
    fields = read(
        "<h1>Oak Lamp</h1><div>OH #OKLP5 • MFR #4147C002 |</div><p>$89.99</p><button>Add to cart</button>"
    )
    assert (fields["sku"], fields["mpn"]) == ("OKLP5", "4147C002")


def test_of_two_main_headings_that_the_title_says_in_a_row_the_first_is_the_maker():
    fields = read(
        "<div><h1>Glowy</h1><h1>Oak Table Lamp</h1><p>$89.99</p></div><button>Add to cart</button>",
        title="Buy Glowy Oak Table Lamp - Lamps | Shop",
    )
    assert (fields["name"], fields["brand"]) == ("Oak Table Lamp", "Glowy")


def test_a_picture_with_which_the_name_begins_and_that_leads_to_its_page_is_the_makers_mark():
    body = (
        '<h1>Glowy Oak Lamp</h1><a href="/c/browse/glowy"><img src="g.png" alt="Glowy"></a>'
        "<p>$89.99</p><button>Add to cart</button>"
    )
    assert read(body, title="Glowy Oak Lamp | Shop")["brand"] == "Glowy"
    assert "brand" not in read(
        body.replace('alt="Glowy"', 'alt="Seal"'), title="Glowy Oak Lamp | Shop"
    )


def test_a_box_of_a_line_that_says_no_more_than_in_stock_tells_the_stock():
    fields = read(
        "<h1>Oak Lamp</h1><p>£89.99</p><div><strong>Delivery</strong><span>In stock</span>"
        "<span>FREE on orders over £50 of all goods</span></div><button>Deliver</button>"
    )
    assert fields["availability"] == "InStock"


def test_words_before_another_amount_of_a_line_say_nothing_of_the_last():
    fields = read(
        '<h1>Oak Lamp</h1><div class="price-box"><span class="was-price">€3899.00</span><p><span>Save '
        "€700.00</span><strong>€3199.00</strong></p></div><button>Add to cart</button>"
    )
    assert (fields["price"], fields["regular_price"]) == (Decimal("3199.00"), Decimal("3899.00"))
    ranged = read(
        '<h1>Oak Lamp</h1><p>Delivery €5.00 - €9.00</p><p class="price">€89.00</p>'
        "<button>Add to cart</button>"
    )
    assert ranged["price"] == Decimal("89.00")


def test_what_a_script_calls_the_price_of_one_unit_is_the_price():
    fields = read(
        '<h1>Oak Lamp</h1><p><span class="price" id="js_unitPrice">$49,860</span></p><p>Extended '
        "warranty, 5 years</p><p>Lasting care $2,493</p><button>Add to cart</button>"
    )
    assert fields["price"] == Decimal("49860")


def test_the_country_at_a_titles_end_tells_whose_money_a_short_sign_is():
    body = (
        '<h1>Oak Lamp</h1><div><a href="/oak?filter=Brand:Oak">Oak</a></div><div>R 399</div>'
        '<div class="strike-through">R 549</div><p>Other offers: 2 New from R 389</p>'
        "<button>Add to Cart</button>"
    )
    fields = read(
        body, "Oak Lamp | Buy Online in South Africa | lamps.com", "https://lamps.com/p/oak"
    )
    assert (fields["price"], fields["currency"]) == (Decimal(399), "ZAR")
    assert fields["regular_price"] == Decimal(549)
    flag = read(body.replace("R ", "$"), "Flag of South Africa", "https://lamps.com/p/flag")
    assert flag["currency"] == "USD"


def test_the_country_behind_the_hosts_name_in_the_address_tells_whose_dollars_they_are():
    url = "https://www.lamps.com/lamps-cl/product/16754321/oak"
    body = '<h1>Oak Lamp</h1><p class="price">$ 329.990</p><button>Agregar al carro</button>'
    fields = read(body, url=url)
    assert (fields["price"], fields["currency"]) == (Decimal(329990), "CLP")


def test_a_name_may_stand_behind_a_mark_in_its_box():
    fields = read(
        '<div class="sku-name"><img alt="new"> Oak Lamp A3092 128 cm black, in a box</div>'
        '<p class="price">€45.00</p><button>Add to cart</button>',
        title="【Oak】Oak Lamp A3092 128 cm black, in a box【offers】-shop",
    )
    assert fields["name"] == "Oak Lamp A3092 128 cm black, in a box"


def test_the_name_is_no_label_of_the_price_below_it():
    body = (
        '<h1>Regular Fit Sweatshirt</h1><p class="price">$ 24.99</p><p>Members price <b>$ 19.99</b></p>'
        '<button>Add to bag</button><h2>Style with</h2><a href="/p/jeans">Slim jeans</a>'
        "<span>$ 34.99</span>"
    )
    assert read(body, "Regular Fit Sweatshirt | Shop")["price"] == Decimal("24.99")


def test_amounts_of_other_sizes_are_not_the_price_before():
    body = (
        "<h1>Oak Oil</h1><p>€649.00</p><button>Add to cart</button><p>Sizes: "
        '<a href="/p/2">200 ml €899.00</a></p><p><a href="/p/3">50 ml €549.00</a></p>'
    )
    fields = read(body, "Oak Oil | Shop")
    assert (fields["price"], fields.get("regular_price")) == (Decimal("649.00"), None)


def test_words_that_meet_in_a_heading_have_a_blank_between_them_as_the_title_has():
    body = (
        "<h1><span>Glowy Home</span><span>Oak Lamp 7</span></h1><p>€45.00</p><button>Buy</button>"
    )
    assert read(body, "Glowy Home Oak Lamp 7 | Shop")["name"] == "Glowy Home Oak Lamp 7"
    whole = body.replace("<span>Glowy Home</span><span>Oak", "<span>Glow</span><span>Oak")
    assert read(whole, "GlowOak Lamp 7 | Glow and Oak")["name"] == "GlowOak Lamp 7"


def test_a_text_behind_a_box_that_holds_another_stays_behind_it():
    body = "<h1><a><b>Glowy</b></a> Oak <i><b>Lamp</b></i> 7</h1><p>€45.00</p><button>Buy</button>"
    assert read(body, "Lamps | Shop")["name"] == "Glowy Oak Lamp 7"


def test_a_link_with_which_the_name_begins_leads_to_its_maker():
    body = (
        '<h1><a href="/glowy-home/"><span>Glowy Home</span></a> Oak Lamp</h1><p>€45.00</p>'
        "<button>Buy</button>"
    )
    assert read(body, "Glowy Home Oak Lamp | Shop")["brand"] == "Glowy Home"
    body = (
        '<div><a href="/b/7">Glowy Home</a><h1>Oak Lamp</h1></div><p>€45.00</p><button>Buy</button>'
    )
    assert read(body, "Glowy Home Oak Lamp | Shop")["brand"] == "Glowy Home"
    assert "brand" not in read(body, "Oak Lamp | Glowy Home")


def test_a_shops_name_before_a_label_makes_the_number_its_own():
    body = (
        "<h1>Oak Lamp</h1><table><tr><td>Lampenhaus-Teilenr.:</td><td>595-OL7</td></tr>"
        "<tr><td>Herst. Teilenr.:</td><td>OL7</td></tr></table><p>0,43 €</p><button>Kaufen</button>"
    )
    assert read(body)["sku"] == "595-OL7"


def test_a_price_above_the_name_with_a_labelled_one_before_goes_before_anothers_behind_the_button():
    body = (
        "<p>In 20+ carts</p><div><p>Price: $28.00</p><p>Original price:</p><p>$40.00</p><p>30% off, it "
        "ends in 12 hours</p></div><h1>Oak Lamp</h1><p>Colour</p><button>Add to cart</button><p>Good "
        'seller</p><div>From our shop</div><a href="/p/2">Belt</a><p>$35.00</p>'
        '<a href="/p/3">Ring</a><p>$12.00</p>'
    )
    fields = read(body)
    assert (fields["price"], fields["regular_price"]) == (Decimal("28.00"), Decimal("40.00"))


@pytest.mark.parametrize(
    ("line", "number", "brand"),
    [
        ('Art.-Nr. 104199 2W Hersteller: <a href="/hersteller/acme">Acme</a>', "104199", "Acme"),
        ("Item no. CA-1886IR Manufacturer: Acme", "CA-1886IR", "Acme"),
        ("SKU: KO-4412 Manufacturer: <a href='/brands/acme'>Acme</a>", "KO-4412", "Acme"),
        ('Code XH-320 · <a href="/makers/acme">Acme</a>', "XH-320", "Acme"),
        ('Ref. BX-320 | <a href="/produttori/acme">Acme</a>', "BX-320", "Acme"),
    ],
)
def test_a_number_is_read_before_the_label_or_the_link_of_the_maker(line, number, brand):
    fields = read(f"<h1>Oak Lamp</h1><div>{line}</div><p>€48.95</p><button>Add to cart</button>")
    assert (fields["sku"], fields["brand"]) == (number, brand)


def test_a_dealers_price_with_its_costs_is_the_price_and_a_total_with_postage_is_not():
    rows = (
        "<h1>Oak Boat</h1><div><div><span>MSRP</span><span>$8,999</span></div><div><span>Selling"
        " Price</span><span>$7,699</span></div><div><span>Delivery &amp; Handling</span><span>$595"
        "</span></div><div><span>{}</span><span>$8,294</span></div></div><button>Buy now</button>"
    )
    for label, price in (("Sales Price", "8294"), ("Order total", "7699")):
        fields = read(rows.format(label))
        assert (fields["price"], fields["regular_price"]) == (Decimal(price), Decimal(8999))


def test_the_language_in_the_address_is_no_country_where_the_page_names_one():
    body = (
        '<h1>Oak Lamp</h1><p><span class="a">129,99 $</span> <span class="b">Rég. 179,99 $</span>'
        "</p><button>Ajouter au panier</button>"
    )
    html = f'<html lang="fr-CA"><head><title>Oak Lamp</title></head><body>{body}</body></html>'
    fields = extract(parse(html.encode(), "https://a.example/fr/p/lampe", "text/html")).fields
    assert (fields["currency"], fields["regular_price"]) == ("CAD", Decimal("179.99"))


def test_a_saving_without_a_currency_behind_the_price_now_is_about_itself():
    body = (
        "<h1>Lampe Fyr</h1><p><span>Før 1.799,-</span> <span>Nu 1.299,-</span> <span>Spar 500,-"
        "</span></p><button>Læg i kurv</button>"
    )
    html = f'<html lang="da"><head><title>Lampe Fyr</title></head><body>{body}</body></html>'
    fields = extract(parse(html.encode(), "https://a.example/p/fyr", "text/html")).fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(1299), Decimal(1799))
