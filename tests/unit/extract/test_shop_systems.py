"""What the templates of widespread shop systems write, each kind of fault that whole shops showed."""

from decimal import Decimal

import pytest

from crawler.extract import extract, parse
from crawler.extract.classify import Verdict, address_signs

CART = "<button>Add to cart</button>"


def _read(body, url="https://shop.example/oak-lamp/", lang="en", head=""):
    html = f"<html lang={lang}><head><title>Oak lamp | Shop</title>{head}</head><body>{body}</body></html>"
    return extract(parse(html.encode(), url, "text/html; charset=utf-8"))


def _tile(name, price, more=""):
    return (
        f'<div class="cell {more}"><a href="/{name}/"><img src="/{name}.jpg" alt="{name}"></a>'
        f'<div><p><a href="/{name}/">{name}</a></p></div><div class="price">{price}</div>{CART}</div>'
    )


MIXED = (
    _tile("lamp", "<span>€ 12,95</span>", "instock")
    + _tile("chair", "<del><span>€ 30,00</span></del><ins><span>€ 24,00</span></ins>", "sale")
    + _tile("desk", "<span><b>€ 240,00</b> – <b>€ 260,00</b></span>", "first variable")
)


@pytest.mark.parametrize("tiles", [MIXED, _tile("lamp", "€ 12,95") + _tile("chair", "€ 8,00")])
def test_a_listing_of_few_tiles_that_differ_is_no_product(tiles):
    found = _read(f"<h1>Oak things</h1><div class='row'>{tiles}</div>", "https://shop.example/oak/")
    assert found.kind != "product"
    assert "price" not in found.fields


def test_a_price_beside_few_tiles_of_others_is_the_products():
    found = _read(
        f"<div><h1>Oak lamp</h1><div class='price'>€ 99,00</div><p>SKU: AB-12</p>{CART}</div>"
        f"<div class='row'>{MIXED}</div>"
    )
    assert (found.kind, found.fields["price"]) == ("product", Decimal("99.00"))


def test_two_packs_that_lead_to_the_product_without_pictures_are_no_tiles():
    packs = "".join(
        f"<li class=pack><a href='/lamp-{n}/'>{n} pieces</a> <span class=price>€ {n}2,00</span></li>"
        for n in (1, 2)
    )
    found = _read(f"<h1>Oak lamp</h1><ul>{packs}</ul><p>SKU: AB-12</p>{CART}")
    assert found.fields["price"] == Decimal("12.00")


def test_a_sentence_about_the_past_tells_no_regular_price():
    body = "<h1>Oak lamp</h1><div class=price>€ 38,67</div>{}<p>SKU: AB-12</p>" + CART
    told = _read(body.format("<p>Made in 2026. In 2019 it used to cost only € 99,00.</p>"))
    assert "regular_price" not in told.fields
    before = _read(body.format("<p>Our previous price € 49,00</p>"))
    assert before.fields["price"] == Decimal("38.67")


WITH_AND_WITHOUT = (
    """<h1>Oak lamp</h1>
<div class="price-section non-sale--withTax">Was: <span class="price price--non-sale">$304.82</span></div>
<div class="price-section">Now: <span class="price price--withTax">$217.73</span> <abbr>(Inc. GST)</abbr></div>
<div class="price-section non-sale--withoutTax">Was: <span class="price price--non-sale">$265.06</span></div>
<div class="price-section">Now: <span class="price price--withoutTax">$189.33</span> <abbr>(Ex. GST)</abbr></div>
<p>SKU: AB-12</p>"""
    + CART
)


def test_the_regular_price_holds_the_tax_that_the_price_holds():
    fields = _read(WITH_AND_WITHOUT).fields
    assert fields["price"] == Decimal("217.73")
    assert fields["regular_price"] == Decimal("304.82")


def test_a_class_of_unit_prices_hides_no_price_that_stands_alone():
    fields = _read(
        "<h1>Oak lamp</h1><h2><span class=productBasePrice>$3,621.95</span></h2><p>SKU: AB-12</p>"
        "<p>Includes a $5.00 mail-in rebate coupon for the next thing you buy here.</p>" + CART
    ).fields
    assert fields["price"] == Decimal("3621.95")
    unit = _read(
        "<h1>Oak oil</h1><div>€ 8,90</div><div class=base-price>€ 17,80 / 1 l</div>"
        "<p>SKU: AB-12</p>" + CART
    ).fields
    assert unit["price"] == Decimal("8.90")


