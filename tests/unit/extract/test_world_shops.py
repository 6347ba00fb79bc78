"""What shops of many languages write that no other test's pages have: each in a small page of ours."""

from decimal import Decimal

import pytest

from crawler.extract import extract, find_links, parse
from crawler.extract.stock.availability import availability_of_text

_BUY = "<form><input name=qty><button>Add to cart</button></form>"


def _page(body, path="/p/lamp-12", title="Oak lamp", lang=" lang=en", head=""):
    html = f"<html{lang}><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return parse(html.encode(), f"https://shop.example{path}", "text/html; charset=utf-8")


def _fields(body, **page):
    return extract(_page(body, **page)).fields


def _ld(price, more=""):
    return f'<script type="application/ld+json">{{"@type":"Product","name":"Oak lamp"{more},"offers":{{"@type":"Offer","price":"{price}","priceCurrency":"EUR"}}}}</script>'


def test_a_price_that_only_json_ld_tells_gives_way_to_what_the_page_shows_twice():
    body = f"<h1>Oak lamp</h1><p class=current-price><b content='785.25'>785,25 €</b></p>{_BUY}"
    assert _fields(body, head=_ld("802.25"))["price"] == Decimal("785.25")
    once = body.replace(" content='785.25'", "")
    assert _fields(once, head=_ld("802.25"))["price"] == Decimal("802.25")
    both = f"{body}<p>802 € without a voucher</p>"
    assert _fields(both, head=_ld("802.25"))["price"] == Decimal("802.25")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("库存：现货(0)", "OutOfStock"),
        ("Skladem: 0 ks", "OutOfStock"),
        ("In stock: 10", "InStock"),
        ("In stock, 0-3 days", "InStock"),
    ],
)
def test_a_stock_of_none_is_none(text, told):
    assert availability_of_text(text) == told


def test_a_stock_counted_in_a_box_of_its_own_may_be_none():
    body = "<h1>键盘</h1><b class=price>￥199.00</b><ul><li>库存：现货(<label>%d</label>)</li></ul><p>售后</p>"
    assert _fields(body % 0, title="键盘", lang=" lang=zh-CN")["availability"] == "OutOfStock"
    assert _fields(body % 8, title="键盘", lang=" lang=zh-CN")["availability"] == "InStock"


def test_a_label_may_stand_before_the_words_that_ask_for_a_price():
    body = "<h1>Máy khoan</h1><ul><li>Mã sản phẩm: X-12</li><li>Giá sản phẩm: <b class=money>Liên hệ</b></li></ul><p>Phụ kiện trị giá 150.000 VND.</p>"
    assert "price" not in _fields(body, title="Máy khoan", lang=" lang=vi")


def test_other_products_follow_a_title_that_is_no_heading():
    tile = "<div><a href=/p/x-9><h3>Máy cắt</h3></a><i class=label>Hết hàng</i><b class=price>90.000 VND</b></div>"
    body = f"<h1>Máy khoan</h1><b class=price>99.000 VND</b><button>Mua ngay</button><div class=panel-heading>Sản phẩm cùng loại</div>{tile * 3}"
    assert _fields(body, title="Máy khoan", lang=" lang=vi")["availability"] == "InStock"
    # A tab leads there: what is behind it is the product's own.
    tab = "<div class=block-title><a href=#r>Related products</a></div><p>SKU: AB-12</p>"
    assert _fields(f"<h1>Oak lamp</h1><b class=price>€ 9</b>{tab}")["sku"] == "AB-12"


def test_a_trail_in_json_ld_that_names_no_product_ends_before_its_name():
    items = ",".join(
        f'{{"@type":"ListItem","position":{i},"name":"{n}","item":"https://shop.example/{i}"}}'
        for i, n in enumerate(("Lamps", "Oak lamp"))
    )
    trail = f'<script type="application/ld+json">{{"@type":"BreadcrumbList","itemListElement":[{items}]}}</script>'
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}"
    assert _fields(body, head=trail)["breadcrumbs"] == ["Lamps"]


def test_a_trail_that_ends_in_the_products_number_ends_before_it():
    trail = "<ol class=breadcrumb><li><a href='/c/1'>Lamps</a></li><li><a href='/p?c=1&i=2'>B76-10</a></li></ol>"
    body = f"{trail}<h1>Oak lamp</h1><p>SKU: B76-10</p><b class=price>€ 12.00</b>{_BUY}"
    assert _fields(body)["breadcrumbs"] == ["Lamps"]


def test_a_page_whose_site_knows_it_for_a_products_tells_its_trail_too():
    body = "<div class=breadcrumb><a href='/'>Home</a><a href='/c/1'>Lamps</a></div><h1>Oak lamp</h1><p>Out of stock</p><div class=description>Made by hand of oak.</div>"
    found = extract(_page(body, path="/x"))
    assert found.kind != "product"
    found.complete()
    assert found.fields["breadcrumbs"] == ["Lamps"]
    assert found.fields["description"] == "Made by hand of oak."


@pytest.mark.parametrize(
    "before",
    [
        "<div class=position><span>您当前的位置：</span><a href='/x'>首页</a> » <a href='/c/1'>Lamps</a></div>",
        "<div class=path><ol><li><a href='/'>홈</a></li><li><a href='/c/1'>Lamps</a></li></ol></div>",
    ],
)
def test_a_trail_called_a_path_begins_at_the_front_page(before):
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}"
    assert _fields(before + body)["breadcrumbs"] == ["Lamps"]
    away = "<div class=position><a href='/map'>Our shops</a> <a href='/c/2'>Berlin</a></div>"
    assert "breadcrumbs" not in _fields(away + body)


