"""Faults of the data that themes of shop systems write, and other pages of theirs than products'."""

import json
from decimal import Decimal

import pytest

from crawler.extract.money.amounts import find_prices
from crawler.extract.price.words_beside import has_lower_behind
from tests.unit.extract.bodies import BUY, H1, found


def _data(price="12", currency="EUR", stock="InStock", **more):
    offer = {"@type": "Offer", "price": price, "priceCurrency": currency, "availability": stock}
    node = {"@type": "Product", "name": "Red Lamp", "offers": offer, **more}
    return f'<script type="application/ld+json">{json.dumps(node)}</script>'


def test_the_currency_beside_the_name_outweighs_a_themes_default_of_the_same_amount():
    body = f"{H1}<div class=price>649,00 zł</div>{BUY}"
    tags = '<meta property="product:price:amount" content="649"><meta property="product:price:currency" content="USD">'
    fields = found(body, _data("649.0000", "USD") + tags).fields
    assert (fields["price"], fields["currency"]) == (Decimal(649), "PLN")


@pytest.mark.parametrize(
    ("shown", "stated"),
    [("$649.00", "CAD"), ("720,00 zł", "USD")],
    ids=["the sign of both", "another amount"],
)
def test_a_currency_that_the_page_does_not_contradict_stays(shown, stated):
    fields = found(f"{H1}<div class=price>{shown}</div>{BUY}", _data("649", stated)).fields
    assert fields["currency"] == stated


@pytest.mark.parametrize(("net", "price"), [("4131.40", 4999), ("4129.40", Decimal("4129.40"))])
def test_a_net_price_with_cents_is_the_one_that_the_page_shows_in_whole_units(net, price):
    body = f"{H1}<div class=price>4&nbsp;999&nbsp;Kč</div><div class=price-net>bez DPH 4&nbsp;131&nbsp;Kč</div>{BUY}"
    assert found(body, _data(net, "CZK"), lang="cs").fields["price"] == price


@pytest.mark.parametrize(
    ("words", "button", "stock"),
    [
        ("Available on backorder", BUY, "BackOrder"),
        ("Out of stock", "", "OutOfStock"),
        ("Out of stock", BUY, "InStock"),
        ("In stock", BUY, "InStock"),
    ],
)
def test_a_box_for_the_stock_outweighs_the_stock_that_themes_write_of_all_products(
    words, button, stock
):
    body = f"{H1}<div class=price>12.00 €</div><p class=stock>{words}</p>{button}"
    assert found(body, _data()).fields["availability"] == stock


def test_the_stock_of_one_variant_does_not_outweigh_that_of_all():
    body = f"{H1}<div class=price>12.00 €</div><p class=stock>Out of stock</p>"
    offers = {"@type": "Offer", "price": "12", "priceCurrency": "EUR", "availability": "InStock"}
    variants = [{"@type": "Product", "name": f"Red Lamp {size}", "offers": offers} for size in "SM"]
    group = {"@type": "ProductGroup", "name": "Red Lamp", "hasVariant": variants}
    data = f'<script type="application/ld+json">{json.dumps(group)}</script>'
    assert found(body, data).fields["availability"] == "InStock"


def test_a_box_for_the_stock_may_just_affirm():
    body = "<h1>Лампа</h1><div class=price>1 990 ₽</div><div class=item-stock>Много</div><a class=btn>Подробнее</a>"
    assert found(body, lang="ru").fields["availability"] == "InStock"


@pytest.mark.parametrize(
    ("between", "lower"), [("save 100 zł", True), ("save 100 days", False), ("save 900 zł", False)]
)
def test_words_before_a_lower_amount_in_whole_units_are_about_that(between, lower):
    text = f"500 zł {between}"
    assert has_lower_behind(next(find_prices(text)), text) is lower


def test_the_saving_behind_the_price_before_is_not_about_that():
    body = f"{H1}<div class=price-before><s>14 490 Kč</s> <span>Ušetříte 2 500 Kč</span></div><div class=price>11 990 Kč</div>{BUY}"
    fields = found(body, lang="cs").fields
    assert (fields["price"], fields["regular_price"]) == (11_990, 14_490)


def test_the_highest_price_of_a_bundle_is_none_before_a_reduction():
    box = "<p class={}><span class=price-label>{}</span> <span class=price>${}.00</span></p>"
    prices = box.format("price-from", "From", 529) + box.format("price-to", "To", 799)
    body = f"{H1}<div class='price-box price-bundle_product_price'>{prices}</div>{BUY}"
    fields = found(body).fields
    assert (fields["price"], fields.get("regular_price")) == (529, None)


