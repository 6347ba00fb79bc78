"""What static pages of small shops do that shop systems do not: each in a small page of ours."""

from decimal import Decimal

import pytest

from crawler.extract import extract, parse
from crawler.extract.template import Book

_SITE = "shop.example"


def _page(body, path="/page.html", title="Oak lamp", lang="en"):
    menu = "<nav><a href=/>Home</a><a href=/about>About</a></nav>"
    html = f"<html lang={lang}><head><title>{title}</title></head><body>{menu}{body}</body></html>"
    return parse(html.encode(), f"https://{_SITE}{path}", "text/html; charset=utf-8")


def _read(body, **page):
    return extract(_page(body, **page))


def _confidence(found):
    return Book().judge(_SITE, found).confidence


def _boxes(box, *goods):
    return "".join(box.format(name, price) for name, price in goods)


_BUY = "<button>Add to cart</button>"
_BOX = f"<div class=card><h3>{{}}</h3><p>{{}}</p>{_BUY}</div>"
_DRINKS = (("Espresso", "€2.60"), ("Latte", "€3.70"), ("Mocha", "€4.20"))


@pytest.mark.parametrize(
    "box",
    [
        _BOX,
        f"<div class=card><img src=/a.jpg><p>{{}}</p><p>{{}}</p>{_BUY}</div>",
        f"<div class=card><h2><a class=btn>{{}} {{}}</a></h2>{_BUY}</div>",
        f"<tr><td>{{}}</td><td>{{}}</td><td>{_BUY}</td></tr>",
        f"<div class=card><img src=/a.jpg><div><p>Name: {{}}</p><p>{{}}</p><form>{_BUY}</form></div></div>",
    ],
)
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("heading", ["<h1>Drinks</h1>", ""])
def test_few_boxes_with_a_button_each_are_no_product(box, count, heading):
    boxes = _boxes(box, *_DRINKS[:count])
    body = f"<main>{heading}<div><table>{boxes}</table></div></main>" if "<tr>" in box else boxes
    found = _read(f"<main>{heading}{body}</main>", title="Drinks - Bar")
    assert found.kind != "product"


@pytest.mark.parametrize(
    ("name", "packs", "path"),
    [
        ("Vitamin drops", ("1 bottle", "3 bottles"), "/offer"),
        ("Sencha", ("Sencha fine", "Sencha coarse"), "/offer"),
        ("The long road", ("Hardcover", "Paperback"), "/p/the-long-road"),
    ],
)
def test_a_thing_in_few_packs_stays_a_product_with_a_doubtful_price(name, packs, path):
    goods = zip(packs, ("€12.00", "€29.00"), strict=True)
    found = _read(f"<main><h1>{name}</h1>{_boxes(_BOX, *goods)}</main>", path=path, title=name)
    assert (found.kind, found.fields["name"]) == ("product", name)
    assert _confidence(found)["price"] < 0.9


def test_a_picture_beside_few_boxes_is_that_of_the_thing_in_them():
    editions = _boxes(_BOX, ("Hardcover", "€28.00"), ("Paperback", "€16.00"))
    found = _read(f"<main><h1>The long road</h1><img src=/cover.jpg>{editions}</main>")
    assert found.kind == "product"
    assert _confidence(found)["price"] < 0.9


def test_boxes_of_other_goods_below_a_product_with_its_own_button_take_nothing_from_it():
    own = f"<h1>Oak lamp</h1><p>€89.00</p>{_BUY}"
    found = _read(f"<main>{own}<section>{_boxes(_BOX, *_DRINKS[:1])}</section></main>")
    assert (found.kind, found.fields["price"]) == ("product", Decimal("89.00"))


