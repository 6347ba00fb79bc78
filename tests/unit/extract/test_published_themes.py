"""What published themes of shop systems write: each in a small page of ours."""

from decimal import Decimal

import pytest

from crawler.extract import extract, find_links, parse


def _page(body, path="/p/lamp-12", title="Oak lamp"):
    html = f"<html lang=en><head><title>{title}</title></head><body>{body}</body></html>"
    return parse(html.encode(), f"https://shop.example{path}", "text/html; charset=utf-8")


def _links(body, path="/lamps"):
    return {link.url: link.kind for link in find_links(_page(body, path, "Lamps"))}


_BUY = "<form><input name=qty><button>Add to cart</button></form>"
_TILES = "".join(
    f"<li class=product><a href=/lamp-{n}.html><h3>Lamp {n}</h3></a><b class=price>€ {n}.00</b></li>"
    for n in range(11, 17)
)


@pytest.mark.parametrize("name", ["setCurrencyId", "set_currency", "currency_id", "id_currency"])
def test_a_switch_of_the_currency_is_not_followed(name):
    body = f"<nav><a href='/?{name}=2'>US dollar</a><a href=/lamps>Lamps</a></nav>{_TILES}"
    assert not any(name in url for url in _links(body))


def test_a_pagers_arrow_that_is_disabled_is_not_followed():
    arrow = "<li class=disabled><a href='/lamps?page=0'><i class=icon-prev></i></a></li>"
    pager = f"<ul class=pagination>{arrow}<li><a href='/lamps?page=2'>2</a></li></ul>"
    links = _links(_TILES + pager)
    assert "https://shop.example/lamps?page=0" not in links
    assert links["https://shop.example/lamps?page=2"] == "pagination"


@pytest.mark.parametrize("of_box", ["pagination disabled", "pagination scroll-disabled"])
@pytest.mark.parametrize("of_link", ["", "disabled"])
def test_a_pager_that_a_script_enables_is_followed(of_box, of_link):
    pages = "".join(f"<a class='{of_link}' href='/lamps?page={n}'>{n}</a>" for n in (1, 2, 3))
    links = _links(f"{_TILES}<div class='{of_box}'>{pages}</div>")
    assert [links.get(f"https://shop.example/lamps?page={n}") for n in (2, 3)] == ["pagination"] * 2


def test_the_first_page_by_the_number_of_products_before_it_is_the_listing():
    pager = "".join(
        f"<a class=pagenumber href='/lamps?pageSize=6&startIndex={6 * n}'>{n + 1}</a>"
        for n in range(3)
    )
    pager = f"<div class=pagination>{pager}</div>"
    links = _links(_TILES + pager)
    assert "https://shop.example/lamps?pageSize=6&startIndex=0" not in links
    assert links["https://shop.example/lamps?pageSize=6&startIndex=6"] == "pagination"
    second = _links(_TILES + pager, "/lamps?pageSize=6&startIndex=6")
    assert second["https://shop.example/lamps?pageSize=6"] == "pagination"  # it may show more


def test_a_filter_of_prices_below_an_amount_is_no_product():
    body = f"<dl><dd><a href='/lamps.html?price=-1000'>below € 1,000.00</a></dd></dl>{_TILES}"
    assert "https://shop.example/lamps.html?price=-1000" not in _links(body, "/lamps.html")


@pytest.mark.parametrize(
    "remark", ["Quantity discounts available", "Gift wrap available", "Ratenzahlung verfügbar"]
)
def test_what_else_is_available_says_no_stock(remark):
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b><p>({remark})</p><p><b>Out of stock</b></p>"
    assert extract(_page(body)).fields["availability"] == "OutOfStock"


@pytest.mark.parametrize("code", ["CODE128", "NA12", "UPC-A12"])
def test_what_stands_for_a_barcode_that_a_product_lacks_is_no_key_of_it(code):
    table = f"<table><tr><th>EAN</th><td>{code}</td></tr></table>"
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}{table}"
    data = '{"@type": "Product", "name": "Oak lamp", "sku": "J1"}'
    data = f"<script type='application/ld+json'>{data}</script>"
    assert extract(_page(body, "/p/oak-lamp")).fields["external_id"] == "oak-lamp"
    assert extract(_page(data + body)).fields["sku"] == "J1"


def test_the_choices_of_a_form_for_a_review_are_no_rating():
    form = "<form><select name=stars><option>1 star (worst)</option></select></form>"
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b><div class=rating>(No reviews yet){form}</div>{_BUY}"
    result = extract(_page(body))
    assert result.fields["price"] == Decimal("12.00")
    assert "rating" not in result.fields
    rated = body.replace("(No reviews yet)", "4.5 / 5 stars from 12 reviews")
    assert extract(_page(rated)).fields["rating"] == 4.5


def test_the_addresses_that_load_a_products_sizes_are_no_pages():
    sizes = "".join(
        f"<option value='/on/shop/Product-Variation?dwvar_size={n}&pid=25000109M'>{n}</option>"
        for n in (30, 32, 34)
    )
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b><p>Item No. 25000109M</p><select>{sizes}</select>{_BUY}"
    page = _page(body, "/oak-lamp/25000109M.html")
    assert extract(page).fields["sku"] == "25000109M"
    assert not any("Variation" in link.url for link in find_links(page))


def test_further_products_in_a_select_are_pages_also_where_they_name_the_pages_product():
    parts = "".join(f"<option value='/part?of=25000109&id={n}'>{n}</option>" for n in (71, 72))
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b><p>Item No. 25000109</p><select>{parts}</select>{_BUY}"
    page = _page(body, "/oak-lamp/25000109.html")
    assert extract(page).fields["sku"] == "25000109"
    assert {f"https://shop.example/part?of=25000109&id={n}" for n in (71, 72)} <= {
        link.url for link in find_links(page)
    }


def test_a_maker_in_a_table_above_the_name_is_the_products():
    table = "<table><tr><td><b>Manufacturer</b></td><td>Acme</td></tr></table>"
    body = f"<div itemscope itemtype='http://schema.org/Product'>{table}<h1 itemprop=name>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}</div>"
    assert extract(_page(body)).fields["brand"] == "Acme"
    outside = table + body.replace(table, "")
    assert "brand" not in extract(_page(outside)).fields
    below = f"<div class=related><h3>Pine lamp</h3>{table}</div>"
    below = body.replace(table, "").replace(_BUY, _BUY + below)
    assert "brand" not in extract(_page(below)).fields
    choice = body.replace("Acme", "<select><option>Any</option><option>Acme</option></select>")
    assert "brand" not in extract(_page(choice)).fields


@pytest.mark.parametrize("sign", ["～", "〜"])
def test_the_first_of_the_variants_numbers_is_the_products(sign):
    body = f"<h1>Oak lamp</h1><b class=price>¥ 1200</b><div>商品コード： oak-05-S {sign} oak-05-L</div>{_BUY}"
    assert extract(_page(body)).fields["sku"] == "oak-05-S"


def test_a_product_below_a_collection_is_asked_for_once():
    tiles = _tiles("/product/", "/collections/new/products/")
    links = _links(tiles, "/collections/new")
    assert not any("/collections/" in url for url in links)


def test_a_product_that_has_no_address_but_below_its_collection_is_asked_for_there():
    links = _links(_tiles("/collection/oak/product/", "/collection/elm/product/"))
    assert len(links) == 8
    assert all("/collection/" in url for url in links)


def _tiles(*places):
    return "".join(
        f"<li class=product><a href='{place}lamp-{n}'><h3>{place} {n}</h3></a><b class=price>€ {n}</b></li>"
        for n in range(11, 15)
        for place in places
    )
