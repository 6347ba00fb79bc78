"""What defeated the parser on pages in the manner of widespread shop systems: one case a cause."""

from decimal import Decimal

import pytest

from crawler.extract import Found, find_links, parse
from crawler.extract.external_id import product_part
from tests.unit.extract.bodies import BUY, H1, found


def prices(page: Found) -> tuple[Decimal | None, Decimal | None]:
    return page.fields.get("price"), page.fields.get("regular_price")


class TestAmountsSideBySide:
    @pytest.mark.parametrize(
        ("body", "price", "regular"),
        [
            ("<b>399,99 TL</b><b>249,99 TL</b>", "249.99", "399.99"),
            ("<b>129 990 Ft</b> <b>109 990 Ft</b> <b>-15%</b>", "109990", "129990"),
            ("<b>Now $24.97</b><b>Was $34.97</b><i>50.0 ¢/ft</i>", "24.97", "34.97"),
            ("<b>C$32.00</b><i>Regular Price</i><b>C$24.00</b><i>Sale Price</i>", "24.00", "32.00"),
            ("<b>de R$ 300,00</b><b>por R$ 250,00</b>", "250.00", "300.00"),
            ("<b>€699</b> <em>was €999</em> <em>save €300</em>", "699", "999"),
            (
                "<b>Regular price</b><b>\u200f288.00 ₪\u200f</b><b>Sale price</b><b>\u200f250.00 ₪</b>",
                "250.00",
                "288.00",
            ),  # marks of a direction, as pages in Hebrew have them
        ],
    )
    def test_two_amounts_in_one_row_are_two_prices(
        self, body: str, price: str, regular: str
    ) -> None:
        page = found(f"{H1}<div>{body}</div>{BUY}")
        assert prices(page) == (Decimal(price), Decimal(regular))

    def test_a_stroke_for_the_cents_is_the_money_of_the_country(self) -> None:
        body = f'{H1}<p class="price"><b>1 799,-</b> <s>2 299,-</s></p>{BUY}'
        page = found(body, url="https://shop.example.no/p/lamp", lang="nb")
        assert prices(page) == (Decimal("1799"), Decimal("2299"))
        assert page.fields["currency"] == "NOK"

    def test_figures_with_a_stroke_inside_are_no_amounts(self) -> None:
        page = found(f"{H1}<p>Levering 10.-12. mai</p>{BUY}", lang="nb")
        assert "price" not in page.fields

    def test_who_holds_no_card_pays_the_usual_price(self) -> None:
        body = f"{H1}<p>Kliendikaardiga <b>64,90 €</b></p><p>Tavahind <b>69,90 €</b></p>{BUY}"
        assert prices(found(body, lang="et")) == (Decimal("69.90"), None)

    def test_a_reduced_price_elsewhere_hinders_no_pair(self) -> None:
        far = "<p>text</p>" * 20
        body = f"{H1}<p>40,00 €</p><p>30,00 €</p>{BUY}{far}<p><s>9,00 €</s> 7,00 €</p>"
        assert prices(found(body)) == (Decimal("30.00"), Decimal("40.00"))


class TestNoPrice:
    def test_an_amount_in_the_text_is_no_price_where_one_has_to_ask(self) -> None:
        body = f"{H1}<p class=price>Cena na zapytanie</p><p>Zadatek lub 500 zł w sklepie.</p>{BUY}"
        assert "price" not in found(body, lang="pl").fields

    def test_a_structured_nothing_is_a_gap_where_one_has_to_ask(self) -> None:
        node = (
            '{"@type":"Product","name":"Red Lamp","offers":{"price":"0.00","priceCurrency":"EUR"}}'
        )
        head = f'<script type="application/ld+json">{node}</script>'
        page = found(f"{H1}<p>Price on request</p>", head)
        assert page.kind == "product"
        assert "price" not in page.fields

    def test_a_question_about_an_amount_is_no_product(self) -> None:
        body = "<h1>Is $300 a fair price for this lens?</h1><p>Sold out here.</p><p>Buy it now</p>"
        assert found(body, url="https://forum.example/t/12").kind != "product"


