"""What themes of shop systems write that no other test's pages have: each in a small page of ours."""

from decimal import Decimal

import pytest

from crawler.extract import extract, find_links, parse
from crawler.extract.page import joints


def _page(body, path="/p/lamp-12", title="Oak lamp", lang=" lang=en", head=""):
    html = f"<html{lang}><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return parse(html.encode(), f"https://shop.example{path}", "text/html; charset=utf-8")


def _read(body, **page):
    return extract(_page(body, **page))


_BUY = "<form><input name=qty><button>Add to cart</button></form>"


@pytest.mark.parametrize("shut", ["hidden-xs-up", "ng-hide", "is--hidden", "uk-hidden", "am-hide"])
def test_a_word_that_a_frameworks_class_hides_tells_no_stock(shut):
    body = f"<h1>Oak lamp</h1><div class='no_stock {shut}'>Out of stock</div><div class=stock_in>In stock</div><b class=price>€ 12.00</b>{_BUY}"
    assert _read(body).fields["availability"] == "InStock"
    shown = body.replace(shut, "x")
    assert _read(shown).fields["availability"] == "OutOfStock"


@pytest.mark.parametrize("gap", ["", " "])
def test_a_quantity_before_a_price_is_none_of_its_thousands(gap):
    body = f"<h1>Oak lamp</h1><div class=price><span>from 1 </span>{gap}<span class=value> 131.92 €</span></div>{_BUY}"
    assert _read(body).fields["price"] == Decimal("131.92")
    assert joints.ends_in_count("Lamp 12")
    assert not joints.ends_in_count("Kč 12")


def test_cents_behind_a_word_and_a_figure_stay_cents():
    body = f"<h1>Oak lamp</h1><div class=price>only 5<sup>99</sup> €</div>{_BUY}"
    assert _read(body).fields["price"] == Decimal("5.99")


def test_the_front_page_of_a_language_is_no_product():
    body = "<h2>Our lamps</h2><h3>Oak</h3><b class=price>€ 12.00</b><p class=stock>In stock</p><button>Buy</button>"
    assert _read(body, path="/de/", title="Start").kind != "product"
    assert _read(body, path="/tv-stand", title="Our lamps").kind == "product"


def test_a_yen_sign_on_a_page_with_a_chinese_title_is_a_yuan():
    body = f"<h1>无线耳机</h1><b class=price>￥199.00</b>{_BUY}"
    assert _read(body, title="无线耳机", lang="").fields["currency"] == "CNY"
    assert _read(body, title="無線イヤホン", lang="").fields["currency"] == "JPY"


def test_a_page_that_sells_nothing_outweighs_data_that_calls_few_left():
    data = '<script type="application/ld+json">{"@type":"Product","name":"Oak lamp","offers":{"@type":"Offer","price":"12","priceCurrency":"EUR","availability":"https://schema.org/LimitedAvailability"}}</script>'
    body = "<h1>Oak lamp</h1><p>This item is currently unavailable.</p><b class=price>€ 12.00</b>"
    assert _read(body, head=data).fields["availability"] == "OutOfStock"
    assert _read(body + _BUY, head=data).fields["availability"] == "LimitedAvailability"


def test_a_sentences_amount_is_not_the_price_where_the_price_list_is_called_one():
    body = f"<h1>Oak lamp</h1><div class=price-list><div class=price>297.63 €</div><div class=price>74.41 € off</div><div class=price>250.00 €</div></div>{_BUY}<p>Bulbs that fit it cost from 0.99 € on.</p>"
    assert _read(body).fields["price"] != Decimal("0.99")


@pytest.mark.parametrize(
    "box",
    [
        "<div id=tab-description><p>Made of oak in the valley.</p></div>",
        "<div class='product__description rte'>Made of oak in the valley.</div>",
        "<td class=opis>Made of oak in the valley.</td>",
    ],
)
def test_a_box_that_is_called_one_is_the_description(box):
    tile = "<div class=related><div class=description>Another thing, of steel.</div></div>"
    body = f"<p class=description>We sell lamps since 1900.</p><h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}{tile}<table><tr>{box}</table>"
    assert _read(body).fields["description"] == "Made of oak in the valley."
    head = "<meta name=description content='An oak lamp'>"
    assert _read(body, head=head).fields["description"] == "An oak lamp"
    assert "description" not in _read(body.replace(box, "")).fields


def test_a_maker_is_read_from_a_box_for_suppliers():
    body = f"<h1>Oak lamp</h1><div class=product--supplier><a href=/h/1><img src=/h.png alt='Red House'></a></div><b class=price>€ 12.00</b>{_BUY}"
    assert _read(body).fields["brand"] == "Red House"


@pytest.mark.parametrize(
    "address", ["/shoppingcart/add/12", "/my-cart/12", "/?rt=checkout/cart&product_id=12"]
)
def test_a_link_into_a_cart_is_not_followed(address):
    found = {link.url for link in find_links(_page(f"<a href='{address}'>Add</a><a href=/a>A</a>"))}
    assert found == {"https://shop.example/a"}
