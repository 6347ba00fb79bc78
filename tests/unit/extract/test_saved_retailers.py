"""Pages of retailers as a browser saves them: their classes, their headings, the faults of their data."""

import json
from decimal import Decimal

import pytest

from tests.unit.extract.bodies import BUY, H1, URL, found

OFF = "<button disabled>Add to cart</button>"


def _data(stock: str = "InStock", **more: object) -> str:
    offer = {"@type": "Offer", "price": "12", "priceCurrency": "EUR", "availability": stock}
    node = {"@type": "Product", "name": "Red Lamp", "offers": offer, **more}
    return f'<script type="application/ld+json">{json.dumps(node)}</script>'


@pytest.mark.parametrize(
    ("words", "price"), [("price-box has-installments", "499.99"), ("installments", "249.99")]
)
def test_a_box_that_has_instalments_holds_the_price_itself(words: str, price: str) -> None:
    own = f'<div class="{words}"><p class=price>499,99 lei</p></div>'
    body = f"{H1}{own}{BUY}<p>Other offer: 249,99 lei</p>"
    assert found(body, lang="ro").fields["price"] == Decimal(price)


@pytest.mark.parametrize(("words", "price"), [("promo-price", "89.99"), ("price", "97.50")])
def test_a_box_for_the_present_price_needs_no_currency(words: str, price: str) -> None:
    own = f"<a href=/brands/acme/>Acme</a><p class={words}>89<sup>99</sup></p><p>On the shelf</p>"
    others = "<div class=price>€ 97,50</div>"
    assert found(f"{H1}{own}{others}{BUY}").fields["price"] == Decimal(price)


FACTS = "<p>Oak.</p><p>Steel.</p><p>Brass.</p>"


@pytest.mark.parametrize(
    ("facts", "button", "stock"),
    [
        (FACTS, "<button>Notify me</button>", "OutOfStock"),
        (FACTS, OFF, "OutOfStock"),
        (FACTS, "", "InStock"),
        ("", "", "OutOfStock"),
        ("", BUY, "InStock"),
    ],
)
def test_words_by_the_price_or_an_idle_button_outweigh_the_stock_in_data(
    facts: str, button: str, stock: str
) -> None:
    body = f"{H1}<div class=price>12,00 €</div>{facts}<p><b>Out of stock</b></p>{button}"
    assert found(body, _data()).fields["availability"] == stock


@pytest.mark.parametrize(
    ("number", "button", "stock"),
    [
        ("L4-220-34", BUY, "InStock"),
        ("L4-220-34", OFF, "OutOfStock"),
        ("L4-220", BUY, "OutOfStock"),
        ("X4-220-34", BUY, "OutOfStock"),
    ],
)
def test_an_enabled_button_outweighs_the_missing_stock_of_one_variant(
    number: str, button: str, stock: str
) -> None:
    body = f"{H1}<p>Item no.: L4-220</p><div class=price>12,00 €</div>{button}"
    assert found(body, _data("OutOfStock", sku=number)).fields["availability"] == stock


@pytest.mark.parametrize(
    ("title", "name"),
    [("A lamp - The Studio", "Red Lamp"), ("A lamp - Another", "Red Lamp - The Studio")],
)
def test_a_name_that_ends_like_the_title_loses_the_shops_name(title: str, name: str) -> None:
    body = f"{H1}<div class=price>12,00 €</div>{BUY}"
    head = f"<title>{title}</title>{_data()}".replace("Red Lamp", "Red Lamp - The Studio")
    assert found(body, head).fields["name"] == name


@pytest.mark.parametrize(
    ("remark", "name"),
    [
        ("<small>(no. 3412345678)</small>", "Red Lamp"),
        ("<em>by <a href=/authors/7>Ida Holm</a></em>", "Red Lamp"),
        ("<small>(12 W)</small>", "Red Lamp (12 W)"),
    ],
)
def test_a_number_or_an_author_behind_the_name_is_no_part_of_it(remark: str, name: str) -> None:
    body = f"<h1><span>Red Lamp</span> {remark}</h1><div class=price>12,00 €</div>{BUY}"
    assert found(body).fields["name"] == name


def test_the_shops_own_number_outweighs_a_model_in_a_box_called_as_the_number() -> None:
    facts = "<div class=sku><h5>Model: <b>E460VL</b> | SKU: <b>1868043</b></h5></div>"
    fields = found(f"{H1}{facts}<div class=price>$12.00</div>{BUY}").fields
    assert (fields["sku"], fields["attributes"]["model"]) == ("1868043", "E460VL")