class TestStock:
    @pytest.mark.parametrize(
        ("classes", "said"),
        [
            ("stock available-on-backorder", "BackOrder"),
            ("stock out-of-stock", "OutOfStock"),
            ("stock in-stock", "InStock"),
        ],
    )
    def test_a_class_tells_what_words_of_no_table_say(self, classes: str, said: str) -> None:
        body = f'{H1}<b class=price>€ 12.00</b><p class="{classes}">Ag labhairt</p>{BUY}'
        assert found(body).fields["availability"] == said

    def test_what_cafe24_hides_is_not_said(self) -> None:
        body = f'{H1}<b class=price>€ 12.00</b>{BUY}<span class="displaynone">SOLD OUT</span>'
        assert found(body).fields["availability"] == "InStock"

    def test_data_whose_price_is_stale_is_not_believed_about_the_stock(self) -> None:
        node = (
            '{"@type":"Product","name":"Red Lamp","offers":{"price":"40.00","priceCurrency":"EUR",'
            '"availability":"https://schema.org/InStock"}}'
        )
        head = f'<script type="application/ld+json">{node}</script>'
        head += '<meta property="product:price:amount" content="30.00">'
        head += '<meta property="product:price:currency" content="EUR">'
        page = found(f"{H1}<b class=price>30,00 €</b><p class=stock>Sold out</p>", head)
        assert (page.fields["price"], page.fields["availability"]) == (
            Decimal("30.00"),
            "OutOfStock",
        )

    def test_a_word_with_other_letters_in_its_choices_is_found_in_a_text_without(self) -> None:
        page = found(
            f"{H1}<b class=price>$ 12.00</b><button>Agregar a la bolsa</button>", lang="es"
        )
        assert page.fields["availability"] == "InStock"


class TestState:
    def test_a_special_price_and_a_nested_stock_are_read(self) -> None:
        state = (
            '{"product":{"sku":"AR-1","name":"Red Lamp","price":119.95,"specialPrice":89.95,'
            '"currency":"EUR","stock":{"isInStock":true,"qty":4}}}'
        )
        page = found(f"{H1}<script>window.__NUXT__={state}</script>")
        assert prices(page) == (Decimal("89.95"), Decimal("119.95"))
        assert (page.fields["sku"], page.fields["availability"]) == ("AR-1", "InStock")

    def test_a_graph_price_range_is_read(self) -> None:
        state = (
            '{"P:1":{"name":"Red Lamp","code":"T-2","stock_status":"OUT_OF_STOCK","price_range":'
            '{"minimum_price":{"final_price":{"value":19,"currency":"EUR"},'
            '"regular_price":{"value":24,"currency":"EUR"}}}}}'
        )
        page = found(f"{H1}<script>window.__APOLLO_STATE__={state}</script>")
        assert prices(page) == (Decimal("19"), Decimal("24"))
        assert (page.fields["sku"], page.fields["availability"]) == ("T-2", "OutOfStock")