def test_a_trail_may_stand_behind_the_heading():
    trail = "<nav aria-label=Breadcrumb><a href='/'>Home</a><a href='/c/1'>Lamps</a></nav>"
    body = f"<h1>Oak lamp</h1>{trail}<b class=price>€ 12.00</b>{_BUY}"
    assert _fields(body)["breadcrumbs"] == ["Lamps"]


def test_links_behind_a_label_are_the_categories_of_a_page_without_a_trail():
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}<div><div>関連カテゴリ</div><ul><li><a href='/c/1'>Lamps</a></li></ul></div>"
    assert _fields(body)["breadcrumbs"] == ["Lamps"]


@pytest.mark.parametrize(
    "said",
    [
        "<h3 class=sr-only>Kuvaus</h3><div>Made by hand of oak.</div>",
        "<ul><li><a href='#d'>Beschreibung</a></li><li><a>Bewertungen und Fragen</a></li></ul><div id=d>Made by hand of oak.</div>",
        "<strong>产品描述：</strong><p>Made by hand of oak.</p>",
    ],
)
def test_a_description_stands_under_its_title(said):
    body = f"<main><div><h1>Oak lamp</h1><b class=price>€ 12.00</b><p>Free delivery from € 40 on.</p>{_BUY}{said}</div></main>"
    assert _fields(body)["description"] == "Made by hand of oak."
    named = "<meta name=description content='Oak lamp'>"
    assert _fields(body, head=named)["description"] == "Made by hand of oak."


def test_a_picture_of_a_mark_is_not_the_products():
    body = f"<main><img src=/img/lamp-1.jpg><div><img src=/t/sale2.png class=newarrival><h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}</div></main>"
    assert _fields(body)["images"] == ["https://shop.example/img/lamp-1.jpg"]


def test_a_number_in_brackets_in_a_heading_is_no_part_of_the_name():
    body = f"<h1><a href=/p/lamp-12>Oak lamp</a><br><small>[B76-10]</small></h1><b class=price>€ 12.00</b>{_BUY}"
    fields = _fields(body)
    assert (fields["name"], fields["sku"]) == ("Oak lamp", "B76-10")


@pytest.mark.parametrize(
    ("says", "kinds"), [("Επόμενη σελίδα", ["pagination"]), ("Newest first", [])]
)
def test_a_listing_that_pages_by_a_cursor_is_paged(says, kinds):
    body = f"<h1>Lamps</h1><a href='/lamps?cursor=WyJ02x9Q=='>{says}</a>"
    links = [link for link in find_links(_page(body, path="/lamps")) if "cursor" in link.url]
    assert [link.kind for link in links if link.kind == "pagination"] == kinds


def test_a_tile_of_another_product_describes_nothing():
    tile = "<li><div class=description><a href=/p/x-9>Elm lamp</a> 90 €, price 90 €</div></li>"
    body = f"<h1>울 코트</h1><b class=price>37,700원</b>{_BUY}<h3>관련상품</h3><ul>{tile}</ul>"
    assert "description" not in _fields(body, title="울 코트", lang=" lang=ko")


def test_a_maker_may_stand_behind_its_label_above_the_heading():
    body = f"<div>Marka: <a href=/f/1>Viking</a></div><h1>Buty Alpin</h1><b class=price>99,00 zł</b>{_BUY}"
    assert _fields(body, title="Buty Alpin", lang=" lang=pl")["brand"] == "Viking"


def test_a_description_of_a_status_is_not_the_products():
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}<div class=status_description>There is enough in stock</div>"
    assert "description" not in _fields(body)
    own = "<div class=ProductItem-details-excerpt>Made by hand.</div>"
    assert _fields(body + own)["description"] == "Made by hand."


def test_a_structured_name_ends_where_the_heading_does_if_the_title_goes_on_alike():
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}"
    data = _ld("12.00").replace('"Oak lamp"', '"Oak lamp — Studio"')
    assert _fields(body, title="Oak lamp — Studio", head=data)["name"] == "Oak lamp"
    assert _fields(body, title="Oak lamp", head=data)["name"] == "Oak lamp — Studio"


def test_json_ld_may_write_its_offers_with_a_capital():
    data = _ld("23.48").replace('"offers"', '"Offers"')
    assert extract(_page(f"<h1>Oak lamp</h1>{_BUY}", head=data)).sources["price"] == "json-ld"


def test_a_row_that_leads_to_a_maker_is_no_tile_of_another_product():
    row = (
        "<div class=product-list-row><div>Marka</div><div><a href=/marka/viko>Viko</a></div></div>"
    )
    body = f"<h1>Akıllı priz</h1><b class=price>29,90 TL</b>{row}{_BUY}"
    assert _fields(body, title="Akıllı priz", lang=" lang=tr")["brand"] == "Viko"


def test_a_page_of_a_listing_that_says_its_number_twice_is_paged():
    body = "<h1>Lamps</h1><a class=pager href='/lamps?tstore=2&page=2'>2</a>"
    links = [link for link in find_links(_page(body, path="/lamps")) if "tstore" in link.url]
    assert [link.kind for link in links] == ["pagination"]


def test_a_pager_may_keep_the_order_that_a_listing_has_anyway():
    body = "<h1>Lamps</h1><a href='/index.php?c=21&sort=2a&page=3'>3</a><a href='/index.php?c=21&sort=3d&page=1'>Price</a>"
    links = find_links(_page(body, path="/index.php?c=21"))
    assert [link.url[-6:] for link in links if link.kind == "pagination"] == ["page=3"]


def test_a_sum_from_which_on_postage_is_free_is_no_price():
    body = f"<h1>Vela Rosa</h1><b class=price>Preço <button>Envio grátis acima de 40 €</button></b>{_BUY}"
    assert "price" not in _fields(body, title="Vela Rosa", lang=" lang=pt")