@pytest.mark.parametrize(("between", "price"), [("", Decimal(12)), ("<p>Oak.</p>", None)])
def test_a_subtitle_right_below_the_name_begins_no_other_part(
    between: str, price: Decimal | None
) -> None:
    above = f"{H1}{between}<h2>For the desk</h2><a href=/write>Write a review</a>"
    body = f"{above}<div class=price>12,00 €</div><p>EAN: 4006381333931</p><p>Sold out</p>"
    assert found(body).fields.get("price") == price


@pytest.mark.parametrize("links", [600, 0])
def test_a_long_menu_does_not_hide_the_price_of_a_page_without_a_heading(
    links: int,
) -> None:
    menu = "".join(f"<li><a href=/c/{n}>Lamps {n}</a></li>" for n in range(links))
    facts = "<p>Code: RL-104</p><p>Retail: <s>$89.00</s></p><p class=price>$64.00</p>"
    fields = found(f"<ul>{menu}</ul><p><b>Red Lamp</b></p>{facts}{BUY}").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(64), Decimal(89))


@pytest.mark.parametrize("words", ["com o código", "usando o cupão", "use cupom", "com cupom"])
def test_a_price_with_a_shops_code_is_not_the_price(words: str) -> None:
    prices = "<div class=price>24<sup>,99</sup></div>"
    prices += f"<div class=price-bar>{words} LAMP20: <span class=price-code>€19,99</span></div>"
    assert found(f"{H1}{prices}{BUY}", lang="pt").fields["price"] == Decimal("24.99")


@pytest.mark.parametrize(("fee", "is_goods"), [("Servicegebühren", True), ("Leihgebühr", False)])
def test_a_fee_for_the_service_makes_goods_no_service(fee: str, is_goods: bool) -> None:
    body = f"{H1}<div class=price>3,19 €</div><p>inkl. MwSt., zzgl. {fee}</p>"
    assert bool(found(body, lang="de").fields) == is_goods


@pytest.mark.parametrize(
    ("words", "text", "is_product"),
    [
        ("price", "Kirjaudu nähdäksesi hinnat", True),
        ("price", "Přihlaste se pro zobrazení cen", True),
        ("price", "Přihlaste se pro slevu 5 %", False),
        ("note", "Přihlaste se pro zobrazení cen", False),
    ],
)
def test_a_box_for_the_price_that_asks_to_log_in_has_a_price_on_request(
    words: str, text: str, is_product: bool
) -> None:
    assert bool(found(f"{H1}<div class={words}>{text}</div>{BUY}").fields) == is_product


@pytest.mark.parametrize(
    ("tag", "attribute", "name"),
    [
        ("div", "role=alertdialog", "Red Lamp"),
        ("dialog", "open", "Red Lamp"),
        ("div", "class=intro", "Your choice"),
    ],
)
def test_the_heading_of_a_dialog_is_no_products_name(tag: str, attribute: str, name: str) -> None:
    asks = f"<{tag} {attribute}><h1>Your choice</h1><p>We use cookies.</p></{tag}>"
    assert found(f"{asks}{H1}<p>12,00 €</p>{BUY}").fields["name"] == name


@pytest.mark.parametrize(
    ("above", "sku"),
    [
        ("<nav>{trail}</nav><div><div>{h1}</div></div>", "TA224626"),
        ("<nav>{trail}</nav>{h1}", "TA224626"),
        ("<nav>{trail}</nav><p>Oak.</p><div><div>{h1}</div></div>", "40645"),
    ],
)
def test_a_labelled_number_ends_the_breadcrumbs_before_the_heading(above: str, sku: str) -> None:
    crumbs = "<li><a href=/>Acme</a><li><a href=/c/lamps>Lamps</a><li><a href=/c/red>Red ones</a>"
    trail = f"<ol>{crumbs}<li><strong>Item # TA224626</strong></ol>"
    body = f"{above.format(trail=trail, h1=H1)}<div class=price>$12.00</div>{BUY}"
    assert found(body, url="https://shop.example/p/40645").fields["sku"] == sku


def test_the_name_of_a_brand_in_state_goes_before_its_number() -> None:
    product = {"name": "Red Lamp", "brand": "1", "brandName": "Acme", "sku": "RL", "price": "9 EUR"}
    state = json.dumps({"props": {"product": product}})
    script = f'<script id="__NEXT_DATA__" type="application/json">{state}</script>'
    assert found(f"{H1}{BUY}{script}").fields["brand"] == "Acme"