@pytest.mark.parametrize(
    "button",
    [
        "<button>Pre-order</button>",
        '<input type="submit" value="Pre-Order Now">',
        '<p class="delivery-information delivery-preorder">15. Februar 2027</p>' + CART,
    ],
)
def test_what_is_ordered_in_advance_is_not_in_stock(button):
    body = f"<h1>Oak lamp</h1><div class=price>€ 38,67</div><p>SKU: AB-12</p>{button}"
    assert _read(body).fields["availability"] == "PreOrder"
    sold = body.replace(button, CART)
    assert _read(sold).fields["availability"] == "InStock"


def test_a_dollar_is_that_which_an_attribute_of_the_page_names():
    body = (
        f"<div data-currency-code='NZD'><h1>Oak lamp</h1><div class=price>$12.00</div>{CART}</div>"
    )
    assert _read(body).fields["currency"] == "NZD"


def test_a_shop_that_names_itself_as_each_product_hides_no_heading():
    tags = "<meta property='og:site_name' content='Oak lamp'><meta property='og:title' content='Oak lamp'>"
    html = f"<h1>Oak lamp</h1><div class=price>€ 38,67</div><p>SKU: AB-12</p>{CART}"
    assert _read(html, head=tags).fields["sku"] == "AB-12"


def test_no_units_in_stock_are_none():
    body = (
        "<h1>Oak lamp</h1><div class=price>€ 38,67</div><li>{} Units in Stock</li><p>SKU: AB-12</p>"
    )
    assert _read(body.format(0)).fields["availability"] == "OutOfStock"
    assert _read(body.format(10)).fields["availability"] == "InStock"


@pytest.mark.parametrize(
    ("shown", "stock"), [("in-stock", "InStock"), ("out-of-stock", "OutOfStock")]
)
def test_of_two_words_for_the_stock_the_class_shows_one(shown, stock):
    words = f'<p class=availability><span class="{shown}" href="https://schema.org/{stock}"'
    words += " itemprop=availability><span class=in>In stock</span><span class=out>Sold out</span></span></p>"
    body = f"<h1>Oak lamp</h1><div class=price>€ 38,67</div>{words}<p>SKU: AB-12</p>"
    assert _read(body + (CART if stock == "InStock" else "")).fields["availability"] == stock
    item = '<div itemscope itemtype="https://schema.org/Product"><meta itemprop=name content="Oak lamp">'
    offer = "<div itemprop=offers itemscope itemtype='https://schema.org/Offer'><meta itemprop=price content=38.67>"
    assert _read(f"{item}{offer}{body}</div></div>").fields["availability"] == stock


def test_a_link_that_begins_something_on_the_page_is_no_tiles_title():
    fields = _read(
        "<h1>Oak lamp</h1><p>SKU: AB-12</p><a href='javascript:print()'>Print</a>"
        "<div><span class=price>€ 38,67</span></div><div class=price>Including 0,50 € for ecotax</div>"
        + CART
    ).fields
    assert fields["price"] == Decimal("38.67")


def test_a_base_price_is_one_before_and_not_of_a_unit():
    fields = _read(
        "<h1>Oak lamp</h1><div class=PricebasePrice><span>Price before: </span><span>€ 67,01</span></div>"
        "<div class=PricesalesPrice><span>Sales price: </span><span>€ 53,61</span></div>" + CART
    ).fields
    assert (fields["price"], fields["regular_price"]) == (Decimal("53.61"), Decimal("67.01"))


@pytest.mark.parametrize(
    "asked",
    ["main_page=product_reviews_write&products_id=103", "main_page=login", "route=checkout/cart"],
)
def test_a_form_that_a_parameter_names_is_no_product(asked):
    verdict = Verdict()
    address_signs(verdict, parse(b"<p>x", f"https://shop.example/index.php?{asked}"))
    assert verdict.product < 0