@pytest.mark.parametrize(
    ("icon", "currency"),
    [
        ("fa fa-inr", "INR"),
        ("fas fa-rupee-sign", "INR"),
        ("fa-solid fa-indian-rupee-sign", "INR"),
        ("fa fa-rub", "RUB"),
        ("fas fa-euro-sign", "EUR"),
        ("fa fa-try", "TRY"),
        ("bi bi-currency-rupee", "INR"),
        ("fas fa-hryvnia", "UAH"),
    ],
)
def test_an_icon_of_a_currency_is_its_sign(icon, currency):
    body = f"<h1>Oak lamp</h1><h4><i class='{icon}'></i> 499</h4>{_BUY}"
    fields = _read(body).fields
    assert (fields["price"], fields["currency"]) == (Decimal(499), currency)
    behind = f"<h1>Oak lamp</h1><p class=price>499<i class='{icon}'></i></p><form><del>600<i class='{icon}'></i></del>{_BUY}</form>"
    fields = _read(behind).fields
    assert (fields["price"], fields["currency"]) == (Decimal(499), currency)
    assert fields["regular_price"] == Decimal(600)


@pytest.mark.parametrize("text", ["Best prices", "100% money back", ""])
def test_an_icon_beside_no_amount_is_an_ornament(text):
    body = f"<h1>Oak lamp</h1><p><i class='fa fa-dollar'></i> {text}</p>{_BUY}"
    assert "price" not in _read(body).fields


@pytest.mark.parametrize(
    ("lang", "text", "value", "currency"),
    [
        ("hu", "54 900 FT", "54900", "HUF"),
        ("pl", "5999 zl", "5999", "PLN"),
        ("pl", "99 ZŁ", "99", "PLN"),
        ("cs", "1290 KČ", "1290", "CZK"),
        ("sv", "449 KR", "449", "SEK"),
        ("id", "RP 175.000", "175000", "IDR"),
        ("vi", "45.000 vnđ", "45000", "VND"),
        ("ru", "7800 РУБ.", "7800", "RUB"),
        ("en-in", "rs.500/-", "500", "INR"),
    ],
)
def test_a_currency_s_word_in_another_case_is_read_in_its_country(lang, text, value, currency):
    body = f"<h1>Oak lamp</h1><h4>{text}</h4>{_BUY}"
    fields = _read(body, lang=lang).fields
    assert (fields["price"], fields["currency"]) == (Decimal(value), currency)


def test_feet_are_no_forints_elsewhere():
    body = f"<h1>Oak lamp</h1><p>Cable: 10 FT</p><p>$25.00</p>{_BUY}"
    assert _read(body).fields["price"] == Decimal("25.00")


@pytest.mark.parametrize(
    ("text", "stock"),
    [
        ("Available within a month", "BackOrder"),
        ("Dostupné do měsíce", "BackOrder"),
        ("Disponible sous 3 semaines", "BackOrder"),
        ("Verfügbar in 4 Wochen", "BackOrder"),
        ("Wird für Sie angefertigt", "BackOrder"),
        ("Réalisé à la commande", "BackOrder"),
        ("Vyrábíme na zakázku", "BackOrder"),
        ("Lieferbar in 3 Wochen", "InStock"),
        ("In stock, delivered within 2 weeks", "InStock"),
        ("Dostupné do 14 dní", "InStock"),
    ],
)
def test_what_is_available_in_weeks_or_made_for_the_buyer_is_not_in_stock(text, stock):
    body = f"<h1>Oak lamp</h1><p class=price>€89.00</p><span class=availability>{text}</span>{_BUY}"
    assert _read(body).fields["availability"] == stock


_FOOT = "<footer><p>&copy; 2024 <b>Corner Store</b>. All rights reserved.</p></footer>"


