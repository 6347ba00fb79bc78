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
