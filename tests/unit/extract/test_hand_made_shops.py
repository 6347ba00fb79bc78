"""What hand-made shops do that shop systems do not: each in a small page of ours."""

from decimal import Decimal

import pytest

from crawler.extract import extract, find_links, parse
from crawler.extract.external_id import product_part
from crawler.extract.stock.availability import availability_of_text


def _page(body, path="/p/lamp-12", title="Oak lamp", lang=" lang=en", site="https://shop.example"):
    html = f"<html{lang}><head><title>{title}</title></head><body>{body}</body></html>"
    return parse(html.encode(), f"{site}{path}", "text/html; charset=utf-8")


def _read(body, **page):
    return extract(_page(body, **page))


_BUY = "<form><input name=qty><button>Add to cart</button></form>"


def test_a_script_without_an_ending_shows_the_thing_of_its_parameter():
    keys = [product_part(f"https://a.example/customer/BookDetails?book_id={n}") for n in (11, 12)]
    assert keys == ["11", "12"]
    assert product_part("https://a.example/detail?id=7") == "7"
    assert product_part("https://a.example/red-lamp?variant_id=7") == "red-lamp"
    assert product_part("https://a.example/product/red-lamp?id=7") == "red-lamp"


def test_a_heading_in_a_box_that_is_called_the_foot_names_nothing():
    body = f"<div><h2>Oak lamp</h2></div><div><h2>Oak lamp</h2><div class=product-price>€ 12.00</div>{_BUY}</div><div class='footer-top-area'><h2>Red Store</h2></div>"
    assert _read(body, title="Red Store").fields["name"] == "Oak lamp"


def test_what_stands_behind_the_section_of_similar_things_is_the_products_own():
    tiles = "".join(
        f"<li><a href=/p/{n}><p>Lamp {n}</p><small>€ {n}.50</small></a></li>" for n in range(4)
    )
    body = f"<h1>Oak lamp</h1><section><h2>You might also like</h2><ul>{tiles}</ul></section><p class=price>€ 204.95</p><button>Add to cart</button>"
    found = _read(body)
    assert (found.kind, found.fields["price"]) == ("product", Decimal("204.95"))
    apart = body.replace("section>", "div>").replace("<section", "<div")
    assert _read(apart).fields.get("price") is None  # nothing says where the similar things end


def test_a_product_in_the_attribute_of_an_alpine_box_is_read():
    body = """<main x-data="shown({name: 'Oak lamp', price: 4221, old_price: null, sku: 'T92', stock: 0})"><h1>Oak lamp</h1><b x-text=product.price></b><span>DA</span></main>"""
    found = _read(body, lang=" lang=fr").fields
    assert (found["price"], found["currency"], found["sku"]) == (Decimal(4221), "DZD", "T92")
    assert found["availability"] == "OutOfStock"


@pytest.mark.parametrize(("pieces", "stock"), [(3, "InStock"), (0, "OutOfStock")])
def test_a_states_count_of_pieces_is_the_stock(pieces, stock):
    state = f'{{"product":{{"name":"Oak lamp","price":12.5,"countInStock":{pieces},"category":{{"slug":"x","name":"Lamps"}}}}}}'
    found = _read(f"<h1>Oak lamp</h1><script type=application/json>{state}</script>").fields
    assert (found["availability"], found["breadcrumbs"]) == (stock, ["Lamps"])


def test_a_sheet_of_labels_names_price_currency_stock_and_maker():
    row = "".join(
        f"<tr><th>{a}</th><td>{b}</td></tr>"
        for a, b in {
            "Part No.": "A86-10",
            "Mfr": "Omron",
            "Price (USD)": "1'038.95",
            "Qty on hand": "0",
        }.items()
    )
    body = (
        f"<h2>Slow fuse</h2><img src=/pix/1.gif><table>{row}</table><p>Tested before shipping.</p>"
    )
    found = _read(body, title="A86-10", lang="").fields
    assert (found["name"], found["price"], found["currency"]) == (
        "Slow fuse",
        Decimal("1038.95"),
        "USD",
    )
    assert (found["availability"], found["brand"]) == ("OutOfStock", "Omron")
    assert found["images"] == ["https://shop.example/pix/1.gif"]


def test_the_only_money_that_a_page_speaks_of_is_that_of_its_bare_numbers():
    body = f"<h1>Oak lamp</h1><ul><li>Price: 12.50</li></ul>{_BUY}<p>All prices in CHF, tax included.</p>"
    assert _read(body).fields["currency"] == "CHF"
    assert "currency" not in _read(body + "<p>Free from 90 EUR on</p>").fields


def test_a_telephone_tells_whose_rupees_they_are():
    body = f"<h1>Oak lamp</h1><b class=price>Rs. 250</b>{_BUY}<p>Call us: +94 11 234 5678</p>"
    assert _read(body).fields["currency"] == "LKR"
    assert _read(body + "<p>or +91 22 1234 5678</p>").fields["currency"] == "INR"  # two countries
    assert _read(body.replace("Rs.", "€")).fields["currency"] == "EUR"