@pytest.mark.parametrize(
    ("shown", "remark", "price"),
    [
        ("14,52", "IVA incluido", "14.52"),
        ("14,52", "Envío gratis", "12"),
        ("16,00", "IVA incluido", "12"),
    ],
)
def test_words_for_the_tax_by_a_price_in_any_box_tell_that_data_lacks_the_tax(
    shown: str, remark: str, price: str
) -> None:
    tags = "<meta property=product:price:amount content=13.10>"
    tags += "<meta property=product:price:currency content=USD>"
    body = f"{H1}<p>{shown} €</p><p>{remark}</p>{BUY}"
    fields = found(body, _data() + tags, lang="es").fields
    assert (fields["price"], fields["currency"]) == (Decimal(price), "EUR")


def _tile(name: str, link: str) -> str:
    codes = f'<meta itemprop=name content="{name}"><meta itemprop=sku content=F126186>'
    offer = (
        "<div itemprop=offers itemscope itemtype=https://schema.org/Offer>"
        "<meta itemprop=price content=9><meta itemprop=priceCurrency content=EUR></div>"
    )
    return (
        f"<article itemscope itemtype=https://schema.org/Product>{codes}{offer}"
        f"<meta itemprop=description content=Similar><a itemprop=url href={link}>{name}</a></article>"
    )


@pytest.mark.parametrize(
    ("name", "link", "price"),
    [
        ("Lamp L85X", "/p/lamp-l85x", 12),  # a tile's product
        ("Lamp L 85C", "/p/lamp-l-85c", 9),  # the same model, written otherwise
        ("Lamp L85X", "", 9),
    ],
)
def test_a_lone_tile_of_another_model_is_not_the_pages_product(
    name: str, link: str, price: int
) -> None:
    body = f"<h1>Lamp L85C</h1><div class=price>12 €</div>{BUY}{_tile(name, link or URL)}"
    fields = found(body).fields
    assert fields["price"] == price
    assert (fields.get("sku") == "F126186") == (price == 9)
    assert (fields.get("description") == "Similar") == (price == 9)


@pytest.mark.parametrize(
    ("slogan", "last_part", "name"),
    [
        ("Acme: shoes, bags and more", "red-lamp", "Red Lamp"),
        ("Acme: shoes, bags and more", "12", "Acme: shoes, bags and more"),  # it may be the name
        ("Acme: lamps, red and white", "red-lamp", "Acme: lamps, red and white"),
    ],
)
def test_a_slogan_in_opengraph_is_not_the_name_that_heading_title_and_address_give(
    slogan: str, last_part: str, name: str
) -> None:
    tags = "<meta property=og:type content=product><meta property=product:price:amount content=12>"
    head = f'<title>Red Lamp | Acme</title><meta property=og:title content="{slogan}">{tags}'
    url = f"https://shop.example/things/{last_part}"
    assert found("<h1>Red Lamp</h1>", head, url=url).fields["name"] == name


@pytest.mark.parametrize("stock", ["InStock", "OutOfStock"])
def test_microdata_may_give_price_and_stock_without_an_offer(stock: str) -> None:
    own = "<meta itemprop=price content=12><meta itemprop=priceCurrency content=EUR>"
    own += f"<meta itemprop=availability content=https://schema.org/{stock}>"
    body = (
        f"<div itemscope itemtype=https://schema.org/Product><h1 itemprop=name>Lamp</h1>{own}</div>"
    )
    fields = found(body).fields
    assert (fields["price"], fields["currency"], fields["availability"]) == (12, "EUR", stock)


@pytest.mark.parametrize(("words", "price"), [("coupon-block", 40), ("price-block", 32)])
def test_a_price_for_those_who_type_a_code_is_not_the_price(words: str, price: int) -> None:
    own = f"<div class={words}><span class=price>32 €</span></div><p class=price>40 €</p>"
    fields = found(f"{H1}{own}{BUY}").fields
    assert fields["price"] == price
    assert ("regular_price" in fields) == (price == 32)


@pytest.mark.parametrize(
    ("words", "button", "stock"),
    [
        ("unavailable-button", "", None),
        ("buy-button", "", "InStock"),
        ("unavailable-button", "<a class=buy-button>Comprar</a>", "InStock"),  # styles hide it
    ],
)
def test_a_button_for_products_that_are_unavailable_sells_nothing(
    words: str, button: str, stock: str | None
) -> None:
    body = f"{H1}<p class=price>R$ 31,99</p>{button}<p class={words}>Eu quero!</p>"
    assert found(body, lang="pt").fields.get("availability") == stock


@pytest.mark.parametrize("word", ["od", "Ab", "от"])
def test_a_short_word_in_a_box_is_no_part_of_the_amount_in_the_next_boxes(word: str) -> None:
    amount = "<span><span>1 049</span><span class=penny>,99</span></span>zł"
    own = f"<span class=price-prefix>{word}</span><span class=price>{amount}</span>"
    assert found(f"{H1}<div>{own}</div>{BUY}", lang="pl").fields["price"] == Decimal("1049.99")


