"""Services, lessons and dishes that shop software sells like goods, beside goods for them."""

from __future__ import annotations

import pytest

from crawler.extract import Found
from crawler.extract.visible.service_signs import names_service
from tests.unit.extract.bodies import found

_CART = "<img src=n.jpg><b class=price>49,00 €</b><input name=qty><button>Add to cart</button>"
_LD = (
    '<script type="application/ld+json">{{"@type": "Product", "name": "Sofa deep clean", {}'
    '"offers": {{"@type": "Offer", "price": "49", "priceCurrency": "EUR",'
    ' "availability": "https://schema.org/InStock"}}}}</script>'
)


def _read(body: str, path: str = "/product/nova", head: str = "") -> Found:
    return found(body, head, f"https://a.example{path}")


@pytest.mark.parametrize(
    "heading",
    [
        "Conservatory roof clean",
        "Hecke schneiden bis 10 m",
        "Sushi-Kochkurs",
        "Diagnostic ordinateur en atelier",
        "Grote beurt stadsfiets",
        "Compilazione modello 730",
        "Flyttstädning 2 rum och kök",
        "Pranie tapicerki samochodowej",
        "Cuota anual de socio",
        "Curățenie generală",
        "七五三撮影プラン",
        "Hose kürzen",
    ],
)
def test_a_service_in_a_cart_is_known_by_its_heading(heading: str) -> None:
    assert _read(f"<h1>{heading}</h1>{_CART}").kind == "other"


@pytest.mark.parametrize(
    "body",
    [
        "<h1>Brush for window cleaning</h1>",
        "<h1>Don Quijote</h1>",
        "<h1>Garn zum Nähen und Kürzen</h1>",
        "<h1>The Workshop</h1>",
        "<h1>Window cleaning</h1><p>SKU: W-12</p>",
        "<h1>Window cleaning</h1><p>Pole of 300 cm</p>",
        "<h1>Window cleaning</h1><p>Free delivery</p>",
        "<h1>Window cleaning</h1><p>In stock</p>",
        "<h1>Gutschein für einen Kochkurs</h1>",
    ],
)
def test_goods_for_a_service_have_a_sign_of_goods(body: str) -> None:
    assert _read(body + _CART).kind == "product"


def test_a_category_of_services_tells_of_a_service() -> None:
    page = "<nav class=breadcrumb><a href=/>Home</a> <a href=/c>{}</a></nav><h1>Nova</h1>" + _CART
    for category, kind in {
        "Prestations": "other",
        "Servizi fotografici": "other",
        "Cooking courses": "other",
        "Cleaning": "product",
        "Lamps": "product",
    }.items():
        assert _read(page.format(category)).kind == kind


def test_a_day_to_choose_outweighs_one_sign_of_goods() -> None:
    page = "<h1>Sushi-Kochkurs</h1><p>Reis 500 g</p>{}" + _CART
    assert _read(page.format("")).kind == "product"
    assert _read(page.format("<input type=date name=day>")).kind == "other"
    assert _read(page.format("<input type=date name=delivery_date>")).kind == "product"
    choice = "<select name=evening><option>Fr 5.3. 19:30</option></select>"
    assert _read(page.format(choice)).kind == "other"


def test_two_sentences_about_work_outweigh_one_sign_of_goods_no_more() -> None:
    page = "<h1>Nova</h1>{}<p>Bring your own towel. Up to 8 participants.</p>" + _CART
    assert _read(page.format("")).kind == "other"
    assert _read(page.format("<p>Free delivery</p>")).kind == "product"


def test_one_sentence_about_work_makes_no_service_of_goods_without_a_picture() -> None:
    page = "<h1>Nova</h1><p>Bring your own towel.</p>" + _CART
    assert _read(page).kind == "product"
    assert _read(page.replace("<img src=n.jpg>", "")).kind == "product"


def test_a_missing_picture_outweighs_one_sign_of_goods() -> None:
    page = "<h1>Nova</h1><p>Bring your own towel. Up to 8 participants.</p>500 g" + _CART
    assert _read(page).kind == "product"
    assert _read(page.replace("<img src=n.jpg>", "")).kind == "other"


def test_a_button_that_gets_a_deal_leads_to_another_shop() -> None:
    page = "<h1>Castle</h1><span class=price>$59.99</span> <s>$99.99</s>"
    assert _read(page, "/x").kind == "product"
    assert _read(f"{page}<button>Get deal</button>", "/x").kind == "other"


def test_structured_data_of_a_service_without_a_maker_is_weighed() -> None:
    page = "<h1>Sofa deep clean</h1>" + _CART
    assert _read(page, head=_LD.format("")).kind == "other"
    assert _read(page, head=_LD.format('"brand": "Nova", ')).kind == "product"
    by_shop = found(page, _LD.format('"brand": "Nova Care", '), "https://novacare.example/x")
    assert by_shop.kind == "other"


@pytest.mark.parametrize(
    ("name", "is_service"),
    [("Lamp installation", True), ("Set zur Fensterreinigung", False), ("Oak lamp", False)],
)
def test_what_a_name_is_for_is_no_service(name: str, is_service: bool) -> None:
    assert names_service(name) == is_service