@pytest.mark.parametrize(
    "trail",
    [
        "<p><a href=/>Start</a> &raquo; <a href=/lamps/>Lamps</a></p>",
        "<div id=miga><a href=/>Inicio</a> &gt; <a href=/lamps/>Lamps</a> &gt; Oak lamp</div>",
        "<p><a href=/index.php>Top</a> / <a href=/lamps/>Lamps</a> / <a href=/p/lamp-12>X1</a></p>",
    ],
)
def test_a_trail_that_no_class_calls_one_tells_the_category(trail):
    found = _read(f"{trail}<h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}")
    assert found.fields["breadcrumbs"] == ["Lamps"]
    menu = trail.replace("&raquo;", "|").replace("&gt;", "|").replace(" / ", " | ")
    body = f"{menu}<h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}"
    assert "breadcrumbs" not in _read(body).fields


@pytest.mark.parametrize(
    "told",
    [
        "<p>Catégorie : Lampes</p>",
        "<h3>Category: <span>Lampes</span></h3>",
        "<b>Kategorie</b>: <a href=/l>Lampes</a>",
    ],
)
def test_a_label_tells_the_category(told):
    found = _read(f"<h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}{told}")
    assert found.fields["breadcrumbs"] == ["Lampes"]


def test_the_first_sentences_behind_the_heading_describe_what_no_box_does():
    said = "Turned by hand in our small workshop in Heidelberg."
    body = f"<h1>Oak lamp</h1><p>Shipping takes two or three days.</p><b class=price>€ 12.00</b>{_BUY}<p>{said}</p>"
    assert _read(body).fields["description"] == said
    foot = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}<p>© 2026 Red House of lamps and other things.</p>"
    assert "description" not in _read(foot).fields
    others = (
        f"<h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}<h2>You may also like</h2><p>{said}</p>"
    )
    assert "description" not in _read(others).fields


def test_a_badge_in_the_place_of_the_button_says_that_it_is_gone():
    body = "<h1>Oak lamp</h1><b class=price>€ 12.00</b><span class=badge>Temporarily out of stock</span><p>Ships in 2 days.</p>"
    assert _read(body).fields["availability"] == "OutOfStock"
    assert _read(body + _BUY).fields["availability"] == "InStock"


def test_each_size_in_a_table_tells_its_own_stock():
    rows = "".join(f"<tr><td>{n} l</td><td>€ {n}.50</td><td>out of stock</td></tr>" for n in (2, 5))
    body = f"<h1>Oak lamp</h1><table>{rows}</table>"
    assert _read(body).fields["availability"] == "OutOfStock"


def test_links_that_put_something_into_a_cart_are_not_followed():
    links = [
        "/customer/AddCart?id=7",
        "/addCart.asp?idproduct=7",
        "/store/customer_createorder.php?bid=7",
    ]
    body = "".join(f"<a href='{link}'>x</a>" for link in [*links, "/lamp/7"])
    found = {link.url for link in find_links(_page(body, path="/"))}
    assert found == {"https://shop.example/lamp/7"}


def test_a_labelled_price_goes_before_another_amount_in_the_table():
    rows = "".join(
        f"<tr><td><b>{a}:</b></td><td>{b}</td></tr>"
        for a, b in {"Catalogue": "EUR 398.85", "Price": "EUR 132.95"}.items()
    )
    body = f"<h1>Oak lamp</h1><table>{rows}</table>{_BUY}"
    assert _read(body).fields["price"] == Decimal("132.95")


def test_the_label_of_its_row_says_that_an_amount_is_without_tax():
    rows = "".join(
        f"<tr><td>{a}:</td><td>{b}</td></tr>"
        for a, b in {"Pris eks. mva": "kr 61,56", "Pris inkl. mva": "kr 76,95"}.items()
    )
    body = f"<h2>Lanterne</h2><table>{rows}</table>{_BUY}"
    found = _read(body, lang=" lang=no", title="Båtutstyr AS").fields
    assert (found["price"], found["name"]) == (Decimal("76.95"), "Lanterne")


def test_an_amount_with_its_tax_beside_it_is_without_tax():
    body = f"<h1>Oak lamp</h1><div>Price: ₹19,018 (Incl. of all taxes)</div><div>₹16,117 + ₹2,901 GST</div>{_BUY}"
    found = _read(body).fields
    assert (found["price"], found.get("regular_price")) == (Decimal(19018), None)


