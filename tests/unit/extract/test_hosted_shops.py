"""What shop systems write around a product: numbers, makers, sums of postage, columns, errands."""

from decimal import Decimal
from typing import Any

import orjson
import pytest

from crawler.extract import Found, extract, parse
from crawler.extract.money.amounts import find_prices
from crawler.extract.page import lines
from tests.unit.extract.bodies import BUY, H1, found

TILES = "".join(
    f"<li class=product><a href=/p/lamp-{n}><img src={n}.jpg><h3>Lamp {n}</h3></a>"
    f"<b class=price>${n}.50</b></li>"
    for n in (11, 12, 13)
)


def described(product: dict[str, Any], body: str, lang: str = "en") -> Found:
    """What the parser makes of a page with JSON-LD of a product."""
    node = {"@context": "https://schema.org", "@type": "Product", "name": "Red Lamp", **product}
    script = f'<script type="application/ld+json">{orjson.dumps(node).decode()}</script>'
    return found(body, head=script, lang=lang)


def test_a_box_for_stock_and_shipping_is_the_product_s_own() -> None:
    row = "<dl><dt>Lieferzeit:</dt><dd>ausverkauft</dd><dt>Art.Nr.:</dt><dd>NM-10</dd></dl>"
    body = f"{H1}<div class=stock-shipping>{row}</div><p class=price>19,00 EUR</p>"
    fields = found(body, lang="de").fields
    assert (fields["sku"], fields["availability"]) == ("NM-10", "OutOfStock")


def test_a_label_and_a_number_of_letters_share_a_box_that_is_called_one() -> None:
    box = "<div class='product-details__product-sku'>SKU WED</div>"
    assert found(f"{H1}{box}<p class=price>$4.25</p>{BUY}").fields["sku"] == "WED"


def test_a_row_of_a_layout_table_above_the_heading_has_the_number() -> None:
    rows = "<tr><td><b>商品番号 </b><i>yame-300</i></td></tr><tr><td><h1>八女茶</h1></td></tr>"
    body = f"<table>{rows}<tr><td>2,980円 (税込)</td></tr></table><button>カートに入れる</button>"
    assert found(body, lang="ja").fields["sku"] == "yame-300"


def test_a_numbered_article_of_the_terms_is_no_item_number() -> None:
    page = found(f"{H1}<p>Article 4 – Price. Prices include tax. Postage: $5.90</p>")
    assert "product +2: the page gives an item number" not in page.verdict.reasons
    page = found(f"{H1}<p>Article 88-12 – Red. Postage: $5.90</p>")
    assert "product +2: the page gives an item number" in page.verdict.reasons


@pytest.mark.parametrize("label", ["Articolo N.", "Art. n."])
def test_italian_shops_shorten_the_word_for_number(label: str) -> None:
    body = f"{H1}<div>{label} <span>VD1001</span></div><p class=price>€ 90,00</p>{BUY}"
    assert found(body, lang="it").fields["sku"] == "VD1001"


def test_a_plain_box_above_the_heading_holds_the_maker_s() -> None:
    maker = "<span><span class=manufacturers-name><a href=#>Marabu</a></span></span>"
    body = f"<div>{maker}{H1}</div><p class=price>$34.90</p>{BUY}"
    assert found(body).fields["brand"] == "Marabu"


GROUP = {
    "@type": "ProductGroup",
    "hasVariant": [
        {"@type": "Product", "sku": f"LMP-{size}", "offers": {"price": 9, "priceCurrency": "EUR"}}
        for size in "SM"
    ],
}


@pytest.mark.parametrize(("group", "number"), [("7791", "LMP-S"), ("LMP", "LMP")])
def test_a_database_s_number_of_a_group_is_not_its_first_variant_s(group: str, number: str) -> None:
    fields = described({**GROUP, "productGroupID": group}, H1).fields
    assert (fields["sku"], fields["external_id"]) == (number, group)


def test_a_range_in_a_box_without_tax_is_no_price_and_its_tax() -> None:
    price = "<p class='price price--withoutTax'>$219.00 - $249.00</p>"
    assert found(f"{H1}{price}{BUY}").fields["price"] == Decimal("219.00")


def test_letters_before_padded_figures_are_an_identifier() -> None:
    assert not [*find_prices("SKU: TL01")]
    assert [money.value for money in find_prices("TL 0,50")] == [Decimal("0.50")]