class TestNumber:
    def test_the_number_in_the_address_goes_before_a_barcode(self) -> None:
        state = '{"product":{"name":"Red Lamp","price":12,"currency":"USD","upc":"036000291452"}}'
        script = f'<script type="application/json">{state}</script>'
        page = found(H1 + script, url="https://shop.example/ip/red-lamp/88997766")
        assert (page.fields["sku"], page.fields["external_id"]) == ("88997766", "036000291452")

    @pytest.mark.parametrize(
        ("line", "number"),
        [
            ("商品編號：YM-5", "YM-5"),
            ("(Code 88-12)", "88-12"),
            ("Anzeige-Nr. 778812", "778812"),
            ("Vörunúmer: LL-9", "LL-9"),
        ],
    )
    def test_a_number_in_brackets_or_behind_an_abbreviation_is_read(
        self, line: str, number: str
    ) -> None:
        page = found(f'{H1}<b class=price>12,00 €</b><p class="product-sku">{line}</p>{BUY}')
        assert page.fields["sku"] == number

    def test_what_tells_a_numbers_kind_is_no_part_of_it(self) -> None:
        node = '<meta itemprop="productID" content="sku:LP-77">'
        offer = '<p itemprop="offers" itemscope itemtype="http://schema.org/Offer">'
        offer += '<b itemprop="price">12.00</b><i itemprop="priceCurrency">EUR</i></p>'
        page = found(
            '<div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">Red Lamp</h1>'
            f"{node}{offer}</div>"
        )
        assert page.fields["sku"] == "LP-77"

    def test_the_number_stands_before_the_name_in_an_address(self) -> None:
        page = found(
            f"{H1}<b class=price>12,00 €</b>{BUY}",
            url="https://shop.example/produto/1334455/red-lamp",
        )
        assert page.fields["sku"] == "1334455"


def test_a_category_that_calls_itself_one_product_is_none() -> None:
    node = (
        '{"@type":"Product","name":"Shoes","offers":{"@type":"AggregateOffer","lowPrice":"19.90",'
        '"highPrice":"89.90","priceCurrency":"EUR","offerCount":132}}'
    )
    tiles = "".join(
        f'<div class="product-card"><a href="/p/{n}"><h3>Shoe {n}</h3></a><b>€ {n}9.90</b></div>'
        for n in range(1, 9)
    )
    head = f'<script type="application/ld+json">{node}</script>'
    page = found(f"<h1>Shoes</h1>{tiles}", head, url="https://shop.example/shoes")
    assert page.kind != "product"


def test_a_box_that_is_called_a_name_and_is_most_of_the_title_is_the_heading() -> None:
    title = "<title>【市場】【送料無料】深蒸し煎茶 100g：茶屋</title>"
    body = (
        '<span class="item_name"><b>【送料無料】深蒸し煎茶 100g</b></span>'
        '<p class="price">1,080円</p><input type="submit" value="買い物かごに入れる">'
    )
    page = found(body, title, lang="ja")
    assert page.fields["name"] == "【送料無料】深蒸し煎茶 100g"


@pytest.mark.parametrize(
    ("body", "price", "regular"),
    [
        ('<b class="price-box__compare-price">499 Kč</b><p>399 Kč</p>', "399", "499"),
        ("<p>399,- bez DPH 329,75</p>", "399", None),
        ('<b class="price">9,00 €</b><p class="staffel">ab 10 Stück 8,00 €</p>', "9.00", None),
        ("<p><b>219 zł</b><i>brutto</i></p><p>Najniższa cena: 199 zł</p>", "219", None),
        ('<b class="retail-price">12,99 €</b><s>UVP 19,90 €</s>', "12.99", "19.90"),
        ("<p>6,80 €</p><p>6,18 € tasse escl.</p>", "6.80", None),
        ("<p>מחיר קטלוגי: 78 ₪</p><p>מחיר מבצע: 62.40 ₪</p>", "62.40", "78"),
    ],
)
def test_words_and_classes_tell_which_amount_is_paid(
    body: str, price: str, regular: str | None
) -> None:
    page = found(f"{H1}{body}{BUY}", url="https://shop.example.cz/p/red-lamp")
    assert prices(page) == (Decimal(price), None if regular is None else Decimal(regular))


def test_two_statements_in_one_row_are_two_lines() -> None:
    row = "<div><span>В наявності</span><span>Код: <b>LED-12</b></span></div>"
    page = found(f"{H1}<p>89,50 ₴</p>{row}{BUY}", lang="uk")
    assert (page.fields["sku"], page.fields["availability"]) == ("LED-12", "InStock")


