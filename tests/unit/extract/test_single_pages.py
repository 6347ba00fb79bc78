"""Single pages of shops that the rules were not written for, each with one trouble."""

import json
from decimal import Decimal

import pytest

from crawler.extract import extract, parse
from tests.unit.extract.bodies import BUY, H1, found

PRICE = "<p>£9.99</p><p>In stock</p>"


def _fields(title: str, body: str):
    return extract(
        parse(f"<title>{title}</title>{body}{PRICE}{BUY}", "https://a.example/p/1")
    ).fields


def test_a_heading_of_brand_and_model_keeps_the_model_that_the_title_shortens():
    heading = "<h1><strong>Acme</strong> <span>PowerCore Essential 20000</span></h1>"
    fields = _fields("Acme PowerCore 20000", heading)
    assert fields["name"] == "Acme PowerCore Essential 20000"


def test_a_remark_is_no_name_where_the_shops_name_begins_the_title():
    heading = "<h1><span>The Wind <i>[Mass Market Paperback]</i></span></h1>"
    assert _fields("Riverbooks: The Wind (978): Roth", heading)["name"] == "The Wind"


def test_one_word_behind_the_shops_name_in_the_title_is_no_name():
    heading = "<h1>Sofa <span>Two seater in green velvet</span></h1>"
    name = _fields("Riverhome: Sofa - Living", heading)["name"]
    assert name == "Sofa Two seater in green velvet"


def test_by_and_a_linked_author_behind_it_are_no_name():
    heading = "<h1>The Garden <em>by</em> <a href=/a/1>Ann Roth</a></h1>"
    assert _fields("SHOP | The Garden by Ann Roth | Paperback", heading)["name"] == "The Garden"


def test_a_joiner_before_the_name_in_data_is_no_part_of_it():
    data = json.dumps({"@type": "Product", "name": "\u200cکتاب", "offers": {"price": "9"}})
    page = f'<script type="application/ld+json">{data}</script><h1>کتاب</h1>'
    assert extract(parse(page, "https://a.example/p/1")).fields["name"] == "کتاب"


@pytest.mark.parametrize("words", ["Preis pro Stück: ", "Preis je Stück "])
def test_words_before_the_price_of_one_piece_call_it_the_price(words):
    fields = found(f"{H1}<div>{words}<b>38,76 €</b></div>{BUY}", lang="de").fields
    assert fields["price"] == Decimal("38.76")


@pytest.mark.parametrize(
    ("several", "price"), [("soit 394,00 € les 4", "98.50"), ("avec 390,00 € les 4", "390.00")]
)
def test_what_several_pieces_cost_together_is_not_the_price(several, price):
    body = f"{H1}<div>98,50 € / pneu</div><div>{several}</div>{BUY}"
    assert found(body, lang="fr").fields["price"] == Decimal(price)


@pytest.mark.parametrize(
    ("name", "offer", "price"),
    [
        ("Kaffee Crema", "<div>2 kg 40,00 €</div><div>20,00 € / kg</div>", "40.00"),
        ("Set of 4 chairs", "<div>Set of 4: 400,00 €</div><div>100,00 € / chair</div>", "400.00"),
    ],
)
def test_a_quantity_or_a_set_costs_what_it_costs_together(name, offer, price):
    assert found(f"<h1>{name}</h1>{offer}{BUY}").fields["price"] == Decimal(price)


def test_an_amount_that_a_class_calls_old_stays_doubtful_before_a_higher_one():
    read = found(f"{H1}<span class=price-old>79,00 €</span> <span>99,00 €</span>{BUY}", lang="de")
    assert read.fields["price"] == Decimal("99.00")


def test_an_amount_that_only_a_class_calls_old_is_the_price_before_a_higher_one():
    box = "<span class=regular-price><span class=price>799,00 €</span></span>"
    fields = found(f"{H1}{box}<p>Carton de 6 : 4 500,00 €</p>{BUY}", lang="fr").fields
    assert (fields["price"], fields.get("regular_price")) == (Decimal(799), None)