def test_a_number_above_the_box_for_prices_is_not_converted_in_it() -> None:
    body = f"{H1}<p>Model: TL15</p><p class=price>350,000₫</p>{BUY}"
    assert found(body, lang="vi").fields["price"] == Decimal(350000)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("de", "Direkt vom Erzeuger. Ab 49,00 € liefern wir frei Haus, darunter kostet der Versand 4,90 €."),
        ("en", "Woven in Yorkshire wool. Spend £75 for free delivery; express is £6.95."),
        ("fr", "Frais de port : 5,90 €, offerts dès 59 €."),
    ],
)  # fmt: skip
def test_a_sum_from_which_postage_is_free_is_no_price(lang: str, text: str) -> None:
    page = described({"sku": "12-B"}, f"{H1}<p>{text}</p>", lang)
    assert "price" not in page.fields


def test_a_price_with_its_part_behind_it_stays_one() -> None:
    page = found(f"{H1}<p>149,00 € zzgl. Versand 4,90 €</p>{BUY}", lang="de")
    assert page.fields["price"] == Decimal("149.00")


def test_a_sum_or_more_in_the_head_is_no_page_s_price() -> None:
    tiles = TILES.replace("$", "₩").replace(".50", ",500")
    page = found(f"<p>5만원 이상 무료배송</p><ul>{tiles}</ul><a href=/cart>장바구니</a>", lang="ko")
    assert page.kind != "product"


def test_a_sentence_tells_no_price_of_what_structured_data_has_without_one() -> None:
    told = "<p>Tailored in Florence. Hems are sewn in our stores, elsewhere $15.00.</p>"
    assert "price" not in described({"sku": "12-B"}, H1 + told).fields
    called = "<p>The price of this lovely lamp is $15.00.</p>"
    assert described({"sku": "12-B"}, H1 + called).fields["price"] == Decimal("15.00")


COLUMN = (
    "<div class=box><div class=panel-heading>Offers</div><a href=/stamps.html>Stamps</a><br>"
    "<span class=special-price><s>Was $14.90</s><br>Now only $9.90</span></div>"
)


def test_an_offer_in_a_column_is_no_price_of_a_listing_or_a_cart() -> None:
    page = found(f"<div id=main><h1>Paint</h1><ul>{TILES}</ul></div><div>{COLUMN}</div>")
    assert page.kind != "product"
    assert found(f"<div id=main><h1>Paint</h1><p>Empty</p></div>{COLUMN}").kind != "product"


def test_an_offer_in_a_column_is_not_what_the_product_was() -> None:
    offers = {"@type": "Offer", "price": "3.95", "priceCurrency": "USD", "availability": "InStock"}
    body = f"<div id=main>{H1}<p class=price>from $3.95</p>{BUY}</div>{COLUMN}"
    assert "regular_price" not in found(body).fields
    assert "regular_price" not in described({"offers": offers}, body).fields


def test_a_struck_price_above_the_heading_is_found_beside_structured_data() -> None:
    offers = {"@type": "Offer", "price": "34", "priceCurrency": "USD", "availability": "InStock"}
    prices = "<p>Sale Price $34.00</p><p class=strikethrough>Original Price: $42.50</p>"
    page = described({"offers": offers}, f"<div>{prices}</div>{H1}{BUY}")
    assert page.fields["regular_price"] == Decimal("42.50")


def test_what_is_sold_out_may_have_its_price_above_the_heading() -> None:
    body = f"<p>Price: $58.00</p>{H1}<p>Sorry, this item is sold out.</p><ul>{TILES}</ul>"
    page = found(body)
    assert (page.kind, page.fields["price"]) == ("product", Decimal("58.00"))


@pytest.mark.parametrize(
    ("lang", "heading", "text"),
    [
        ("ja", "お支払い・送料について", "全国一律 550円、沖縄 1,100円。"),
        ("en", "Shipping & Returns", "<p>Flat rate $7.95</p>"),
        ("fr", "Conditions générales de vente", "<p>Livraison : 5,90 €</p>"),
        ("pl", "Regulamin sklepu", "<p>Koszt: 11,99 zł</p>"),
    ],
)
def test_a_page_about_postage_or_terms_is_no_product_s(lang: str, heading: str, text: str) -> None:
    html = f"<html lang={lang}><body><h1>{heading}</h1>{text}<p>買い物かご</p></body></html>"
    page = extract(parse(html, "https://shop.example/info.html"))
    assert page.kind != "product"
    assert any("its heading is that of postage" in reason for reason in page.verdict.reasons)


def test_a_thing_that_is_called_like_an_errand_is_sold_all_the_same() -> None:
    body = f"<h1>Delivery</h1><p class=price>$12.00</p>{BUY}<input name=quantity><p>SKU: B-12</p>"
    assert found(body).kind == "product"


