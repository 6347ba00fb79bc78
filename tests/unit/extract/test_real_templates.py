"""What pages of widespread and of hand-made templates say in a way of their own."""

from decimal import Decimal

import pytest

from crawler.extract import extract, parse
from crawler.extract.external_id import product_part
from crawler.extract.stock.availability import availability_of_text
from crawler.extract.template.product_names import name_place
from crawler.extract.template.values_by_place import Text


def _read(body, path="/p/lamp-12", title="Oak lamp", lang="en"):
    html = f"<html lang={lang}><head><title>{title}</title></head><body>{body}</body></html>"
    return extract(parse(html.encode(), f"https://shop.example{path}", "text/html; charset=utf-8"))


def test_a_scripts_one_parameter_with_a_figure_is_the_products_key():
    keys = [product_part(f"https://a.example/item.php?it_id={n}&ca_id=10") for n in (15, 16)]
    assert keys == ["15", "16"]
    assert product_part("https://a.example/index.php?page=Detail&productId=7") == "7"
    assert product_part("https://a.example/item.php?a=1&b=2") == "item"  # neither is known to be it


def test_a_heading_that_goes_on_with_linked_categories_is_read_without_them():
    body = '<h1>Oak lamp &gt; Lamps</h1><a href="/l">Lamps</a><b class=price>€ 12.00</b><button>Add to cart</button>'
    assert _read(body, title="Oak lamp > Lamps | Shop").fields["name"] == "Oak lamp"
    unlinked = body.replace("</a>", " of ours</a>")
    assert (
        _read(unlinked, title="Oak lamp > Lamps | Shop").fields["name"].startswith("Oak lamp > L")
    )


@pytest.mark.parametrize(
    "body",
    [
        "<h6>ART</h6><h4>Old church</h4><h2>₱1,250</h2>",
        "<h4><del>₱1,400</del> ₱1,250</h4><h2>Old church</h2>",
    ],
)
def test_the_heading_beside_the_price_names_what_a_shops_one_title_does_not(body):
    found = _read(
        f"<div>{body}<form><button>Add to cart</button></form></div><h4>Contact</h4>",
        title="ARTCO",
        path="/single_view.php?product_id=4",
    )
    assert found.fields["name"] == "Old church"
    assert found.fields["price"] == Decimal(1250)


def test_headings_beside_prices_name_no_page_that_has_several():
    tiles = "".join(
        f"<div><a href='/t{n}'><h5>Lamp {n}</h5></a><h4>₱{n}50</h4></div>" for n in (1, 2)
    )
    assert _read(tiles, title="ARTCO", path="/shop.php").kind != "product"


def test_tiles_described_as_products_of_other_pages_make_no_listing_of_a_page_with_a_price():
    def tile(n):
        return (
            f'<div class="item"><a href="/p/shade-{n}">Shade {n}</a><b class=price>$ {n}0,00</b>'
            '<script type="application/ld+json">{"@type":"Product","name":"Shade %d","offers":'
            '{"@type":"Offer","url":"https://shop.example/p/shade-%d","price":"%d0"}}</script></div>'
            % (n, n, n)
        )

    own = '<h1>Oak lamp</h1><div class="price">$ 99,00</div><form><input name=quantity value=1><button>Add to cart</button></form>'
    related = "".join(map(tile, (1, 2, 3)))
    found = _read(f"{own}<div id=related><h3>Similar</h3>{related}</div>")
    assert (found.kind, found.fields.get("price")) == ("product", Decimal(99))
    last = _read(f"<h1>Lamps</h1>{tile(1)}", title="Lamps", path="/lamps/page/3/")
    assert last.fields.get("name") != "Shade 1"  # the last page of a listing shows one


def test_the_price_whose_class_says_old_is_the_price_where_only_a_sentence_tells_another():
    body = '<h1>Oak table</h1><div class="price-old">195 118 руб.</div><button>В корзину</button><p>Own make. Assembly of all tables from 1 500 руб.</p>'
    assert _read(body, lang="ru").fields["price"] == Decimal(195118)
    reduced = body.replace("<button>", '<div class="price">180 000 руб.</div><button>')
    fields = _read(reduced, lang="ru").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(180000), Decimal(195118))