def test_the_link_of_the_author_before_a_price_does_not_make_it_another_products():
    by = "<p>by <a href=/author/1>Ann Roth</a></p>"
    others = "<h4>Other formats</h4><ul><li>Hardback £20.00</li><li>eBook £5.99</li></ul>"
    stock = "<p>Paperback 320 pages</p><p>In stock</p><a class=buy href=/add/1>Add to basket</a>"
    fields = found(f"{H1}{by}<p>£9.99</p>{stock}{others}").fields
    assert fields["price"] == Decimal("9.99")


def test_a_bare_amount_has_the_currency_of_the_head():
    head = '<meta property="og:price:currency" content="NOK">'
    fields = found(f"{H1}<div>1 290,-</div>{BUY}", head).fields
    assert (fields["price"], fields["currency"]) == (Decimal(1290), "NOK")


def test_the_price_of_a_sale_in_a_trackers_product_counts_before_that_of_a_unit():
    product = '{"product": {"name": "Red Lamp", "unitSalePrice": 412, "unitPrice": 549}}'
    fields = found(f"{H1}<script>window.digitalData = {product};</script>").fields
    assert fields["price"] == 412


def test_the_objects_that_a_state_refers_to_are_followed():
    product = {"name": "Red Lamp", "price": 9, "currency": "EUR", "brand": {"__ref": "Brand:9"}}
    state = json.dumps({"Product:1": product, "Brand:9": {"name": "Acme"}})
    fields = found(f"{H1}<script>window.__APOLLO_STATE__={state};</script>").fields
    assert fields["brand"] == "Acme"


@pytest.mark.parametrize("box", ["<div class='d-none d-lg-block'>", "<div class='hidden md:flex'>"])
def test_a_box_that_wide_screens_show_is_shown(box):
    fields = found(f"{H1}{box}<p>£9.99</p>{BUY}</div>").fields
    assert (fields["price"], fields["availability"]) == (Decimal("9.99"), "InStock")


def test_a_box_that_a_script_hides_as_well_is_hidden():
    out = "<div class='js-hidden md:block'>Out of stock</div>"
    fields = found(f"{H1}<p class=price>£9.99</p>{out}{BUY}").fields
    assert fields["availability"] == "InStock"


def test_a_button_with_a_sentence_buys():
    button = "<button>Click here to add to cart now.</button>"
    assert found(f"{H1}<p class=price>£9.99</p>{button}").fields["availability"] == "InStock"


@pytest.mark.parametrize(
    ("text", "stock"),
    [
        ("In Stock. Usually ships within 24 hours from our warehouse.", "InStock"),
        ("In stock items are sent within 24 hours from our warehouse.", None),
    ],
)
def test_a_text_that_begins_with_the_stock_says_it(text, stock):
    assert (
        found(f"{H1}<p class=price>£9.99</p><div>{text}</div>").fields.get("availability") == stock
    )


@pytest.mark.parametrize(
    "maker",
    [
        "<p>by <a href='brand.asp?b=12'>Acme</a></p>",
        "<br><font>by <a href='index.php?manufacturers_id=3'>Acme</a></font>",
        "<a href=/stores/Acme/page/1>Visit the Acme Store</a>",
        "<div data-product-sku=L-1 data-product-brand=Acme></div>".replace("=Acme", "='Acme'"),
    ],
)
def test_the_maker_without_a_label_of_its_own(maker):
    assert found(f"{H1}{maker}{PRICE}{BUY}").fields["brand"] == "Acme"


@pytest.mark.parametrize(
    "other",
    [
        "<p>by <a href='author.php?id=12'>Ann Roth</a></p>",
        "<a href=/stores/london>Visit our London store</a>",
        "<ul><li>Anbieter: Acme</li></ul>",
        "<i data-sku=1 data-brand='Acme'></i><i data-sku=2 data-brand='Bolt'></i>",
        "<div data-brand='Acme'></div>",
    ],
)
def test_others_than_the_maker(other):
    assert "brand" not in found(f"{H1}{other}{PRICE}{BUY}").fields