@pytest.mark.parametrize(
    ("banner", "foot"),
    [
        ("<h1>Corner Store</h1>", _FOOT),
        ("<header><a href=/><h1>Corner Store</h1></a></header>", _FOOT),
        ("<div class=logo><h1>Corner Store</h1></div>", ""),
        ("<nav><div class=site-title><h1>Corner Store</h1></div></nav>", ""),
    ],
)
@pytest.mark.parametrize(
    "name", ["<h2>Oak lamp</h2>", "<p class=product-name>Oak lamp</p>", "<p>Oak lamp</p>"]
)
@pytest.mark.parametrize("title", ["Corner Store", "Product details", "Document"])
def test_the_only_h1_names_no_product_where_logo_or_copyright_call_the_shop_so(
    banner, foot, name, title
):
    body = f"{banner}<main>{name}<p class=price>€15.00</p>{_BUY}</main>{foot}"
    assert _read(body, title=title).fields["name"] == "Oak lamp"


def test_a_shop_of_one_thing_is_called_like_it():
    body = f"<h1>Corner Store</h1><main><h2>Order now</h2><p>€15.00</p>{_BUY}</main>{_FOOT}"
    fields = _read(body, title="Corner Store - a shelf for corners").fields
    assert fields["name"] == "Corner Store"


@pytest.mark.parametrize(
    "markup",
    [
        "<button data-nombre='Oak lamp' data-precio='19.80'>Agregar al carrito</button>",
        "<span data-preis='19.80'></span><button>In den Warenkorb</button>",
        f"<p>$<input id='item_price' type='number' value='19.80' readonly></p>{_BUY}",
    ],
)
def test_a_price_in_an_attribute_of_a_hand_made_shop_is_read(markup):
    assert _read(f"<h1>Oak lamp</h1>{markup}").fields["price"] == Decimal("19.80")


def test_a_cart_with_one_thing_is_no_product():
    row = "<tr><td><img src=/a.jpg><h4><a href=#>Oak lamp</a></h4><p>Code: 17</p></td><td><p>€49.90</p></td><td><input name=quantity value=1></td><td>€49.90</td></tr>"
    body = f"<table class=cart_info>{row}</table><a class=btn>Buy</a>{_BUY}"
    assert _read(body, title="Your shopping cart").kind != "product"
    assert _read(body, title="Košík", lang="cs").kind != "product"
    assert _read(body, title="Oak lamp").kind == "product"


def test_a_heading_of_the_page_s_head_that_no_title_names_is_no_product_s():
    banner = "<header><a href=/><img src=/logo.png></a><h1>Our lamps</h1></header>"
    thing = f"<section><article><img src=/oak.jpg><h2>Oak lamp</h2><h3>A lamp of solid oak</h3></article><p class=price>€15.00</p>{_BUY}</section>"
    assert _read(banner + thing, title="Product").fields["name"] == "Oak lamp"
    own = "<header><h1>Oak lamp</h1></header>"
    there = f"<section><img src=/oak.jpg><h2>Details</h2><p class=price>€15.00</p>{_BUY}</section>"
    assert _read(own + there, title="Oak lamp | Shop").fields["name"] == "Oak lamp"
    behind = (
        f"<section><img src=/oak.jpg><p class=price>€15.00</p>{_BUY}<h2>Of solid oak</h2></section>"
    )
    assert _read(own + behind, title="Shop").fields["name"] == "Oak lamp"


def test_an_invitation_to_review_a_product_is_not_its_name():
    stars = "<div class=product-rating><h6>Be the first to review this product</h6></div>"
    body = f"<div><h3>Oak lamp</h3>{stars}<div class=price>€15.00</div>{_BUY}</div>"
    assert _read(body, title="Detail").fields["name"] == "Oak lamp"


def test_the_name_stands_behind_the_links_of_a_trail_in_its_heading():
    trail = "<h2><a href=/catalog>Catalog</a> / <a href=/catalog/1>Lamps</a> / Oak lamp</h2>"
    body = f"{trail}<p class=price>€15.00</p>{_BUY}"
    assert _read(body, title="Catalog").fields["name"] == "Oak lamp"


def test_the_name_stands_before_the_button_where_no_price_is_read():
    body = f"<div><h2>Oak lamp</h2><p>Article: 1839707</p><span><span>395</span>{_BUY}</span></div>"
    assert _read(body, path="/p/17", title="My framework").fields["name"] == "Oak lamp"