@pytest.mark.parametrize(
    ("text", "price"), [("1,000원 이상부터 사용 가능합니다.", None), ("1,000원 할인가", 1_000)]
)
def test_a_sum_from_which_something_holds_is_no_price(text, price):
    assert found(f"<h1>램프</h1><p>{text}</p>{BUY}", lang="ko").fields.get("price") == price


def test_a_model_in_capital_letters_is_a_number():
    body = f"{H1}<div class=price>12.00 €</div><p><b>Model:</b> <span>{{}}</span></p>{BUY}"
    assert found(body.format("LAMP-R")).fields["sku"] == "LAMP-R"
    assert "sku" not in found(body.format("Lamp")).fields


_TILE = (
    "<div class=item><div><a href=/catalog/{n}/><img src={n}.jpg></a></div>"
    "<div><a href=/catalog/{n}/>Lamp of oak {n}</a><div class=stock>{stock}</div>"
    "<div>Item no.: LA{n}</div><div class=cost><span class=price>{n}0.00 €</span></div></div></div>"
)


def _tiles(count, stock="Out of stock"):
    return "".join(_TILE.format(n=n, stock=stock) for n in range(501, 501 + count))


def test_a_number_in_each_tile_of_a_listing_is_none_of_the_page():
    url = "https://shop.example/catalog/lamps/"
    assert found(f"<h1>Lamps</h1>{_tiles(4)}", url=url).kind == "listing"
    own = "<p>Item no.: RL7</p><p>Out of stock</p><img src=r.jpg alt='Red Lamp'>"
    assert found(f"{H1}{own}<h3>Related</h3>{_tiles(4)}").kind == "product"


def test_a_sentence_that_mentions_a_tiles_price_is_about_that_tile():
    url = "https://shop.example/sale/lamps/"
    text = "<p>Лампа ЛК за {} ₽ вместо 6200 ₽.</p>"
    tiles = _tiles(2, "Мало").replace("0.00 €", "0 ₽").replace("Item no.", "Арт.")
    sale = f"<h1>Скидки на лампы до 15%</h1>{text}{tiles}"
    assert found(sale.format("5010"), url=url, lang="ru").kind != "product"
    assert found(sale.format("4990"), url=url, lang="ru").kind == "product"


@pytest.mark.parametrize(
    ("net", "shown", "remark", "price"),
    [
        ("46.13", "54,90", "inkl. 19% USt.", "54.90"),
        ("46.13", "54,90", "", "54.90"),
        ("50.00", "60,00", "inkl. MwSt.", "60.00"),
        ("50.00", "60,00", "", "50.00"),
        ("50.00", "90,00", "inkl. MwSt.", "50.00"),
    ],
)
def test_data_has_the_price_without_the_tax_that_the_shown_price_includes(
    net, shown, remark, price
):
    body = f"{H1}<div class=price>{shown} €</div><p>{remark}</p>{BUY}"
    assert found(body, _data(net), lang="de").fields["price"] == Decimal(price)


@pytest.mark.parametrize(("box", "price"), [("price", 89), ("rate", 8900)])
def test_a_price_in_cents_is_the_one_beside_the_name_without_cents(box, price):
    body = f"{H1}<div class={box}>89 kr</div>{BUY}"
    assert found(body, _data("8900", "SEK"), lang="sv").fields["price"] == price


def test_the_price_before_gives_a_price_without_a_currency_its_own():
    body = f"<h1>Lax</h1><div class=PriceTag><span>89</span><sup>00</sup> /st</div><div class=PriceTag_ordinary>Ord.pris 119,00 kr</div>{BUY}"
    fields = found(body, lang="sv").fields
    assert (fields["price"], fields["regular_price"], fields["currency"]) == (89, 119, "SEK")


def test_a_long_label_calls_an_amount_the_price_before():
    body = f"{H1}<div class=price>149,00 €</div><div>Unverbindliche Preisempfehlung des Herstellers: 199,00 €</div>{BUY}"
    assert found(body, lang="de").fields["regular_price"] == 199


def test_the_tiles_of_a_gallery_without_a_heading_are_no_products_page():
    tile = (
        "<div class=item><a href=/p/{0}></a><figure><img src={0}.jpg></figure><section><div class=main><div class=title>"
        "Bowl {0}</div>{1}</div><div class=status><div>{2}</div></div></section></div>"
    )
    plain = "<div class=prices><div class=price>£{}.00</div></div>"
    sale = "<div class=price><span class=m>£{0}.00</span> <span class=original-price><span class=m>£{0}9.00</span></span></div>"
    bowls = [
        (3, plain, ""),
        (4, plain, "<b class=sold-out>Sold Out</b>"),
        (5, sale, "Sale"),
        (6, plain, ""),
        (7, sale, "Sale"),
    ]
    tiles = "".join(tile.format(n, box.format(n), mark) for n, box, mark in bowls)
    url = "https://shop.example/shop"
    assert found(f"<section>{tiles}</section>", url=url).kind == "listing"


