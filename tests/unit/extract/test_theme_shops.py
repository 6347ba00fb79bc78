"""What themes of shop systems write that no other test's pages have: each in a small page of ours."""

from decimal import Decimal

import pytest

from crawler.extract import extract, find_links, parse
from crawler.extract.external_id import product_part
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
    "address",
    [
        "/addToCart?id=12",
        "/p/lamp/reviews/",
        "/?add_cart=12",
        "/shoppingcart/add/12",
        "/my-cart/12",
        "/?rt=checkout/cart&product_id=12",
    ],
)
def test_a_link_into_a_cart_is_not_followed(address):
    found = {link.url for link in find_links(_page(f"<a href='{address}'>Add</a><a href=/a>A</a>"))}
    assert found == {"https://shop.example/a"}


def test_the_name_right_above_a_price_names_a_page_whose_title_says_nothing():
    body = f"<h4>Oak lamp</h4><h6>Price<br>$35</h6>{_BUY}<footer><h3>Subscribe</h3></footer>"
    assert _read(body, title="Famous Shop").fields["name"] == "Oak lamp"
    marked = f"<div class=single-name>Oak lamp</div><div>No 12</div><div>$35</div>{_BUY}"
    assert _read(marked, title="Famous Shop").fields["name"] == "Oak lamp"
    linked = body.replace("Oak lamp", "<a href=/p/9>Oak lamp</a>")
    assert _read(linked, title="Famous Shop").fields.get("name") != "Oak lamp"


def test_values_under_labels_are_name_and_price_of_a_page_without_a_heading():
    def row(label, value):
        return f"<tr><td><b>{label}</b></td><td>{value}</td></tr>"

    table = f"<table>{row('Title', 'Oak lamp')}{row('Price', '3,033.00')}</table><a href='cart.php?id=1'>Add to cart</a>"
    found = _read(table, title="Product Detail", path="/product_detail.php?product_id=12")
    assert (found.fields["name"], found.fields["price"]) == ("Oak lamp", Decimal("3033.00"))
    assert found.fields["availability"] == "InStock"
    two = table.replace("</table>", row("Price", "40.00") + "</table>")
    other = _read(two, title="Product Detail", path="/product_detail.php?product_id=12")
    assert "price" not in other.fields


def test_a_tables_head_labels_no_value_of_another_row():
    rows = "".join(f"<tr><td>{n}</td><td>Lamp {n}</td></tr>" for n in (11,))
    body = f"<h3>Lamps</h3><table><tr><th>Name</th><th>Price</th></tr>{rows}</table><button>Add to cart</button>"
    assert "price" not in _read(body, title="Lamps").offered["text"]


def test_a_number_before_what_is_shown_of_it_is_the_products_key():
    keys = [product_part(f"https://a.example/products/{n}/show") for n in (11, 12)]
    assert keys == ["11", "12"]
    assert product_part("https://a.example/products/lamp/show") == "show"


@pytest.mark.parametrize("word", ["Sold out", "Out of stock"])
def test_a_word_right_above_the_heading_tells_the_stock(word):
    body = f"<div><div class=status>{word}</div><h1>Oak lamp</h1><p>SKU: X-12</p></div>"
    assert _read(body).offered["text"]["availability"] == "OutOfStock"
    sold = body.replace("</p>", "</p><b class=price>€ 12.00</b>" + _BUY)
    assert _read(sold).fields["availability"] == "InStock"


def test_a_label_before_a_sign_says_which_amount_was_asked_before():
    body = f"<h1>灯</h1><div>通常価格</div><div class=price>：¥1,500</div><div>販売価格</div><div class=price>：¥1,300</div>{_BUY}"
    found = _read(body, title="灯", lang=" lang=ja").fields
    assert (found["price"], found["regular_price"]) == (Decimal(1300), Decimal(1500))


def test_a_products_own_sidebar_holds_its_price():
    body = f"<h1>Oak lamp</h1><div class='product-sidebar right'><b class=price>€ 12.00</b>{_BUY}</div><p>It once cost € 99.00 elsewhere, they say.</p>"
    assert _read(body).fields["price"] == Decimal("12.00")


def test_a_heading_ends_before_who_made_the_thing():
    body = f"<h1>Oak lamp <small>by Red House</small></h1><b class=price>€ 12.00</b>{_BUY}"
    assert _read(body, title="Single Product").fields["name"] == "Oak lamp"
    kept = body.replace("by Red House", "with shade")
    assert _read(kept, title="Single Product").fields["name"] == "Oak lamp with shade"


def test_a_heading_above_tiles_is_not_their_things_name():
    tile = "<h3><a href=/p/{0}>Lamp {0}</a></h3><div>€ {0}.00</div>"
    tiles = "".join(tile.format(n) for n in (11, 12))
    found = _read(f"<h2>Our choice</h2>{tiles}", title="Start", path="/x")
    assert found.offered["text"].get("name") != "Our choice"


def test_an_amount_in_a_sentence_is_no_price_of_what_the_word_above_its_heading_calls_sold():
    body = "<div><p class=status>Sold out</p><h1>Oak lamp</h1><p>SKU: X-12</p><p>We have seen it sold at $300 elsewhere this year.</p></div>"
    assert "price" not in _read(body).offered["text"]