def test_a_sentence_that_nothing_is_left_goes_before_a_promise_of_speed() -> None:
    body = f'{H1}<b class="price">$ 139.00</b><dl><dt>Availability:</dt>'
    body += "<dd>Usually ships in 24 hours</dd></dl><p>The item is out of stock</p>"
    assert found(body).fields["availability"] == "OutOfStock"


def test_variants_of_a_storefront_tell_price_and_stock() -> None:
    told = '"price":{"amount":"59.0","currencyCode":"USD"},"compareAtPrice":{"amount":"79.0"}'
    nodes = ('{"node":{"availableForSale":' + had + "," + told + "}}" for had in ("false", "true"))
    edges = ",".join(nodes)
    state = '{"product":{"title":"Red Lamp","variants":{"edges":[' + edges + "]}}}"
    page = found(f'{H1}<script type="application/json">{state}</script>')
    assert prices(page) == (Decimal("59.0"), Decimal("79.0"))
    assert page.fields["availability"] == "InStock"


def test_a_category_of_two_things_is_no_product() -> None:
    things = "".join(
        f'<div><a href="/noz-{n}">Nóż {n}</a><b>{n}9,00 zł</b><a href="#">Do koszyka</a></div>'
        for n in (1, 2)
    )
    page = found(f"<h1>Noże</h1>{things}", url="https://shop.example/kategoria/noze", lang="pl")
    assert page.kind != "product"


def test_products_that_a_parameter_names_are_not_variants_of_one() -> None:
    """Cafe24 and MakeShop name products and categories by a number behind the question mark."""
    tiles = "".join(
        f'<li class="item"><a href="/product/detail.html?product_no={n}&amp;cate_no=24">'
        f'<img src="/{n}.jpg" alt="Cup {n}"></a></li>'
        for n in (101, 102, 103)
    )
    menu = '<nav><a href="/product/list.html?cate_no=25">Bowls</a></nav>'
    page = parse(menu + tiles, "https://shop.example/product/list.html?cate_no=24")
    links = {link.url.removeprefix("https://shop.example/product/") for link in find_links(page)}
    detail = {f"detail.html?product_no={n}&cate_no=24" for n in (101, 102, 103)}
    assert links == {*detail, "list.html?cate_no=25"}


def test_products_that_a_parameter_names_have_keys_of_their_own() -> None:
    addresses = [f"https://shop.example/detail.html?product_no={n}&x=1" for n in (101, 102)]
    assert [product_part(url) for url in addresses] == ["101", "102"]


def test_a_price_right_behind_an_item_number_is_a_price() -> None:
    row = '<span>Kód: <span>DD-10</span></span><b class="price-final">1 548 Kč</b>'
    page = found(f"{H1}<div>{row}</div>{BUY}", lang="cs")
    assert (page.fields["price"], page.fields["sku"]) == (Decimal("1548"), "DD-10")


def test_a_sign_before_the_element_of_the_price_is_the_prices() -> None:
    page = found(f'{H1}<div><span>£</span><span class="price">149.00</span></div>{BUY}')
    assert (page.fields["price"], page.fields["currency"]) == (Decimal("149.00"), "GBP")


class TestTomans:
    """Iran's shops count in tomans of 10 rials; only rials have a code of the norm."""

    URL = "https://shop.example.ir/product/1"

    def test_tomans_of_the_text_are_rials(self) -> None:
        page = found(f"{H1}<p>۸۹۰,۰۰۰ تومان</p>{BUY}", url=self.URL, lang="fa")
        assert (page.fields["price"], page.fields["currency"]) == (Decimal("8900000"), "IRR")

    @pytest.mark.parametrize("code", ["IRT", "IRR"])
    def test_tomans_of_structured_data_are_rials_whatever_it_calls_them(self, code: str) -> None:
        offer = f'{{"@type":"Offer","price":"890000","priceCurrency":"{code}"}}'
        data = f'{{"@type":"Product","name":"Red Lamp","offers":{offer}}}'
        body = f"{H1}<p><s>950,000 تومان</s> 890,000 تومان</p>{BUY}"
        page = found(f'<script type="application/ld+json">{data}</script>{body}', url=self.URL)
        assert prices(page) == (Decimal("8900000"), Decimal("9500000"))
        assert page.fields["currency"] == "IRR"

    def test_rials_stay_as_they_are(self) -> None:
        page = found(f"{H1}<p>8,900,000 ریال</p>{BUY}", url=self.URL)
        assert page.fields["price"] == Decimal("8900000")