def test_words_that_one_countrys_law_demands_beside_a_price_tell_its_currency():
    body = (
        "<h1>Remera</h1><div class=price>$24.900</div><p>{}</p><button>Agregar al carrito</button>"
    )
    law = "Precio sin impuestos nacionales $20.578,51"
    assert found(body.format(law), lang="es").fields["currency"] == "ARS"
    assert found(body.format("Precio final"), lang="es").fields["currency"] != "ARS"


def test_a_button_that_adds_to_the_basket_in_flanders_buys():
    body = "<h1>Pot</h1><div class=price>24,50 €</div><a role=button class='btn a-submit' href=#>Aan winkelmandje toevoegen</a>"
    assert found(body, lang="nl-BE").fields["availability"] == "InStock"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("For the garden. Ref. FELIX-6", "FELIX-6"),
        ("For the garden, 12 months. Item no. 88-1.", "88-1"),
        ("For the garden. Since 2012.", None),
    ],
)
def test_a_number_is_the_last_sentence_of_a_text(text, number):
    body = f"{H1}<p>{text}</p><div class=price>24.50 €</div>{BUY}"
    assert found(body).fields.get("sku") == number


def test_a_price_box_counts_more_than_a_sentence_before_it():
    facts = "".join(
        f"<p>{word}</p>" for word in ("Be the first", "Maker:", "Acme", "Sent:", "Soon")
    )
    mention = "<p>Made of oiled oak. Fitted here for 399 €.</p>"
    body = f"{H1}{mention}{facts * 2}<div class=price>2495.00 €</div>"
    assert found(body).fields["price"] == 2495


@pytest.mark.parametrize(("lang", "words"), [("da", "Leveret fra"), ("nb", "Leveres fra")])
def test_the_least_that_a_delivery_costs_is_no_price(lang, words):
    body = f"<h1>Lampe</h1><p>Massivt træ. {words} 399 kr.</p>{BUY}"
    assert "price" not in found(body, lang=lang).fields


@pytest.mark.parametrize(
    ("heading", "lang", "price"),
    [
        ("Sammenlign varer", "da", "Pris {} kr."),
        ("Comparare produse", "ro", "Preț {} Lei"),
        ("Ürün karşılaştırma", "tr", "Fiyat {} TL"),
    ],
)
def test_a_heading_of_a_comparison_names_no_product(heading, lang, price):
    label, amount = price.split(" ", 1)
    row = "<tr class=product-{}><td>{}</td><td>{}</td><td>{}</td></tr>"
    names = row.format("name", "-", "<a href=/a>Desk 180 cm</a>", "<a href=/b>Chair</a>")
    prices = row.format("price", label, amount.format("7.995,00"), amount.format("2.495,00"))
    body = f"<h1>{heading}</h1><table>{names}{prices}</table>"
    assert found(body, url="https://shop.example/compareproducts", lang=lang).kind != "product"


@pytest.mark.parametrize(
    ("page", "kind"), [("product_reviews", "other"), ("product_info", "product")]
)
def test_a_page_of_reviews_is_none_of_the_product_that_it_prices(page, kind):
    body = f"{H1}<h2 class=price>$4.75</h2><p>5 of 5 stars! Lovely colour.</p>"
    url = f"https://shop.example/index.php?main_page={page}&products_id=771"
    assert found(body, url=url).kind == kind


@pytest.mark.parametrize(
    ("box", "brand"),
    [
        ("<div class=vendor>Vândut de <a href=/v/x>Casa</a> ★ 4,8</div>", "Mokita"),
        ("<div class=vendor>Acme</div>", "Acme"),
        ("<div class=vendor>by <a href=/v/x>Acme</a></div>", "Acme"),
    ],
)
def test_a_vendor_among_other_words_is_the_seller(box, brand):
    body = f"{H1}<div class=price>12.00 €</div>{box}<p><b>Brand:</b> <span>Mokita</span></p>{BUY}"
    assert found(body).fields["brand"] == brand