def test_a_name_that_only_the_title_has_is_not_sure():
    body = f"<div><p>An old thing.</p><p class=price>€15.00</p>{_BUY}</div>"
    found = _read(body, title="Antiques")
    assert found.fields["name"] == "Antiques"
    assert _confidence(found)["name"] <= 0.8


@pytest.mark.parametrize(
    ("notice", "buy", "lang"),
    [
        ("Notify me when available", "Add to cart", "en"),
        ("재입고알림", "장바구니 담기", "ko"),
        ("再入荷お知らせ", "カートに入れる", "ja"),
    ],
)
def test_a_notice_beside_a_button_that_buys_does_not_say_that_it_is_sold_out(notice, buy, lang):
    body = "<h1>Oak lamp</h1><p class=price>€15.00</p><div><button>{}</button><button{}>{}</button></div>"
    assert _read(body.format(notice, "", buy), lang=lang).fields["availability"] == "InStock"
    idle = _read(body.format(notice, " disabled", buy), lang=lang)
    assert idle.fields["availability"] == "OutOfStock"


@pytest.mark.parametrize("text", ["12 € online / 15 €", "12 € small / 15 € large"])
def test_words_between_two_amounts_of_a_line_make_the_price_doubtful(text):
    found = _read(f"<h1>Oak lamp</h1><div class=price>{text}</div>{_BUY}")
    assert found.fields["price"] == Decimal(12)
    assert _confidence(found)["price"] < 0.9


@pytest.mark.parametrize(
    "text", ["12 € statt 15 €", "12 € was 15 €", "Black Friday 12 € / 15 €", "12 € save 3 €"]
)
def test_known_words_between_two_amounts_of_a_line_leave_the_price_sure(text):
    found = _read(f"<h1>Oak lamp</h1><div class=price>{text}</div>{_BUY}")
    assert found.fields["price"] == Decimal(12)
    assert _confidence(found)["price"] >= 0.95


@pytest.mark.parametrize(
    ("lang", "name", "price", "value"),
    [
        ("en-in", "RS 232 cable", "Rs. 499", "499"),
        ("hu", "Asztal 6 FT, 54 900 Ft", "", "54900"),
        ("pl", "Kamera ZL 40, 99 zł", "", "99"),
        ("sv", "Modell KR 650, 349 kr", "", "349"),
    ],
)
def test_a_currency_s_word_in_another_case_within_a_name_makes_no_price(lang, name, price, value):
    body = f"<h1>Oak lamp</h1><p>{name}</p><p>{price}</p>{_BUY}"
    assert _read(body, lang=lang).fields["price"] == Decimal(value)


@pytest.mark.parametrize(
    "text", ["4.5 / 5", "30 day money back", "24/7 support", "120 sold", "<b>14</b> days to return"]
)
def test_an_icon_of_a_currency_beside_a_number_with_words_is_an_ornament(text):
    body = f"<h1>Oak lamp</h1><p><i class='fa fa-euro'></i> {text}</p>{_BUY}"
    assert "price" not in _read(body).fields


@pytest.mark.parametrize("first", [True, False])
def test_words_for_sold_out_count_beside_a_notice_and_a_button_that_buys(first):
    buttons = "<button>Notify me when available</button><button>Add to cart</button>"
    text = f"<p>Sold out</p>{buttons}" if first else f"{buttons}<p>Sold out</p>"
    body = f"<h1>Oak lamp</h1><p class=price>€15.00</p><div>{text}</div>"
    assert _read(body).fields["availability"] == "OutOfStock"


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        ("The Coffee Mill", "Coffee Mill"),
        ("Oak Lamp Company", "Oak Lamp"),
        ("Oak & Ash", "Oak"),
        ("Corner Store. All rights reserved", "All rights"),
        ("Corner Store <a href=/oak>Oak lamp</a>", "Oak lamp"),
    ],
)
def test_a_heading_that_is_a_part_of_the_copyright_is_a_product_s_name(owner, name):
    body = f"<main><h1>{name}</h1><h2>Bright and warm</h2><p class=price>€15.00</p>{_BUY}</main>"
    foot = f"<footer><p>&copy; 2024 {owner}</p></footer>"
    assert _read(body + foot, title="Webshop").fields["name"] == name