def test_of_bare_numbers_behind_labels_the_reduced_one_with_tax_is_the_price():
    body = "<div>Nazwa: <b>Ser górski</b><br>Cena netto: 17,50<br>Cena brutto: 18,38<br>Cena promocyjna brutto: 14,70<br><img src=/f/1.jpg><input type=submit value='Dodaj do koszyka'></div>"
    found = _read(body, lang=" lang=pl", title="Spiżarnia").fields
    assert (found["name"], found["price"]) == ("Ser górski", Decimal("14.70"))
    assert (found["regular_price"], found["currency"]) == (Decimal("18.38"), "PLN")
    assert found["images"] == ["https://shop.example/f/1.jpg"]


def test_facts_in_letters_of_headings_name_nothing_where_a_label_asks_for_the_name():
    body = "<h6><b>Nombre:</b> Mate torpedo</h6><h6><b>Descripción:</b> Hecho a mano en San Antonio de Areco.</h6><h6><b>Precio:</b> $9073.-</h6><a class=btn href=#>Agregar al Carrito</a>"
    found = _read(body, lang=" lang=es-AR", title="MKL").fields
    assert (found["name"], found["price"]) == ("Mate torpedo", Decimal(9073))
    assert found["description"] == "Hecho a mano en San Antonio de Areco."


def test_a_word_for_a_currency_behind_a_labelled_number_is_it():
    body = "<p><b>Nombre:</b>Poncho rojo</p><p><b>Precio:</b>292.95 Bs</p><p><b>Estado:</b>Producto disponible</p>"
    found = _read(body, lang=" lang=es", title="ProyPhp").fields
    assert (found["price"], found["currency"]) == (Decimal("292.95"), "BOB")


def test_a_heading_in_a_box_that_is_called_the_head_is_the_shops():
    body = f"<div class=header><h1>Red Store Online</h1><a href=/>Home</a><a href=/all>All</a></div><div><h2>Oak lamp</h2><h2>36€</h2>{_BUY}</div>"
    assert _read(body, title="Red Store").fields["name"] == "Oak lamp"


def test_a_meta_description_of_the_shop_is_not_the_things():
    said = "Turned by hand in our small workshop in Heidelberg."
    body = f"<meta name=description content='Huber, your shop in Graz'><h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}<p>{said}</p>"
    assert _read(body).fields["description"] == said
    own = body.replace("your shop", "your lamps")
    assert _read(own).fields["description"] == "Huber, your lamps in Graz"
    alone = body.replace(said, "")
    assert _read(alone).fields["description"] == "Huber, your shop in Graz"


def test_the_second_figure_of_ten_days_is_no_stock_of_none():
    assert availability_of_text("Lieferzeit ca. 10 Werktage") == "InStock"
    assert availability_of_text("In stock: 0 pcs.") == "OutOfStock"


def test_a_state_behind_its_label_may_be_one_word():
    body = (
        "<h1>Kniha</h1><ul><li>Cena: <b class=price>89 Kč</b></li><li>Dostupnost: prodáno</li></ul>"
    )
    assert _read(body, lang=" lang=cs", title="Kniha").fields["availability"] == "OutOfStock"


def test_one_script_shows_lists_and_things_by_different_parameters():
    links = "".join(f"<a href='/shop?{q}'>x</a>" for q in ("vare=61", "gruppe=12&sort=5", "side=2"))
    page = _page(links, path="/shop?gruppe=12")
    found = {link.url.partition("?")[2] for link in find_links(page)}
    assert "vare=61" in found
    assert "gruppe=12&sort=5" not in found


def test_one_script_with_a_number_of_unknown_name_shows_many_things():
    body = "".join(f"<li><a href='/goods/view.do?goodsSeq={n}'>x</a></li>" for n in (11, 12, 13))
    found = {link.url for link in find_links(_page(body, path="/goods/list.do?pageNo=2"))}
    assert len(found) == 3


def test_what_is_sold_by_the_metre_keeps_its_price_when_it_is_gone():
    body = "<h2>Flannel</h2><p><b>Item #:</b> M23-10<br><b>Price:</b> <font>C$42.89</font> per metre<br><b>In stock:</b> No</p>"
    found = _read(body, title="Flannel :: Fabrics").fields
    assert (found["price"], found["availability"]) == (Decimal("42.89"), "OutOfStock")


def test_the_picture_may_stand_in_the_column_beside_the_headings():
    body = f"<div><a href=/>Red Store</a></div><div><img src=/i/1.jpg></div><div><h1>Oak lamp</h1><b class=price>€ 12.00</b>{_BUY}</div>"
    assert _read(body).fields["images"] == ["https://shop.example/i/1.jpg"]


def test_a_sentence_about_the_stock_alone_describes_nothing():
    said = "Turned by hand in our small workshop in Heidelberg."
    body = f"<h1>Oak lamp</h1><b class=price>€ 12.00</b><p>This one has sold. Another batch is due in May.</p><p>{said}</p>"
    found = _read(body).fields
    assert (found["availability"], found["description"]) == ("OutOfStock", said)