@pytest.mark.parametrize(
    ("label", "brand"),
    [("Aroma Kft.", "Aroma Kft."), ("Aroma s.r.o.", "Aroma s.r.o."), ("Aroma.", "Aroma")],
)
def test_a_makers_name_keeps_the_dot_of_its_form(label, brand):
    body = f"{H1}<div class=price>12.00 €</div><p>Brand: <a href=/m>{label}</a></p>{BUY}"
    assert found(body).fields["brand"] == brand


@pytest.mark.parametrize(
    ("value", "button", "stock"),
    [
        ("sold out", "", "OutOfStock"),
        ("pre-order", "<input type=submit value='Pre-order now'>", "PreOrder"),
        ("sold out", BUY, "InStock"),
    ],
)
def test_a_labelled_stock_outweighs_the_data_where_no_button_buys(value, button, stock):
    facts = f"<dl><dt>Stock:</dt><dd>{value}</dd></dl>"
    body = f"{H1}{facts}<div class=price>12.00 €</div>{button}"
    assert found(body, _data()).fields["availability"] == stock


@pytest.mark.parametrize(("high", "price"), [("16", 13), ("12.50", 11)])
def test_of_several_sellers_prices_the_one_beside_the_name_counts(high, price):
    offers = {"@type": "AggregateOffer", "lowPrice": "11", "highPrice": high}
    offers |= {"priceCurrency": "EUR", "availability": "InStock"}
    body = f"{H1}<div class=x1><div>€13</div></div><p>or € 2.17/month</p>{BUY}"
    assert found(body, _data(offers=offers)).fields["price"] == price


@pytest.mark.parametrize(
    ("path", "kind"), [("sellers?pid=771", "other"), ("lamps?pid=771", "product")]
)
def test_a_list_of_sellers_is_no_products_page(path, kind):
    row = "<div><span>Seller {0}</span><b>€ 1{0}.00</b><button>Add to cart</button></div>"
    rows = "".join(map(row.format, "1234"))
    body = f"<h1>All sellers</h1>{rows}<p>In stock</p>"
    assert found(body, url=f"https://shop.example/{path}").kind == kind


@pytest.mark.parametrize("words", ["全館滿 NT$1,500 免運", "单笔订单满 NT$1,500 包邮"])
def test_the_sum_from_which_postage_is_free_is_a_bound(words):
    body = f"<h1>雨靴</h1><p>{words}</p><div class='price-regular price'>NT$1,490</div><button>加入購物車</button>"
    assert found(body, lang="zh-hant").fields["price"] == 1490


@pytest.mark.parametrize("folder", ["hersteller", "Hersteller"])
def test_the_folder_of_a_makers_page_may_have_a_capital(folder):
    logo = f"<p>Details</p><a href=/{folder}/Nero/><img src=n.png alt=Nero></a>"
    body = f"<div>{H1}</div><div class=price>12.00 €</div>{logo}{BUY}"
    assert found(body).fields["brand"] == "Nero"


@pytest.mark.parametrize(
    ("captions", "stock"),
    [
        (("Pre-order now", "Buy now"), "PreOrder"),
        (("Buy now", "Pre-order now"), "InStock"),
        (("Buy now", "Sold out"), "InStock"),
    ],
)
def test_the_first_input_that_sells_says_whether_it_sells_ahead(captions, stock):
    inputs = "".join(f"<input type=submit value='{caption}'>" for caption in captions)
    body = f"{H1}<div class=price>12.00 €</div>{inputs}"
    assert found(body).fields["availability"] == stock


@pytest.mark.parametrize(
    "size", ["36 <small>Sold out</small>", "<b>36</b> <small>Sold out</small>"]
)
def test_a_size_that_is_sold_out_in_its_label_is_one_of_several(size):
    sizes = f"<fieldset><label>{size}</label><label>38</label></fieldset>"
    body = f"{H1}<div class=price>89 €</div>{sizes}{BUY}"
    assert found(body).fields["availability"] == "InStock"


@pytest.mark.parametrize(("word", "price"), [("about", None), ("pack", 10)])
def test_a_rough_amount_is_of_a_thing_mentioned(word, price):
    text = f"For 4 people: 300 g of cheese ({word} CHF 10.–), 400 g of pasta"
    assert found(f"{H1}<p>{text}</p>{BUY}").fields.get("price") == price


@pytest.mark.parametrize(
    ("label", "button", "stock"),
    [
        ("<p>Availability: Sold out</p>", "<button>Notify me</button>", "OutOfStock"),
        ("<p class=avail>Available on backorder</p>", BUY, "BackOrder"),
    ],
)
def test_a_button_that_sells_nothing_confirms_no_stock(label, button, stock):
    body = f"{H1}<div class=price>12.00 €</div>{label}{button}"
    assert found(body, _data()).fields["availability"] == stock