def test_the_lower_of_two_amounts_with_labels_for_a_price_is_the_price():
    rows = "<li><b>本店售价：</b>￥365.00元</li><li><b>vip：</b>￥347.00元</li><li><b>促销价：</b>￥310.00元</li>"
    fields = _read(f"<h1>Oak lamp</h1><ul>{rows}</ul><button>加入购物车</button>", lang="zh").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(310), Decimal(365))


@pytest.mark.parametrize(
    ("price", "value", "currency"),
    [
        ("￥198.00元", "198.00", "CNY"),
        ("11,990～13,860 円", "11990", "JPY"),
    ],
)
def test_a_sign_behind_and_a_wave_between_amounts_tell_what_these_are(price, value, currency):
    fields = _read(
        f"<h1>Oak lamp</h1><b class=price>{price}</b><button>Buy</button>", lang=""
    ).fields
    assert (fields["price"], fields["currency"]) == (Decimal(value), currency)


def test_the_currency_of_a_scripts_object_says_whose_dollar_it_is():
    script = '<script>var LS = {currency:{"code":"ARS","display_short":"$"}};</script>'
    fields = _read(
        f"{script}<h1>Oak lamp</h1><b class=price>$ 112.234,50</b><button>Comprar</button>",
        lang="es",
    ).fields
    assert fields["currency"] == "ARS"


def test_a_types_letter_before_figures_is_no_currency():
    body = "<h1>BMW R100 2011</h1><p>Model R100</p><p>Sold</p>"
    assert "price" not in _read(body, title="BMW R100 2011").offered["text"]


def test_a_label_a_sign_and_a_value_in_three_cells_are_a_fact():
    row = "<tr><td>Šifra</td><td>: </td><td>97886-10</td></tr>"
    price = "<tr><td>Cena</td><td>: </td><td>1720 dinara</td></tr>"
    found = _read(f"<h1>Seobe</h1><table>{row}{price}</table>", title="Seobe", lang="sr")
    assert (found.kind, found.fields["sku"]) == ("product", "97886-10")


def test_a_field_that_says_sold_out_goes_before_the_tiles_fields_that_buy():
    tile = '<div class=item><a href="/p/{0}">Shade {0}</a><b class=price>$ {0}0</b><input type=submit value="Add to cart"></div>'
    body = '<h1>Oak lamp</h1><b class=price>$ 99</b><form><input type=submit value="{}" {}></form>'
    tiles = "".join(tile.format(n) for n in (1, 2))
    gone = body.format("Out of stock", "disabled")
    assert _read(gone + tiles).fields["availability"] == "OutOfStock"
    assert _read(body.format("Add to cart", "") + tiles).fields["availability"] == "InStock"


def test_a_picture_that_says_to_buy_is_a_button():
    button = (
        '<a href="javascript:void(document.form1.submit())"><img src=b.jpg alt="Add to cart"></a>'
    )
    body = "<h1>Oak lamp</h1><b class=price>€ 12</b>"
    assert _read(body + button).fields["availability"] == "InStock"
    assert "availability" not in _read(body + 3 * button).fields  # a listing's


def test_a_row_for_the_price_without_an_amount_leaves_later_amounts_alone():
    table = "<table><tr><th>판매가격</th><td>{}</td></tr></table>"
    body = (
        "<h1>의자</h1>"
        + table
        + "<button>장바구니</button><h2>배송</h2><p>도서산간 추가 5,000원</p>"
    )
    assert "price" not in _read(body.format("전화문의"), lang="ko").fields
    assert _read(body.format("9,000원"), lang="ko").fields["price"] == Decimal(9000)


def test_names_are_found_where_one_title_and_one_heading_stand_on_all_pages():
    names = ("Fish fingers", "Patties", "Cheddar", "Soap bar", "Prawns", "Butter", "Rye bread",
             "Olives", "Red lentils", "Oat milk", "Honey", "Tea")  # fmt: skip

    def shown(n, name):
        texts = [
            Text("title", "Product Detail", (), False, False),
            Text("h1<body", "Product Detail", (), False, False),
            Text("td<tr<table", name, (), False, False),
            Text("p<body", f"A long text about {name} and how it is made", (), False, False),
            Text("td<tr<form", f"/ {n}0 available", (), False, False),
            Text("a<div", f"Other {names[n - 3]}", (), False, False),
        ]
        return f"https://a.example/detail.php?product_id={n}", texts

    place = name_place([shown(n, name) for n, name in enumerate(names)])
    assert place == "0 whole td<tr<table"