def test_a_sentence_about_the_cheapest_of_a_listing_makes_it_no_product_s() -> None:
    tiles = TILES.replace("Lamp", "Coffee").replace("<img", "<img alt='Coffee mild'")
    tiles += "<li class=product><a href=/p/c-4><h3>Coffee 4</h3></a><s>$9</s> <ins>$8</ins></li>"
    tiles = tiles.replace("</li>", f"{BUY}</li>")
    html = f"<h1>Coffee</h1><p>Beans of farms from $9.90.</p><p>In stock</p><ul>{tiles}</ul>"
    page = extract(parse(html, "https://shop.example/product-category/coffee/"))
    assert page.kind != "product"


@pytest.mark.parametrize("path", ["shopping_cart.php", "cgv", "regulamin", "obchodni-podminky"])
def test_addresses_of_terms_and_carts_are_errands(path: str) -> None:
    page = extract(parse(f"{H1}<p>$12.00</p>", f"https://shop.example/{path}"))
    assert any("its address is that of a cart" in reason for reason in page.verdict.reasons)


def test_a_class_says_that_what_is_available_is_ordered_back() -> None:
    stock = "<p class='stock available-on-backorder'>Lieferbar mit Nachlieferung</p>"
    page = found(f"{H1}<p class=price>9,00 €</p>{stock}{BUY}", lang="de")
    assert page.fields["availability"] == "BackOrder"


def test_a_listing_that_sold_on_a_day_is_gone() -> None:
    page = found(f"{H1}<p class=price>£120.00</p><p>This listing sold on Sat, 14 Nov.</p>")
    assert page.fields["availability"] == "OutOfStock"


def _with_state(node: dict[str, Any], body: str) -> Found:
    data = orjson.dumps({"props": {"product": {"name": "Red Lamp", **node}}}).decode()
    return found(f'{body}<script id="__NEXT_DATA__" type="application/json">{data}</script>')


def test_none_in_stock_of_what_is_not_out_yet_is_ordered_before() -> None:
    node = {"price": 2199, "currency": "EUR", "stock": {"available": False}}
    page = _with_state(node, f"{H1}<p>€2,199.00</p><p>Pre-order now, out in March</p>")
    assert page.fields["availability"] == "PreOrder"


def test_a_range_of_prices_to_compare_with_is_the_one_before() -> None:
    def prices(amount: str) -> dict[str, Any]:
        return {"minVariantPrice": {"amount": amount, "currencyCode": "DKK"}}

    node = {"priceRange": prices("4999.0"), "compareAtPriceRange": prices("6499.0")}
    page = _with_state({**node, "availableForSale": True}, H1)
    assert page.fields["regular_price"] == Decimal("6499.0")


def test_a_button_that_argentine_shops_have_to_have_tells_the_peso() -> None:
    body = f"{H1}<p class=price>$84.500</p>{BUY}<a href=/x>Botón de arrepentimiento</a>"
    fields = found(body, lang="es").fields
    assert (fields["price"], fields["currency"]) == (Decimal(84500), "ARS")


def test_who_may_be_asked_about_an_item_sells_it() -> None:
    page = found(f"{H1}<p class=price>$90.00</p><a href=/contact>Enquire about this item</a>")
    assert any("a button asks who sells it" in reason for reason in page.verdict.reasons)


def test_a_text_behind_a_link_under_others_belongs_to_them() -> None:
    others = "<h2>Similar products</h2><a href=/p/2><img src=2.jpg>Green Lamp</a> $18.90"
    page = parse(f"<main>{H1}<p>In stock</p>{others}</main>", "https://shop.example/p/1")
    last = lines.read_all(page, page.headings[0]).lines[-1]
    assert last.text == "$18.90"
    assert last.flags & lines.BEYOND


def test_figures_glued_behind_a_stroke_for_the_cents_are_the_next_amount_s() -> None:
    text = "149:-0,75 kr/st"
    assert [money.value for money in find_prices(text, "SEK")] == [Decimal(149), Decimal("0.75")]


def test_a_picture_and_a_name_that_lead_to_one_product_make_a_tile() -> None:
    links = "<a href=/product/12><img src=12.jpg></a><br><a href=/product/12>Cat Stamp</a><br>"
    prices = "<s class=normalprice>$8.00</s> <b>$6.00</b>"
    html = f"<h1>Specials</h1><div><div>{links}{prices}</div></div>"
    assert extract(parse(html, "https://shop.example/specials")).kind != "product"
    own = f"<div>{links}<h1>Cat Stamp</h1><p class=price>$6.00</p>{BUY}</div>"
    assert extract(parse(own, "https://shop.example/product/12")).kind == "product"