@pytest.mark.parametrize("words", ["product logo-left", "page logo-center", "logo-mug"])
def test_a_box_around_the_price_is_none_for_the_logo(words):
    body = f"<div class='{words}'><h1>Oak lamp</h1><h2>Bright</h2><p class=price>€15.00</p>{_BUY}"
    assert _read(f"{body}</div>", title="Webshop").fields["name"] == "Oak lamp"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<h1>Luna 40</h1>", "Buy lamps of solid oak online"),
        ("<a href=/><img src=/logo.png></a><h1>Oak lamp, 40 cm</h1>", "Oak lamp | Shop"),
        ("<a href=/><img src=/logo.png></a><h1>Luna® lamp</h1>", "Luna lamp | Shop"),
    ],
)
def test_a_product_s_heading_in_the_page_s_head_stays_its_name(head, title):
    thing = f"<main><img src=/oak.jpg><h2>Bright light</h2><p class=price>€15.00</p>{_BUY}</main>"
    found = _read(f"<header>{head}</header>{thing}", title=title)
    assert f"<h1>{found.fields['name']}</h1>" in head


@pytest.mark.parametrize("words", ["product has-reviews", "five-stars-theme", "generating"])
def test_a_box_around_name_and_price_is_none_for_stars(words):
    body = f"<div class='{words}'><h3>Oak lamp</h3><div class=price>€15.00</div>{_BUY}</div>"
    assert _read(body, title="x").fields["name"] == "Oak lamp"


@pytest.mark.parametrize("tag", ["h1", "h2"])
def test_a_box_that_the_title_names_is_the_product_beside_a_box_with_what_goes_with_it(tag):
    box = f"<section><{tag}>{{}}</{tag}><p>{{}}</p>{_BUY}</section>"
    goods = (("Oak lamp", "€89.00"), ("Bulb", "€9.00"))
    found = _read(f"<main>{_boxes(box, *goods)}</main>", title="Oak lamp - Corner Store")
    assert (found.kind, found.fields["price"]) == ("product", Decimal("89.00"))
    assert _confidence(found)["price"] >= 0.95


@pytest.mark.parametrize(
    "text",
    [
        "from 12 € to 15 €",
        "12 € including 2 € VAT",
        "12,00 € [D] 12,40 € [A]",
        "12 € in stock 15 €",
        "12 € (incl. VAT) 10 € (excl. VAT)",
    ],
)
def test_a_range_a_part_and_another_country_s_price_leave_the_price_sure(text):
    found = _read(f"<h1>Oak lamp</h1><div class=price>{text}</div>{_BUY}")
    assert found.fields["price"] == Decimal(12)
    assert _confidence(found)["price"] >= 0.95


@pytest.mark.parametrize("hides", ["hidden", "style='display:none'", "class=d-none"])
def test_a_hidden_button_beside_a_notice_does_not_buy(hides):
    buttons = f"<button {hides}>Add to cart</button><button>Notify me when available</button>"
    bar = f"<div class=bar>{_BUY}</div>"
    body = f"<h1>Oak lamp</h1><p class=price>€15.00</p><div>{buttons}</div>{bar}"
    assert _read(body).fields["availability"] == "OutOfStock"


@pytest.mark.parametrize(
    "text", ["Available in a 3 month pack", "Available in 6 month and 12 month sizes"]
)
def test_weeks_before_another_word_tell_of_no_back_order(text):
    body = f"<h1>Oak lamp</h1><p class=price>€15.00</p><p>{text}</p>{_BUY}"
    assert _read(body).fields["availability"] == "InStock"