@pytest.mark.parametrize(
    ("path", "lang"), [("listino", "it"), ("prislista", "sv"), ("prisliste", "da")]
)
def test_a_list_of_prices_is_no_products_page(path, lang):
    body = "<h1>Lamps 2026</h1><p>Item no.: L4-220</p><div class=price>€ 49.00</div>"
    assert found(body, url=f"https://shop.example/pages/{path}", lang=lang).kind != "product"
    assert found(body, url="https://shop.example/pages/lamps", lang=lang).kind == "product"


@pytest.mark.parametrize(("folder", "kind"), [("support/manuals", "other"), ("lamps", "product")])
def test_a_manual_is_no_products_page(folder, kind):
    facts = "<dl><dt>Model</dt><dd>L4-220</dd><dt>EAN</dt><dd>5012345678900</dd></dl>"
    body = f"<h1>Lamp L4</h1>{facts}<p>Discontinued in 2024.</p>"
    assert found(body, url=f"https://shop.example/{folder}/l4").kind == kind


@pytest.mark.parametrize(
    ("words", "kind"), [("efter RUT-avdrag", "other"), ("per lampa", "product")]
)
def test_a_price_after_the_states_share_of_the_work_is_of_a_service(words, kind):
    body = f"<h1>Montering</h1><img src=m.jpg><p>Pris: 595 kr {words}.</p><button>Boka</button>"
    assert found(body, url="https://shop.example/pages/m", lang="sv").kind == kind


@pytest.mark.parametrize("facts", ["", "<p>Size: M</p><p>In stock</p>"])
@pytest.mark.parametrize(("colours", "price"), [(("Blue", "Green"), 49), (("Blue",), None)])
def test_pictures_of_other_colours_before_a_price_make_no_tile(facts, colours, price):
    swatch = "<a href=/p/lamp-{0}-101><img src={0}.jpg><span>{0}</span></a>"
    box = f"<div>{''.join(map(swatch.format, colours))}</div>{facts}"
    body = f"<header>{H1}</header><div>{box}<div class=price>€ 49.00</div>{BUY}</div>"
    assert found(body).fields.get("price") == price


def test_a_box_for_the_stock_and_a_button_outweigh_data_of_another_day():
    price, stock = "<div class=price>12 €</div>", "<p class=stock>In stock</p>"
    stale = _data(stock="OutOfStock")
    assert found(f"{H1}{price}{stock}{BUY}", stale).fields["availability"] == "InStock"
    assert found(f"{H1}{price}{BUY}", stale).fields["availability"] == "OutOfStock"
    assert found(f"{H1}{price}{stock}", stale).fields["availability"] == "OutOfStock"


@pytest.mark.parametrize("words", ["buy__prev", "pdp-price_deleted", "prev-price"])
def test_a_class_calls_the_price_before_the_previous_or_the_deleted_one(words):
    prices = f"<span class={words}>16 €</span><span class=price>12 €</span>"
    fields = found(f"{H1}{prices}{BUY}", _data(price="16")).fields
    assert (fields["price"], fields["regular_price"]) == (12, 16)


@pytest.mark.parametrize("kind", ["ProductGroup", "Product"])
def test_a_variant_that_can_be_ordered_ahead_suffices(kind):
    stocks = ("OutOfStock", "PreOrder", "OutOfStock")
    offers = [
        {"@type": "Offer", "price": "12", "priceCurrency": "EUR", "availability": s} for s in stocks
    ]
    variants = [
        {"@type": "Product", "name": f"Lamp {n}", "offers": o} for n, o in enumerate(offers)
    ]
    more = {"hasVariant": variants} if kind == "ProductGroup" else {"offers": offers}
    node = {"@type": kind, "name": "Red Lamp", **more}
    data = f'<script type="application/ld+json">{json.dumps(node)}</script>'
    assert found(f"{H1}<p>A lamp.</p>", data).fields["availability"] == "PreOrder"


@pytest.mark.parametrize("price", ["129.98999999999998", "129.99000000000001", 129.98999999999998])
def test_the_error_of_a_float_is_no_part_of_a_price(price):
    assert found(H1 + BUY, _data(price=price)).fields["price"] == Decimal("129.99")


@pytest.mark.parametrize("name", ["Lamp 65&amp;quot; &amp; R&amp;D", "Lamp 65&quot; & R&D"])
def test_a_name_that_is_escaped_twice_is_read(name):
    head = _data().replace("Red Lamp", name)
    assert found("<h1>A lamp</h1>" + BUY, head).fields["name"] == 'Lamp 65" & R&D'