def test_a_box_that_says_without_tax_holds_no_price_beside_the_one_with_it() -> None:
    net = '<span class="price-excluding-tax"><span class="price">€ 749,00</span></span>'
    gross = '<span class="price-including-tax"><span class="price">€ 906,29</span></span>'
    for row in (net + gross, gross + net):
        assert prices(found(f"{H1}<div>{row}</div>{BUY}", lang="nl")) == (Decimal("906.29"), None)


def test_words_with_an_amount_behind_an_amount_are_a_line_of_their_own() -> None:
    row = "<span>CHF 23'900.–</span><span>Leasing ab CHF 289.– / Mt.</span>"
    page = found(f"{H1}<div>{row}</div>{BUY}", lang="de-ch")
    assert prices(page) == (Decimal("23900"), None)


def test_an_amount_with_the_price_before_beside_it_is_the_price() -> None:
    rows = '<b>R 2,499</b><p class="list-price">R 3,299</p><p>eB R24,990</p>'
    page = found(f'{H1}<a class="brand" href="/b">W</a><p>{rows}</p>{BUY}', lang="en-za")
    assert prices(page) == (Decimal("2499"), Decimal("3299"))


def test_an_amount_that_a_picture_shows_is_the_price() -> None:
    picture = '<img src="/price.php?p=12" alt="Price: $45.00">'
    page = found(f"{H1}{picture}<p>Item # 12-99</p>{BUY}")
    assert (page.fields["price"], page.fields["currency"]) == (Decimal("45.00"), "USD")
    two = found(f'{H1}{picture}<img src="/b" alt="$9.00"><p>Item # 12-99</p>{BUY}')
    assert "price" not in two.fields


def test_a_described_product_with_a_page_of_its_own_is_not_this_pages() -> None:
    offer = '{"@type":"Offer","price":"29.90","priceCurrency":"EUR"}'
    data = f'{{"@type":"Product","name":"Green Pear","url":"/p/pear","offers":{offer}}}'
    page = found(
        f'{H1}<p>€ 34,90</p>{BUY}<script type="application/ld+json">{data}</script>',
        head="<title>Red Lamp</title>",
    )
    assert (page.fields["name"], page.fields["price"]) == ("Red Lamp", Decimal("34.90"))


def test_a_state_tells_its_price_under_what_its_shop_calls_it() -> None:
    state = (
        '{"props":{"product":{"name":"Red Lamp","sku":"L-1","inventory":{"inStock":true},'
        '"pricing":{"mrp":2499,"sellingPrice":1749,"currency":"INR"}}}}'
    )
    page = found(f'{H1}<script type="application/json">{state}</script>')
    assert prices(page) == (Decimal("1749"), Decimal("2499"))


@pytest.mark.parametrize(
    ("text", "lang", "price", "currency"),
    [
        ("₹ 1.25 Lakh", "en-in", "125000", "INR"),
        ("支払総額 189.8万円", "ja", "1898000", "JPY"),
        ("Giá: 28,5 triệu", "vi-vn", "28500000", "VND"),
        ("Цена 50 тыс. руб.", "ru", "50000", "RUB"),
        ("قیمت ۸۹۰ هزار تومان", "fa", "8900000", "IRR"),
    ],
)
def test_a_word_behind_an_amount_multiplies_it(
    text: str, lang: str, price: str, currency: str
) -> None:
    page = found(f"{H1}<p>{text}</p>{BUY}", lang=lang)
    assert (page.fields["price"], page.fields["currency"]) == (Decimal(price), currency)