@pytest.mark.parametrize(
    ("lang", "other"),
    [
        ("en", "<i data-brand='Klarna' data-id=1 data-price=999></i>"),
        ("en", "<div data-item-brand='Acme' data-item-id=2><a href=/p/2>Lamp</a> £8.00</div>"),
        ("pl", "<p><a href='#opis'>Zobacz pełny opis</a></p>"),
        ("es", "<p><a href=/tienda>Visita la tienda de Madrid</a></p>"),
        ("de", "<p><a href=/laden>Besuchen Sie den Showroom in Köln</a></p>"),
        ("de", "<p>PZN: 1619</p><h4>Anbieter</h4><p>Versand GmbH</p>"),
        ("de", "<nav><a href=/h>Hersteller</a><a href=/r>Ratgeber</a></nav><p>PZN suchen</p>"),
    ],
)
def test_other_names_beside_a_product(lang, other):
    assert "brand" not in found(f"{H1}{other}{PRICE}{BUY}", lang=lang).fields


@pytest.mark.parametrize("rest", ["Phone 7 case by Bolt", "Lamp compatible shade", "style chair"])
def test_a_maker_of_the_menu_for_whose_goods_or_in_whose_style_a_product_is(rest):
    menu = "<nav><a href=/brands/acme>Acme</a></nav>"
    page = f"{menu}{4 * '<div>'}<h1>Acme {rest}</h1>{PRICE}{BUY}"
    assert "brand" not in extract(parse(page, "https://a.example/p/1")).fields


def test_the_vendor_of_a_medicine_is_its_maker():
    vendor = "<p>PZN: 16197878</p><ul><li>Anbieter: Acme</li></ul>"
    assert found(f"{H1}{vendor}{PRICE}{BUY}", lang="de").fields["brand"] == "Acme"


@pytest.mark.parametrize(
    ("link", "name", "maker"),
    [
        ("Acme", "Acme shoes for men", "Acme"),
        ("Acme", "ACME Lamp 7", "Acme"),
        ("ACME", "Acme Lamp 7", "ACME"),
        ("Orme &amp; Bolt", "Orme &amp; Bolt Cup 7", "Orme & Bolt"),
    ],
)
def test_a_maker_of_the_menu_with_whom_the_name_begins(link, name, maker):
    menu = f"<nav><a href=/brands/1>{link}</a><a href=/brands/bolt>Bolt</a></nav>"
    page = f"<title>{name}</title>{menu}{4 * '<div>'}<h1>{name}</h1>{PRICE}{BUY}"
    assert extract(parse(page, "https://a.example/p/1")).fields["brand"] == maker


def test_a_list_of_the_numbers_of_parts_that_one_replaces_holds_no_number_of_its_maker():
    assert "mpn" not in found(f"{H1}<p>OEM No: RE62418, RE533910</p>{PRICE}{BUY}").fields
    assert found(f"{H1}<p>OEM No: RE62418</p>{PRICE}{BUY}").fields["mpn"] == "RE62418"


def test_the_binding_may_stand_before_the_label_of_a_books_number():
    fields = found(f"{H1}<div>Softcover ISBN 13: 9780261102217</div>{PRICE}{BUY}").fields
    assert fields["gtin"] == "9780261102217"


def test_a_sentence_about_shopping_is_no_button():
    about = "<p>From £10 to £500. In stock all year.</p><p>Add to basket and check out.</p>"
    page = f"<h1>Gift cards</h1>{about}"
    assert extract(parse(page, "https://a.example/help/gift-cards-faq")).kind == "other"


def test_an_advertisement_for_a_flat_is_no_product():
    flat = "<h1>Appartement 3 pièces 68 m²</h1><p>285 000 €</p><p>Réf. 88123</p>"
    page = f"<html lang=fr>{flat}<button>Contacter l'agence</button>"
    assert extract(parse(page, "https://a.example/annonce/lyon-88123")).kind == "other"