def test_an_old_price_that_only_a_description_tells_is_none_of_the_page():
    body = "<h1>Lok</h1><b class=price>{}</b><p>inkl. 19% MwSt.</p><p>Detailgetreues Modell. Sammlerpreis früher 300,00 EUR.</p><button>In den Warenkorb</button>"
    plain = _read(body.format("91,50 EUR"), lang="de").fields
    assert (plain["price"], plain.get("regular_price")) == (Decimal("91.50"), None)
    reduced = '<span class=normalprice>99,00 EUR</span> <span class="productSpecialPrice">91,50 EUR</span>'
    fields = _read(body.format(reduced), lang="de").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal("91.50"), Decimal(99))
    beside = "<h1>Lok</h1><b class=price>91,50 EUR</b><p>Unser alter Preis: früher 99,00 EUR</p>"
    assert _read(beside, lang="de").fields["regular_price"] == Decimal(99)


def test_an_offer_in_the_column_before_the_heading_makes_no_product_of_a_page():
    column = '<div><h3>Offers</h3><a href="/x.php?products_id=3"><img src=3.jpg><br>Signal</a><div><b class=specialPrice>91,50 EUR</b></div></div>'
    found = _read(
        f"<table><tr><td>{column}</td><td><h1>Shipping</h1><p>By post</p></td></tr></table>",
        title="Shipping",
        path="/index.php?main_page=shippinginfo",
    )
    assert found.kind != "product"


def test_what_a_choice_adds_is_no_price():
    choice = '<li><input type=radio name=v><label>Size: M <span class="price diff">(Add: $2.00)</span></label></li>'
    body = f'<h1>Bag</h1><ul>{choice}</ul><h6>Price</h6><span class="price">$18.80</span><button>Add to cart</button>'
    assert _read(body).fields["price"] == Decimal("18.80")


@pytest.mark.parametrize(
    ("text", "told"),
    [("0 Stück auf Lager", "OutOfStock"), ("10 Stück auf Lager", "InStock"), ("0 in stock", "OutOfStock")],
)  # fmt: skip
def test_none_in_stock_is_out_of_stock(text, told):
    assert availability_of_text(text) == told


def test_a_reduced_tile_among_others_is_no_price_of_the_listing():
    def tile(n, price):
        return f'<li><a href="/p/{n}">Lamp {n}</a><div>Short text</div><div class=cost>{price}</div></li>'

    tiles = [tile(n, f"€ {n}0") for n in (1, 2, 3)]
    tiles.insert(1, tile(4, "<span class=discount>€ 50</span> € 40"))
    listing = f"<h1>Hits</h1><a href='/cart'>Cart</a><ul>{''.join(tiles)}</ul>"
    found = _read(listing, title="Hits", path="/listtype.php?type=1")
    assert (found.kind, "price" in found.offered["text"]) == ("listing", False)
    own = "<h1>Oak lamp</h1><b class=price>€ 99</b><button>Add to cart</button>"
    assert _read(f"{own}<ul>{''.join(tiles)}</ul>").fields["price"] == Decimal(99)


def test_a_heading_of_other_products_in_the_main_headings_letters_names_nothing():
    body = "<h1>Product Details</h1><div><h3>Square plate</h3><div class=product-price><span>₹180</span> <del>₹240</del></div></div><button>Add to cart</button><h1>Related Products</h1><div class='modal fade'><h3>Round plate</h3><b class=price>₹149.00</b> <del>₹165.00</del></div>"
    found = _read(body, title="Arecaleaf").fields
    assert (found["name"], found["price"]) == ("Square plate", Decimal(180))