def test_words_that_only_begin_like_a_multiple_multiply_nothing() -> None:
    assert prices(found(f"{H1}<p>$ 12 lakeside lamps</p>{BUY}")) == (Decimal("12"), None)


@pytest.mark.parametrize(
    ("button", "lang"),
    [("Contact seller", "en"), ("Réserver ce piano", "fr"), ("Показать телефон", "ru")],
)
def test_a_button_that_asks_a_seller_makes_a_page_with_a_price_a_product(
    button: str, lang: str
) -> None:
    row = f"{H1}<p>4.250 €</p>"
    assert found(f"{row}<button>{button}</button>", lang=lang).kind == "product"
    assert found(row, url="https://shop.example/x", lang=lang).kind == "other"


def test_an_offer_of_rooms_is_no_product_whatever_its_buttons_ask() -> None:
    data = '<script type="application/ld+json">{"@type":"Hotel","name":"Red Lamp"}</script>'
    page = found(f"{H1}<p>$129</p><button>Book now</button>", data, url="https://a.example/h")
    assert page.kind == "other"


@pytest.mark.parametrize(
    ("body", "stock"), [("<p>Sold</p>", "OutOfStock"), ("<p>Sold</p><p>25 pieces</p>", None)]
)
def test_a_line_of_one_word_says_that_a_thing_is_sold(body: str, stock: str | None) -> None:
    page = found(f"{H1}<p>Item no: RL-12</p><p>$25.00</p>{body}")
    assert page.fields.get("availability") == stock


def test_rows_that_a_server_streams_to_scripts_tell_the_product() -> None:
    rows = r"5:[\"$\",\"main\",{\"product\":{\"name\":\"Red Lamp\",\"sku\":\"L-1\",\"price\":{\"va"
    rest = r"lue\":39.99,\"currency\":\"GBP\"}}}]\n6:[]"
    pushes = (f'<script>self.__next_f.push([1,"{part}"])</script>' for part in (rows, rest))
    page = found(H1 + "".join(pushes))
    assert (page.fields["price"], page.fields["currency"]) == (Decimal("39.99"), "GBP")


def test_a_word_for_the_price_before_counts_behind_a_link() -> None:
    link = '<p>por <a href="/a">Author</a></p>'
    page = found(f"{H1}{link}<p>De: R$ 49,90</p><p>Por: R$ 34,93</p>{BUY}", lang="pt-br")
    assert prices(page) == (Decimal("34.93"), Decimal("49.90"))


def test_a_price_that_its_class_calls_the_one_now_is_a_line_of_its_own() -> None:
    row = 'From: <b class="normalprice">$8.00 </b> <b class="productSpecialPrice">$6.40</b>'
    assert prices(found(f"{H1}<p>{row}</p>{BUY}")) == (Decimal("6.40"), Decimal("8.00"))


def test_a_comparison_of_shops_tells_the_lowest_price_of_a_product() -> None:
    offers = "".join(
        f'<li><a href="/out/{n}">Red Lamp {n}</a><b>{n}9,00 €</b><a href="/out/{n}">Zum Shop</a></li>'
        for n in (4, 5)
    )
    page = found(f"{H1}<p>ab 49,00 €</p><ul>{offers}</ul>", lang="de")
    assert (page.kind, page.fields["price"]) == ("product", Decimal("49.00"))