def test_a_price_in_a_list_of_services_is_no_products() -> None:
    row = "<tr><td>{}</td><td>ab {},- €</td></tr>"
    table = "<h1>Unsere Werkstatt</h1><table>{}</table><a class=button href=/k>Anfrage senden</a>"
    work = row.format("Ölwechsel", 89) + row.format("Radwechsel", 29)
    assert _read(table.format(work + row.format("HU/AU", 139)), "/x").kind == "other"
    assert _read(table.format(row.format("Ölwechsel", 89)), "/x").kind == "product"


def test_a_form_of_the_cart_buys_whatever_its_button_says() -> None:
    form = '<form action="/cart/add" method=post><button type=submit{}>Count me in</button></form>'
    page = "<h1>Monthly roast</h1><b class=price>£9.50 / month</b><p>One 250 g bag</p>"
    assert _read(page + form.format("")).fields["availability"] == "InStock"
    assert _read(page + form.format(" disabled")).kind == "other"
    assert _read(page + form.format("") * 2).kind == "other"


@pytest.mark.parametrize("caption", ["Book a test drive", "Book an appointment"])
def test_a_button_for_a_test_drive_makes_no_service(caption: str) -> None:
    page = "<h1>2019 Mazda</h1><img src=m.jpg><b class=price>£15,495</b><button>Reserve</button>"
    assert _read(f"{page}<button>{caption}</button>", "/x").kind == "product"


def test_a_price_with_its_installation_is_no_instalment() -> None:
    page = "<h1>The Studio</h1><img src=s.jpg alt='The Studio'><p>4 x 3 m</p>"
    assert _read(f"{page}<p class=price>£18,950 installed</p>", "/x").fields["price"] == 18950


def test_a_worth_in_a_sentence_above_a_notice_is_no_price() -> None:
    page = "<h1>Nova is coming</h1><p>Get 15% off at launch. {} £30.</p><button>Notify me</button>"
    assert _read(page.format("Value"), "/x").kind == "other"
    assert _read(page.format("Price"), "/x").kind == "product"


@pytest.mark.parametrize(
    ("classes", "name", "kind"),
    [
        ("product_cat-garden-services virtual product-type-simple", "Sunny visit", "other"),
        ("product_cat-garden product-type-booking", "Sunny visit", "other"),
        ("product_cat-garden virtual product-type-simple", "Sunny visit", "product"),
        ("product_cat-services shipping-taxable product-type-simple", "Sunny visit", "product"),
        ("product_cat-services downloadable virtual product-type-simple", "Sunny", "product"),
        ("product_cat-services virtual product-type-simple", "Sunny visit (PDF)", "product"),
        ("product_cat-services virtual product-type-simple", "Gift voucher", "product"),
        ("product_cat-services virtual product-type-gift-card", "Sunny card", "product"),
    ],
)
@pytest.mark.parametrize("described", [False, True])
def test_the_shops_mark_says_that_a_thing_is_not_sent(
    classes: str, name: str, kind: str, *, described: bool
) -> None:
    page = f'<div id="product-118" class="product type-product post-118 instock {classes}">'
    page += f"<img src=/a.jpg alt='{name}'><h1>{name}</h1><p class=price>£38.00</p>"
    page += "<form><input name=quantity value=1><button>Add to basket</button></form></div>"
    head = (
        '<script type="application/ld+json">{"@type": "Product", "name": "'
        + name
        + '", "sku": 118,'
        ' "offers": {"@type": "Offer", "price": "38.00", "priceCurrency": "GBP",'
        ' "availability": "https://schema.org/InStock"}}</script>'
    )
    assert _read(page, "/product/x", head if described else "").kind == kind


@pytest.mark.parametrize(
    ("path", "category", "kind"),
    [
        ("/prestations/41-nova", "Prestations", "other"),
        ("/prestations/41-nova", "Composants", "product"),
        ("/composants/41-nova", "Prestations", "product"),
    ],
)
def test_a_numbered_service_has_the_address_and_the_category_of_one(
    path: str, category: str, kind: str
) -> None:
    page = f'<nav class=breadcrumb><a href="/">Accueil</a> <a href="/12-c">{category}</a></nav>'
    page += f"<img src=/a.jpg alt=Nova><h1>Nova</h1>{_CART}<p>Référence : INST-WIN</p>"
    assert _read(page, path).kind == kind


@pytest.mark.parametrize(("unit", "kind"), [("", "product"), (" / h", "other")])
def test_a_job_has_a_number_and_a_wage_an_hour(unit: str, kind: str) -> None:
    page = f"<h1>Magazynier</h1><div>31,40 zł brutto{unit}</div><div>Nr ref. MAG/88</div>"
    assert _read(page, "/oferta/magazynier-8812").kind == kind


def test_what_was_rented_out_is_sold() -> None:
    page = f"<img src=/a.jpg alt=x><h1>Sony A7 body (ex-rental)</h1>{_CART}"
    assert _read(page).kind == "product"
    assert _read(page.replace("body (ex-rental)", "body rental")).kind == "other"


def test_structured_data_of_a_ticket_is_weighed() -> None:
    head = _LD.format("").replace("Sofa deep clean", "10 class pass")
    assert _read(f"<h1>10 class pass</h1>{_CART}", head=head).kind == "other"
    head = head.replace("10 class pass", "Class tote")
    assert _read(f"<h1>Class tote</h1>{_CART}", head=head).kind == "product"