def test_a_banner_with_the_end_of_the_title_gives_way_to_the_heading_before_the_price():
    banner = "<section><h1>Wine-Market</h1><p>Best wines in town</p></section>"
    wine = "<section><h2>Category</h2><a href=/red>Red</a><div><h2>Alma Negra</h2><p>Product ID: 14</p><span>$32.00</span><a href=/cart>Add to cart</a></div></section>"
    assert _read(banner + wine, title="Detail | Wine-Market").fields["name"] == "Alma Negra"
    # A shop's name may be the first part of the title, and the product's the last one.
    named = "<div><h1>Oak lamp</h1><h2>In short</h2><b class=price>$32.00</b><button>Add to cart</button></div>"
    assert _read(named, title="Red Store | Oak lamp").fields["name"] == "Oak lamp"


def test_a_form_called_after_the_cart_may_hold_the_heading():
    tiles = "".join(f"<div class=tile><h2>Rs. {n}50</h2><p>Scarf {n}</p></div>" for n in (4, 5, 6))
    body = f"<form id=addtoCart action=/cart><h2>Silk saree</h2><p>Product Code: KS-021</p><span>Rs. 4200</span><button>Add to cart</button></form><h2>recommended items</h2>{tiles}"
    assert _read(body, title="Home | Red Store", path="/product/21").fields["name"] == "Silk saree"


def test_large_and_bold_letters_above_the_price_name_what_no_heading_does():
    body = '<p style="font-size: 1.7em; font-weight: bold;">Oak lamp</p><font color=gray>Picked today</font><p style="font-size: 1.7em;"><strong>€ 14.90</strong></p><input type=button value="Add to cart"><h4>Reviews</h4>'
    assert _read(body, title="Red Store").fields["name"] == "Oak lamp"


@pytest.mark.parametrize(
    ("text", "stock"),
    [
        ("มีสินค้าทั้งหมด: 0 ชิ้น", "OutOfStock"),
        ("มีสินค้าทั้งหมด: 8 ชิ้น", "InStock"),
        ("In stock in total: 0", "OutOfStock"),
        ("In stock: 0-3 days", "InStock"),
    ],
)
def test_none_in_total_is_out_of_stock(text, stock):
    assert availability_of_text(text) == stock


def test_syrian_pounds_in_eastern_figures_and_a_number_behind_a_hash_are_read():
    body = (
        "<p>رقم المنتج: #T41</p><h1>زيت</h1><span>٤٥٬٠٠٠ ل.س</span><button>أضف إلى السلة</button>"
    )
    found = _read(body, title="زيت", lang="ar").fields
    assert (found["price"], found["currency"], found["sku"]) == (Decimal(45000), "SYP", "T41")


def test_a_czech_label_for_the_number_of_the_make_is_read():
    body = "<h1>Krém</h1><b class=price>490 Kč</b><button>Do košíku</button><ul><li>Kód výrobku: LIP-050</li></ul>"
    assert _read(body, title="Krém", lang="cs").fields["sku"] == "LIP-050"


def test_an_input_in_a_hidden_box_buys_nothing_as_a_hidden_button_does_not():
    body = '<h1>Oak lamp</h1><b class=price>$84.00</b><div style="display: none"><input type=submit value="Add to Cart"></div>'
    assert "availability" not in _read(body).fields
    assert _read(body.replace("display: none", "")).fields["availability"] == "InStock"


@pytest.mark.parametrize("price", ["49.00EUR", "<del>62.00EUR</del> <span>49.00EUR</span>"])
def test_a_price_in_the_main_headings_letters_names_nothing(price):
    body = f"<div><h1 style='float: right;'>{price}</h1><h1>Oak lamp<br><span class=smallText>[OL-2]</span></h1></div><button>Add to cart</button>"
    found = _read(body, title="Red Store").fields
    assert (found["name"], found["price"], found["sku"]) == ("Oak lamp", Decimal(49), "OL-2")


def test_a_box_that_is_called_the_name_in_portuguese_names_the_product():
    body = "<label class=prodNome>Mouse sem fio</label><label class=prodPreco>R$ 89,90</label><button>Comprar Agora</button>"
    assert _read(body, title="Produto", lang="pt-br").fields["name"] == "Mouse sem fio"


@pytest.mark.parametrize(
    ("word", "stock"), [("In Stock", "InStock"), ("Out of Stock", "OutOfStock")]
)
def test_a_badge_says_the_stock_where_no_buy_button_can_be_pressed_yet(word, stock):
    body = f"<h5>Ridge hoodie</h5><span class=h5>$ 58</span><button>M</button><span class='badge bg-x'>{word}</span><button disabled>Add to cart</button>"
    assert _read(body, title="Red Store", path="/product/9").fields["availability"] == stock