#: Language, currency, address and words of it: was, now, saved, with tax, without tax, a month.
SHOPS = [
    ("en", "$34.90", "$49.90", "com", "Was", "Now", "You save", "incl. tax", "excl. tax"),
    ("de", "34,90 €", "49,90 €", "de", "statt", "jetzt", "Sie sparen", "inkl. MwSt.", "zzgl. MwSt."),
    ("lt", "34,90 €", "49,90 €", "lt", "Sena kaina", "Akcijos kaina", "Sutaupote", "su PVM", "be PVM"),
    ("he", "₪34.90", "₪49.90", "co.il", "מחיר קודם", "מחיר מבצע", "חסכת", "כולל מע״מ", "לא כולל מע״מ"),
    ("vi", "34.900₫", "49.900₫", "vn", "Giá cũ", "Giá bán", "Tiết kiệm", "đã gồm VAT", "chưa gồm VAT"),
    ("th", "฿34.90", "฿49.90", "co.th", "ราคาเดิม", "ราคาพิเศษ", "ประหยัด", "รวม VAT", "ไม่รวม VAT"),
    ("hi", "₹3490", "₹4990", "in", "पुराना मूल्य", "नया मूल्य", "बचत", "कर सहित", "कर अतिरिक्त"),
]  # fmt: skip
#: Blocks of a price and the one before, as templates write them.
BLOCKS = [
    "<span>{o}</span> <span>{n}</span> <small>{incl}</small>",
    "<div>{o} {incl}</div><div>{n} {incl}</div>",
    "<span>{o}</span> <span>{n}</span> <span>{save} 30%</span>",
    "<b>{n}</b> <s>{o}</s> <i>{save} 30%</i>",
    "<span>{o}</span><span>{n}</span><span>-30%</span>",
    "<p>{was} {o}</p><p>{now} {n} {incl}</p>",
]


class TestWordsBesideTwoAmounts:
    @pytest.mark.parametrize("block", BLOCKS)
    @pytest.mark.parametrize("words", SHOPS, ids=[shop[0] for shop in SHOPS])
    def test_remarks_on_tax_and_savings_make_no_other_amounts(
        self, words: tuple[str, ...], block: str
    ) -> None:
        lang, new, old, country, was, now, save, incl, _ = words
        body = block.format(n=new, o=old, was=was, now=now, save=save, incl=incl)
        page = found(
            f"{H1}<div>{body}</div>{BUY}", url=f"https://s.example.{country}/p/1", lang=lang
        )
        wanted = [found(f"{H1}<b>{amount}</b>{BUY}").fields["price"] for amount in (new, old)]
        assert list(prices(page)) == wanted

    @pytest.mark.parametrize("words", SHOPS, ids=[shop[0] for shop in SHOPS])
    def test_the_price_with_tax_behind_the_one_without_it(self, words: tuple[str, ...]) -> None:
        lang, _, _, country, _, _, _, incl, excl = words
        body = f"{H1}<div>100 € {excl}</div><div>121 € {incl}</div>{BUY}"
        page = found(body, url=f"https://s.example.{country}/p/1", lang=lang)
        assert prices(page) == (Decimal(121), None)

    def test_a_bare_number_that_the_tax_is_in(self) -> None:
        body = f"{H1}<p class=price>49,00 inkl. mva</p>{BUY}<p>Fri frakt over 800,-</p>"
        page = found(body, url="https://s.example.no/p/1", lang="nb")
        assert prices(page) == (Decimal("49.00"), None)

    def test_an_instalment_without_interest_stays_one(self) -> None:
        body = f"{H1}<div>349,00 €</div><div>34,90 € monatlich 0%</div>{BUY}"
        assert prices(found(body, lang="de")) == (Decimal("349.00"), None)


@pytest.mark.parametrize(
    ("box", "brand"),
    [
        ('<div class="urunMarka"><a href="/m/lila">Lila</a></div>', "Lila"),
        ('<p class="marque">Lila</p>', "Lila"),
        ("<p>Արտադրող՝ Lila</p>", "Lila"),
    ],
)
def test_makers_named_by_boxes_and_labels_of_several_languages(box: str, brand: str) -> None:
    assert found(f"{H1}{box}<b>$5.00</b>{BUY}").fields["brand"] == brand