@pytest.mark.parametrize(
    ("lang", "heading"),
    [("es", "Rebajas: zapatos desde 19,95 €"), ("de", "Schuhe schon ab 19,95 €"), ("en", "Shoes from £20")],
)  # fmt: skip
def test_a_title_of_what_begins_at_an_amount_has_no_price(lang: str, heading: str) -> None:
    links = "<a class=btn href=/sale/a>Buy now</a>" * 2
    html = f"<html lang={lang}><h1>{heading}</h1><img src=a.jpg alt=Sale>{links}</html>"
    assert extract(parse(html, "https://shop.example/sale")).kind != "product"
    assert found(f"<h1>Shoes 20 €</h1>{BUY}", lang=lang).fields["price"] == Decimal(20)


@pytest.mark.parametrize(
    ("lang", "price", "asks"),
    [
        ("fr", "65 € par personne, 3 heures.", "Réserver"),
        ("de", "Wir pflanzen für Sie: je Stunde 48,00 €", "Anfragen"),
    ],
)
def test_who_asks_for_a_place_or_an_hour_buys_no_product(lang: str, price: str, asks: str) -> None:
    body = f"{H1}<img src=a.jpg alt='Red Lamp'><p>{price}</p><a class=btn href=/contact>{asks}</a>"
    html = f"<html lang={lang}>{body}</html>"
    assert extract(parse(html, "https://shop.example/service")).kind != "product"


@pytest.mark.parametrize("lang", ["nl", "fi"])
def test_a_language_of_euro_countries_alone_tells_the_currency(lang: str) -> None:
    prices = "<p class=price><b>299,-</b> <span>(norm. 399,-)</span></p><p>12,90 €/kk</p>"
    page = extract(parse(f"<html lang={lang}>{H1}{prices}{BUY}</html>", "https://shop.example/p/1"))
    assert (page.fields["price"], page.fields["currency"]) == (Decimal(299), "EUR")


def test_the_price_without_tax_of_structured_data_gives_way_to_the_one_shown_with_it() -> None:
    offers = {"@type": "Offer", "price": 20.62, "priceCurrency": "EUR", "availability": "InStock"}
    prices = "<b class=price>€ 24,95</b> <span class=price>€ 20,62 excl. btw</span>"
    fields = described({"offers": offers}, f"{H1}<div>{prices}</div>{BUY}", "nl").fields
    assert (fields["price"], fields["currency"]) == (Decimal("24.95"), "EUR")
    other = prices.replace("24,95", "26,95").replace("20,62 excl. btw", "2,08 per maand")
    fields = described({"offers": offers}, f"{H1}<div>{other}</div>{BUY}", "nl").fields
    assert fields["price"] == Decimal("20.62")


def test_cents_of_structured_data_are_read_as_the_page_shows_them() -> None:
    offers = {"@type": "Offer", "price": 1290, "priceCurrency": "EUR", "availability": "InStock"}
    shown = f"{H1}<p class=price>12,90 €</p>{BUY}"
    assert described({"offers": offers}, shown, "de").fields["price"] == Decimal("12.90")


def test_json_ld_in_the_comments_of_old_xhtml_is_read() -> None:
    node = '{"@type": "Product", "name": "Red Lamp", "sku": "Y17"}'
    script = f"<!--//--><![CDATA[//><!--\n{node}\n//--><!]]>"
    head = f'<script type="application/ld+json">{script}</script>'
    assert found(f"{H1}<p class=price>$12.00</p>{BUY}", head=head).fields["sku"] == "Y17"


def test_an_italian_advertisement_has_a_code() -> None:
    body = f"{H1}<p>Codice annuncio: 99120</p><p class=price>€ 3.400</p>"
    assert found(body, lang="it").fields["sku"] == "99120"


def test_a_field_that_asks_for_the_price_stands_for_the_button_that_buys() -> None:
    ask = "<input type=submit value='Consultar precio'>"
    body = f"<form>{H1}<img src=1.jpg alt=Mesa><input name=quantity value=1>{ask}</form>"
    page = found(f"{body}<p>Envío a CABA $6.500.</p><ul>{TILES}</ul>", lang="es")
    assert (page.kind, page.fields.get("price")) == ("product", None)
    tiles = TILES.replace("</li>", f"{ask}</li>")
    html = f"<h1>Mesas</h1><ul>{tiles}</ul>"
    assert extract(parse(html, "https://shop.example/mesas")).kind != "product"