def test_a_price_for_trackers_without_the_tax_that_the_shown_one_includes_is_dropped():
    data = """[{"id":"T1","name":"Oak lamp","price":"6.45"}]"""
    body = f"<form data-items='{data}'><h1>Oak lamp</h1><strong class=price>6,90 €</strong><p>inkl. 7% USt., zzgl. Versand</p><button>In den Warenkorb</button></form>"
    assert _read(body, lang="de").fields["price"] == Decimal("6.90")


def _table(heads, *rows):
    cells = "".join(f"<th>{head}</th>" for head in heads)
    lines = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return f"<table><tr>{cells}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


_BUY = "<button>Add to cart</button>"


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("Product", ("Trowel", "Rake")),
        ("Item name", ("Trowel", "Rake")),
        ("商品名", ("湯呑", "茶碗")),
    ],
)
def test_a_table_with_a_column_of_names_lists_goods(head, names):
    rows = [(f"GB-{i}", name, f"£{i}.50", i, _BUY) for i, name in enumerate(names, 3)]
    body = f"<h1>All we sell</h1>{_table(('Code', head, 'Price', 'Stock', ''), *rows)}"
    assert _read(body, title="Green Bench", path="/list").product() is None


def test_a_table_with_a_price_beyond_its_head_is_read():
    rows = [("Trowel", "red", "small", "£3.50", _BUY), ("Rake", "red", "big")]
    body = f"<h1>All we sell</h1>{_table(('Product', 'Hue', 'Size'), *rows)}"
    assert _read(body, title="Green Bench").product() is not None


def test_a_table_of_variants_of_the_pages_product_lists_none():
    sizes = [("OL-1", "40 cm", "£30.50", _BUY), ("OL-2", "60 cm", "£42.50", _BUY)]
    body = f"<h1>Oak lamp</h1>{_table(('Code', 'Size', 'Price', ''), *sizes)}"
    assert _read(body).product() is not None
    body = f"<h1>Oak lamp</h1>{_table(('Item #', 'Size', 'Price', ''), *sizes)}"
    assert _read(body).product() is not None
    named = [(code, f"Oak lamp {size}", price, buy) for code, size, price, buy in sizes]
    body = f"<h1>Oak lamp</h1>{_table(('Code', 'Product', 'Price', ''), *named)}"
    assert _read(body).product() is not None


def test_the_internal_number_of_the_first_of_several_rows_is_none_of_the_page():
    rows = [(i, f"Чайник {i}", f"{i}200 руб.", i) for i in (1, 2, 3)]
    heads = ("ID", "Вид", "Цена", "Остаток")
    body = f"<h1>Oak lamp</h1>{_table(heads, *rows)}"
    assert "sku" not in _read(body, lang="ru").fields
    assert _read(f"<h1>Oak lamp</h1>{_table(heads, rows[1])}", lang="ru").fields["sku"] == "2"


@pytest.mark.parametrize(
    ("label", "count", "stock"),
    [
        ("Остаток", "5 шт.", "InStock"),
        ("Stock", "5 pcs", "InStock"),
        ("Stock", "12 unidades", "InStock"),
        ("Lagerbestand", "0 Stück", "OutOfStock"),
        ("남은 재고", "5 개", "InStock"),
        ("재고 수량", "0개", "OutOfStock"),
        ("Stock", "3 days", None),
    ],
)
def test_a_number_of_pieces_behind_a_label_says_the_stock(label, count, stock):
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b><table><tr><th>{label}</th><td>{count}</td></tr></table>"
    assert _read(body).fields.get("availability") == stock


@pytest.mark.parametrize("heading", ["Order #118", "Bestellung bestätigen", "Order details"])
def test_the_heading_of_an_order_names_no_product(heading):
    body = f"<h1>{heading}</h1><h3>Oak lamp</h3><p>Item no. A400</p><p>4.20 €</p><p>In stock</p><button>Send</button>"
    assert _read(body, title="Shop", path="/o/7").product() is None