@pytest.mark.parametrize(
    ("label", "lang"),
    [
        ("Price for both:", "en"),
        ("Total for all three", "en"),
        ("Preis für beide", "de"),
        ("Prix pour les deux", "fr"),
        ("Precio de los dos", "es"),
        ("Prezzo per entrambi", "it"),
        ("Cena za oba", "pl"),
    ],
)
def test_an_amount_below_the_label_of_two_things_is_no_price(label: str, lang: str) -> None:
    both = f"<div><span>{label}</span><b class=special-price>17,98 €</b></div>"
    own = "<dl><dt>Price</dt><dd>8,99 €</dd></dl>"
    assert found(f"{H1}{both}{own}{BUY}", lang=lang).fields["price"] == Decimal("8.99")


@pytest.mark.parametrize(("attribute", "stock"), [("onclick='add(7)'", "InStock"), ("", None)])
def test_a_picture_that_a_script_watches_is_a_button(attribute: str, stock: str | None) -> None:
    picture = f"<div><img src=/add.png alt='Add to cart' {attribute}></div>"
    page = found(f"{H1}<p class=price>729,00 €</p>{picture}")
    assert page.fields.get("availability") == stock


@pytest.mark.parametrize(("mark", "stock"), [("", "InStock"), ("disabled", None)])
def test_a_button_behind_a_price_below_the_reviews_buys(mark: str, stock: str | None) -> None:
    reviews = "<div><h3>Reviews</h3><p>Nobody has reviewed it yet.</p></div>"
    button = f"<button type=button {mark}>Add to basket</button>"
    box = f"<div><span>Our price</span> <b class=price>£7.49</b><p>Quantity</p>{button}</div>"
    page = found(f"{H1}<p>EAN: 4006381333931</p>{reviews}{box}")
    assert page.fields["price"] == Decimal("7.49")
    assert page.fields.get("availability") == stock


@pytest.mark.parametrize(
    "button",
    [
        '<button aria-label="Add to cart"><svg></svg></button>',
        '<a title="Add to cart" href="#" onclick="add()"></a>',
        '<input type="Button" value="Add to cart">',
        '<form action=/shop><a href="#"><input type="SUBMIT" value="Add to cart"></a></form>',
    ],
)
def test_a_button_may_have_its_words_in_an_attribute_and_its_type_in_capitals(button: str) -> None:
    page = found(f"{H1}<p class=price>12,00 €</p>{button}")
    assert page.fields.get("availability") == "InStock"


@pytest.mark.parametrize(
    "button",
    [
        '<button aria-label="Add to cart" disabled><svg></svg></button>',
        '<a title="Add to wishlist" href="#" onclick="add()"></a>',
        '<div><a title="Add to cart" href="/add/1"></a></div>' * 3,
    ],
)
def test_an_idle_button_a_wish_and_the_buttons_of_tiles_do_not_buy(button: str) -> None:
    page = found(f"{H1}<p class=price>12,00 €</p>{button}")
    assert page.fields.get("availability") is None


@pytest.mark.parametrize(
    ("views", "lang"),
    [
        ("Więcej widoków", "pl"),
        ("More views", "en"),
        ("Mehr Ansichten", "de"),
        ("Plus de vues", "fr"),
        ("Más vistas", "es"),
        ("Fleiri sjónarhorn", "is"),
    ],
)
def test_a_box_with_a_headings_class_names_the_product_and_a_head_of_pictures_does_not(
    views: str, lang: str
) -> None:
    pictures = f"<div class=more-views><h2>{views}</h2><ul><li><img src=/a.jpg></li></ul></div>"
    name = "<div class=product-name><span class=h1>Red Lamp</span></div>"
    page = found(
        f"{pictures}{name}<p class=price>99,00 €</p>{BUY}",
        "<title>Lights of oak</title>",
        lang=lang,
    )
    assert page.fields["name"] == "Red Lamp"


@pytest.mark.parametrize("href", ["#", "javascript:void(0)"])
def test_a_link_that_unfolds_the_text_before_a_price_is_no_tile(href: str) -> None:
    text = "<div>It lights a desk. <a href={}>{} <img src=/{}.gif></a></div>"
    unfolded = f"{text.format(href, 'More', 'down')}{text.format(href, 'Less', 'up')}"
    price = "<div><s>70,00 €</s> <span>59,99 €</span></div>"
    page = found(f"<div>{H1}</div><div><form>{unfolded}{price}{BUY}</form></div>")
    assert (page.kind, page.fields["price"]) == ("product", Decimal("59.99"))
