"""What the parser got wrong on single pages of shops that nobody had tried: one case a cause."""

from decimal import Decimal

import pytest

from crawler.extract import Found, extract, parse
from crawler.extract.stock.availability import availability_of_text

H1 = "<h1>Red Lamp</h1>"
BUY = "<button>Add to cart</button>"


def found(body: str, lang: str = "en", head: str = "") -> Found:
    html = f'<html lang="{lang}"><head>{head}</head><body>{body}</body></html>'
    return extract(parse(html, "https://shop.example/p/red-lamp"))


@pytest.mark.parametrize(
    "said",
    ["Nav pieejams", "Не е наличен", "Nije dostupan", "Nie jest dostępny", "Nu este disponibil",
     "Pole saadaval", "没有货", "Không có sẵn", "Stokta yoktur", "Não está disponível",
     "Ei ole varastossa", "لم يعد متاحا", "Nicht lagernd", "Není dostupné"],
)  # fmt: skip
def test_a_negation_beside_the_words_for_stock_turns_them_round(said: str) -> None:
    assert availability_of_text(said) == "OutOfStock"


@pytest.mark.parametrize(
    "said",
    ["Demnächst wieder verfügbar", "Binnenkort weer leverbaar", "Available again soon",
     "Bientôt de nouveau disponible", "Disponible próximamente", "Disponibile a breve",
     "Em breve disponível", "Dostępny wkrótce", "Brzy skladem", "Snart på lager", "Снова скоро в наличии",
     "Yakında stokta", "Hamarosan raktáron", "En cours de réapprovisionnement",
     "Očekáváme naskladnění"],
)  # fmt: skip
def test_what_is_there_soon_cannot_be_had_now(said: str) -> None:
    assert availability_of_text(said) == "OutOfStock"
    assert availability_of_text("Prenotabile") == "PreOrder"


@pytest.mark.parametrize(
    "said",
    ["Almost sold out!", "Selling fast, soon out of stock", "Artikel ist fast ausverkauft",
     "Bientôt en rupture de stock", "Bijna uitverkocht", "Prawie wyprzedane", "Почти распродано"],
)  # fmt: skip
def test_what_is_gone_soon_can_be_had_now(said: str) -> None:
    assert availability_of_text(said) == "InStock"


@pytest.mark.parametrize("said", ["Back soon Out of stock", "Selling fast! Sold out"])
def test_what_comes_back_soon_is_not_almost_gone(said: str) -> None:
    assert availability_of_text(said) == "OutOfStock"


@pytest.mark.parametrize(
    "said",
    [
        "Plus que 3 en stock",
        "In stock, soon gone",
        "I lager, snart slut hos oss",
        "Item no 12 in stock",
        "Finns nu i lager",
        "Nur 3 auf Lager",
    ],
)
def test_words_that_deny_nothing_leave_the_stock_as_it_is(said: str) -> None:
    assert availability_of_text(said) == "InStock"


@pytest.mark.parametrize(
    "body",
    [
        '<p>399,00 € exkl. MwSt.<span class="gross">474,81 € inkl. MwSt.</span></p>',
        "<p>399,00 €</p><p>(ohne MwSt.)</p><p>474,81 €</p><p>(inkl. MwSt.)</p>",
        '<p data-testid="price-exc-vat">399,00 €</p><p>474,81 €</p>',
    ],
)
def test_the_price_with_tax_is_taken_however_the_two_are_told_apart(body: str) -> None:
    assert found(f"{H1}<div>{body}</div>{BUY}", "de").fields["price"] == Decimal("474.81")


@pytest.mark.parametrize(
    ("body", "price"),
    [
        (
            "<b>AVP² 5,97 €</b> <b>2,49 €</b> <i>0,12 €/St</i> zzgl. <a href='/v'>Versand</a>",
            "2.49",
        ),
        ("<b>価格</b> <p>7,480円 (税込) 送料無料</p><p>メーカー希望小売価格 9,900円</p>", "7480"),
        ("<b>649</b><i>€<u>,</u><sup>99</sup></i>", "649.99"),
        ("<div class=preis><b>84,90 €</b><sup>2</sup></div>", "84.90"),
        ("<b class=retail-price>UVP <s>€ 699,00</s><i>€ 429,00</i></b>", "429.00"),
        (
            "<b class=price>799,99 TL</b><p>Sepette %10 İndirim</p><b class=price>499,99 TL</b>",
            "499.99",
        ),
        ("<p>42,00 €</p><button>44,80 €<i>Protection acheteurs incluse</i></button>", "42.00"),
        (
            "<table><tr><th>Menge<th>Preis netto<tr><td>ab 1 VE<td>12,90 €<tr><td>ab 5 VE<td>11,50 €"
            "</table><p>15,35 € <small>inkl. MwSt.</small></p>",
            "15.35",
        ),
        ("<p class=price><b>10 990,-</b><i>bez DPH 9 083,-</i></p><p>od 99 Kč</p>", "10990"),
    ],
)
def test_remarks_beside_an_amount_leave_it_the_price(body: str, price: str) -> None:
    page = extract(
        parse(f"<html lang=cs>{H1}<div>{body}</div>{BUY}</html>", "https://shop.example.cz/p/lamp")
    )
    assert page.fields["price"] == Decimal(price)


@pytest.mark.parametrize(
    ("row", "sku"),
    [
        ("<p><b>Ref.</b> <i>781</i> | EAN <i>4006381333931</i></p>", "781"),
        ("<p>RS Best.-Nr.: 876-5432</p>", "876-5432"),
        ("<p>Article №: P 85 020</p>", "P 85 020"),
    ],
)
def test_numbers_behind_labels_of_several_manners(row: str, sku: str) -> None:
    page = found(f"{H1}<b>$5.00</b>{row}{BUY}")
    assert page.fields["sku"] == sku
    assert page.fields.get("gtin") in {None, "4006381333931"}
    assert ("EAN" in row) == ("gtin" in page.fields)


def test_a_box_called_a_name_goes_on_where_the_title_ends() -> None:
    body = '<h2 class="prod-title">Oak Lamp Large XK-200</h2><b>$5.00</b>' + BUY
    page = found(body, head="<title>Oak Lamp Large - Shop</title>")
    assert page.fields["name"] == "Oak Lamp Large XK-200"


def test_a_barcode_that_lost_a_digit_yields_to_the_one_on_the_page() -> None:
    node = '{"@type":"Product","name":"Red Lamp","gtin13":"400638133393","offers":{"price":"5"}}'
    head = f'<script type="application/ld+json">{node}</script>'
    page = found(f"{H1}<b>$5.00</b><p>EAN: 4006381333931</p>{BUY}", head=head)
    assert page.fields["gtin"] == "4006381333931"


def test_a_name_above_its_number_in_one_cell() -> None:
    cell = "<td class=pageHeading>Airbrush Set Evolution<br><span>[126003]</span></td>"
    body = f"<table><tr>{cell}<td>169,00 EUR</td></tr></table>{BUY}"
    page = found(body, head="<title>Airbrush Set Evolution, Hobby Shop</title>")
    assert page.fields["name"] == "Airbrush Set Evolution"


@pytest.mark.parametrize(
    ("body", "price"),
    [
        # words between two amounts are about the second where it is an instalment
        (
            "<p class=price>Αρχική τιμή 549,00 € 469,00 €<i>ή 36 άτοκες δόσεις 13,03 €</i></p>",
            "469.00",
        ),
        # the price before the name beats a tile's behind the facts
        (
            "<p class=price>$1,799.00</p><h1>Red Lamp</h1>"
            + "<p>SKU: X-100</p><button>Add to cart</button>"
            + "<div><a href=/p/2>Shade</a><b>$399.00</b></div>"
            + "<div><a href=/p/3>Bulb</a><b>$49.00</b></div>",
            "1799.00",
        ),
        # the name once more, as a link, is no other product's
        (
            "<div><h1>Red Lamp</h1><a href=/p/red-lamp><h2>Red Lamp</h2></a></div>"
            + "<b>$42.00</b><button disabled>Sold out</button>",
            "42.00",
        ),
    ],
)
def test_amounts_of_others_near_the_price(body: str, price: str) -> None:
    page = found(body if "<h1>" in body else f"{H1}{body}{BUY}")
    assert page.kind == "product"
    assert page.fields["price"] == Decimal(price)


@pytest.mark.parametrize(
    ("box", "brand"),
    [
        ("<a href=/brands/chicago-pneumatic/>Chicago Pneumatic</a>", "Chicago Pneumatic"),
        ('<a href=/b/1 class=manufacturer><img alt="Chicago Pneumatic" src=l.png></a>',
         "Chicago Pneumatic"),
        ('<a href=/znacka/loreal><img alt="L\'Oréal" src=l.png></a>', "L'Oréal"),
        ("<a href=/brands/acme>Acme</a><a href=/brands/other>Other</a>", None),
        ("<a href=/brands/acme>All that they make</a>", None),
        ("<a href=/brands/12345/>العطار</a>", None),
    ],
)  # fmt: skip
def test_the_one_maker_named_beside_the_heading(box: str, brand: str | None) -> None:
    page = found(f"<div>{H1}<b>$5.00</b>{BUY}{box}</div>")
    assert page.fields.get("brand") == brand


def test_a_maker_named_within_the_heading() -> None:
    page = found(
        "<h1><a class=brand-name href=/a>Acme</a> <span>Red Lamp</span></h1><b>$5</b>" + BUY
    )
    assert (page.fields["name"], page.fields["brand"]) == ("Acme Red Lamp", "Acme")


def test_two_numbers_of_one_item_make_a_product_without_price() -> None:
    rows = "<tr><th>Item no.<td>6204-2RSH<tr><th>GTIN<td>7316572345678"
    page = found(f"{H1}<table>{rows}</table><p>412 pcs in stock</p>")
    assert page.kind == "product"
    assert "price" not in page.fields


def test_who_has_to_log_in_for_a_price_sees_a_product_without_one() -> None:
    page = found(f"{H1}<p>Log in to see your price</p><p>SKU: X-100</p><p>Free from $250</p>")
    assert page.kind == "product"
    assert "price" not in page.fields


@pytest.mark.parametrize(
    ("row", "field", "value"),
    [
        ("<p>Manufacturer code: 4006381333931</p>", "gtin", "4006381333931"),
        ("<p>Manufacturer code: 4006381333932</p>", "mpn", "4006381333932"),
        ("<p>EAN kods: 4006381333931</p>", "gtin", "4006381333931"),
        ("<p>SKU AFL-GLD</p>", "sku", "AFL-GLD"),
        ("<p>SKU: ۱۲۳۴۵۶۷</p>", "sku", "1234567"),
    ],
)
def test_numbers_written_in_unusual_manners(row: str, field: str, value: str) -> None:
    assert found(f"{H1}<b>$5.00</b>{row}{BUY}").fields.get(field) == value


def test_a_number_in_brackets_in_the_heading_s_cell() -> None:
    cell = "<td class=pageHeading>Airbrush Set Evolution<br><span>[126003]</span></td>"
    body = f"<table><tr>{cell}<td>169,00 EUR</td></tr></table>{BUY}"
    page = found(body, head="<title>Airbrush Set Evolution, Hobby Shop</title>")
    assert page.fields["sku"] == "126003"


def test_a_subtitle_in_the_heading_is_no_part_of_the_name() -> None:
    page = found(f"<h1><b>Red Lamp</b> <i id=productSubtitle>Second Edition</i></h1>$5.00{BUY}")
    assert page.fields["name"] == "Red Lamp"


def test_a_bare_number_is_the_money_of_a_language_of_one_country() -> None:
    page = found(f"{H1}<p class=price>9 990,-</p><button>Do košíku</button>", lang="cs")
    assert page.fields["currency"] == "CZK"


def test_a_maker_s_page_linked_before_the_price_is_no_tile() -> None:
    body = "<a href=/brands/acme>Acme</a><p>R 3 299</p><p>R 32.99 cover</p>"
    page = extract(parse(f"<html lang=en-ZA>{H1}{body}{BUY}</html>", "https://a.example.co.za/p/1"))
    assert page.fields["price"] == Decimal("3299")


def test_the_amount_beside_a_card_s_picture_is_for_those_who_hold_it() -> None:
    prices = "<li>S/ 229.90<img alt='tarjeta CMR'></li><li>S/ 249.90</li>"
    prices = prices.replace("<li>S/ 229.90", "<li><span>S/ 229.90</span>")
    page = found(f"{H1}<ol>{prices}</ol>{BUY}", lang="es-PE")
    assert page.fields["price"] == Decimal("249.90")


def test_the_price_of_one_of_many_is_none_of_the_product_s() -> None:
    body = "<label>One-time purchase <b>$29.99</b></label><p>$0.25 / softgel</p>"
    assert found(f"{H1}{body}{BUY}").fields["price"] == Decimal("29.99")
    assert found(f"{H1}<p>$12.50 / bottle</p>{BUY}").fields["price"] == Decimal("12.50")


def test_tiles_whose_classes_count_them_are_of_one_make() -> None:
    tile = "<div class='box {0}'><a href=/i/{1}>Lamp {1}</a><p>$1{1}.00</p></div>"
    tiles = "".join(tile.format(["odd", "even"][i % 2], i) for i in range(5))
    page = found(f"<h1>Lamps</h1>{tiles}", head="<meta property=og:type content=product>")
    assert page.kind == "listing"


class TestOptions:
    def test_a_choice_that_tells_amounts_tells_the_price(self) -> None:
        choice = "<option value=1 disabled>100 g - £4.00<option value=2>250 g - £9.50<option value=3>1 kg - £34.00"
        page = found(f"{H1}<select>{choice}</select>{BUY}", lang="en-GB")
        told = {name: page.fields[name] for name in ("price", "currency", "availability")}
        assert told == {"price": Decimal("9.50"), "currency": "GBP", "availability": "InStock"}

    @pytest.mark.parametrize(
        "choice",
        ["<option value=1>Oak<option value=2>Ash +$40.00", "<option value=1>Gift wrap +$4.00"],
    )
    def test_what_comes_to_a_price_is_none(self, choice: str) -> None:
        page = found(f"{H1}<p>SKU: X-100</p><select>{choice}</select>{BUY}")
        assert "price" not in page.fields


@pytest.mark.parametrize(
    "script",
    [
        "fbq('track','ViewContent',{content_ids:['T-01'],content_name:'Red Lamp',value:48.00,"
        "currency:'USD'});",
        'var utag_data={page_type:"product",product_id:["T-01"],product_name:["Red Lamp"],'
        'product_price:["48.00"],product_currency:"USD"};',
        'var meta={"product":{"variants":[{"id":1,"price":4800,"name":"Red Lamp",'
        '"public_title":null,"sku":"T-01"}]}};ShopifyAnalytics.meta.currency = "USD";',
    ],
)
def test_what_counts_visits_is_told_what_is_seen(script: str) -> None:
    page = found(f"{H1}{BUY}<script>{script}</script>")
    told = {name: page.fields[name] for name in ("price", "currency", "sku")}
    assert told == {"price": Decimal("48.00"), "currency": "USD", "sku": "T-01"}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("<p>Item <b>1656789</b> Model <b>394472-01</b></p>", ("1656789", None, "394472-01")),
        ("<p>SKU: 100234 EAN: 4006381333931</p>", ("100234", "4006381333931", None)),
        ("<p>SKU: 12-B black (set of 2)</p>", ("12-B black", None, None)),
        (
            "<table><tr><th>Item no.<th>EAN<th>Stock<tr><td>10-62<td>4006381333931<td>yes</table>",
            ("10-62", "4006381333931", None),
        ),
        (  # a table of variants tells nothing of the one thing
            "<table><tr><th>Item no.<th>Size<th>Stock<tr><td>1-S<td>S<td>y<tr><td>1-M<td>M<td>y</table>",
            (None, None, None),
        ),
    ],
)
def test_facts_side_by_side(row: str, told: tuple[str | None, ...]) -> None:
    page = found(f"{H1}<b>$5.00</b>{row}{BUY}")
    assert tuple(page.fields.get(name) for name in ("sku", "gtin", "mpn")) == told


def test_a_number_and_its_end_make_a_product_without_price() -> None:
    page = found(f"{H1}<p>Item no.: 1575</p><p>This product has been discontinued.</p>")
    assert (page.kind, page.fields["availability"]) == ("product", "Discontinued")


@pytest.mark.parametrize(
    "script",
    [
        "<script id=serverApp-state type=application/json>{&q;name&q;:&q;Red Lamp&q;,"
        "&q;price&q;:{&q;currencyIso&q;:&q;USD&q;,&q;value&q;:5},&q;code&q;:&q;T-01&q;}</script>",
        '<script>window.__remixContext = {"product":{"title":"Red Lamp","selectedVariant":'
        '{"availableForSale":true,"sku":"T-01","price":{"amount":"5.0","currencyCode":"USD"}}}};'
        "</script>",
    ],
)
def test_states_of_further_frameworks(script: str) -> None:
    page = found(f"{H1}{BUY}{script}")
    told = {name: page.fields[name] for name in ("price", "currency", "sku")}
    assert told == {"price": Decimal("5"), "currency": "USD", "sku": "T-01"}


def test_the_second_price_of_a_box_is_the_one_before() -> None:
    box = (
        "<b data-hook=formatted-secondary-price>$100.00</b><i hidden>Regular Price</i>"
        "<b data-hook=formatted-primary-price>$85.00</b><i hidden>Sale Price</i>"
    )
    page = found(f"{H1}<div data-hook=product-price>{box}</div>{BUY}")
    assert (page.fields["price"], page.fields["regular_price"]) == (Decimal(85), Decimal(100))


def test_the_shop_s_own_name_is_no_maker() -> None:
    logo = "<a class=brand href=/><b>My Shop</b></a>"
    body = f"<div>{logo}</div><p class=name>Red Lamp<i class=sku>12</i></p><b>$5.00</b>{BUY}"
    page = found(body, head="<title>Red Lamp | My Shop</title>")
    assert page.fields.get("brand") is None


def test_a_number_out_of_stock_alone_makes_no_product() -> None:
    assert found(f"{H1}<p>Item no.: 1575</p><p>Currently unavailable</p>").kind == "product"
    page = extract(
        parse(
            f"<html>{H1}<p>Item no.: 1575</p><p>Currently unavailable</p></html>",
            "https://shop.example/offer/red-lamp",
        )
    )
    assert page.kind != "product"


@pytest.mark.parametrize(
    ("said", "lang"),
    [
        ("Ritiro in negozio non disponibile", "it"),
        ("Click & Collect: indisponible dans votre magasin", "fr"),
        ("Pickup: not available at your store", "en"),
        ("Abholung im Markt nicht verfügbar", "de"),
        ("Finns ej i butik", "sv"),
        ("Нет в наличии в вашем магазине", "ru"),
    ],
)
@pytest.mark.parametrize("box", ["<div>{}</div>", "<div class=stock>{}</div>"])
def test_what_is_not_in_the_shops_can_be_ordered_where_a_button_buys(
    said: str, lang: str, box: str
) -> None:
    body = f"{H1}<b class=price>€ 79.00</b>{box.format(said)}"
    assert found(f"{body}{BUY}", lang).fields["availability"] == "InStock"
    assert found(f"{body}<p>Sold out</p>", lang).fields["availability"] == "OutOfStock"


def test_another_product_of_its_own_price_that_is_gone_says_nothing_of_this_one() -> None:
    body = f"{H1}<b class=price>€ 79.00</b>{BUY}"
    beside = "<div>Blue Lamp <b>€ 54.90</b> sold out</div>"
    assert found(f"{body}{beside}").fields["availability"] == "InStock"
    assert found(f"{body}<div>€ 79.00 sold out</div>").fields["availability"] == "OutOfStock"


def test_a_link_to_the_empty_cart_is_no_buy_button() -> None:
    cart = '<div><a href="/cart">장바구니 <span>0</span></a></div>'
    page = f"{cart}<h2>상품 사용후기</h2><a href='/product/lamp/9/'>램프</a> <span>128,000원</span>"
    assert found(page, "ko").kind != "product"
    link = '<a href="/cart/add/9">장바구니 담기</a>'
    assert found(f"<h1>램프</h1><p class=price>128,000원</p>{link}", "ko").kind == "product"


def test_a_tab_is_no_button_that_buys() -> None:
    tabs = '<div role="tablist"><button role="tab">Kaufen</button><button role="tab">Mieten</button></div>'
    price = '<p class="price">1.849,00 €</p>'
    page = f"{H1}{tabs}{price}<button disabled>Nicht auf Lager</button><p>Artikel-Nr. MG-30017</p>"
    product = found(page, "de").product()
    assert product is not None
    assert product.availability == "OutOfStock"


def test_a_shadow_root_is_shown() -> None:
    root = "<template shadowrootmode='open'><style>b{}</style><p class='price'>$5.80</p></template>"
    hidden = "<template><p class='price'>$9.90</p></template>"
    product = found(f"{H1}<x-price>{root}{BUY}</x-price>{hidden}").product()
    assert product is not None
    assert product.price == Decimal("5.80")


def test_the_sum_of_an_empty_cart_in_the_header_is_no_price() -> None:
    cart = '<div class="ec-cartNavi"><i>0</i><div class="ec-cartNavi__price">￥0</div></div>'
    tiles = "".join(
        f"<li><a href='/products/{n}'><p>ランプ {n}</p><p>￥{n},750</p></a><button>カートに入れる</button></li>"
        for n in range(1, 4)
    )
    assert found(f"{cart}<ul>{tiles}</ul>", "ja").kind == "listing"


@pytest.mark.parametrize("label", ["Référence Lampadia", "Lampadia référence"])
def test_the_shops_name_stands_on_either_side_of_its_label(label: str) -> None:
    body = f"{H1}<p class=price>24,99 €</p>{BUY}<dl><dt>{label}</dt><dd>17712345</dd></dl>"
    product = extract(parse(body, "https://www.lampadia.example/red-lamp/w-4")).product()
    assert product is not None
    assert product.sku == "17712345"


def test_a_choice_that_only_structured_data_add_is_no_part_of_the_name() -> None:
    data = (
        '<script type="application/ld+json">{"@type": "Product", "name": "Red Lamp (P)",'
        '"offers": {"@type": "Offer", "price": "9.90", "priceCurrency": "EUR"}}</script>'
    )
    product = found(
        f"{H1}{BUY}{data}", head='<meta property="og:title" content="Red Lamp">'
    ).product()
    assert product is not None
    assert product.name == "Red Lamp"
    shown = found(f"<h1>Red Lamp (P)</h1>{BUY}{data}").product()
    assert shown is not None
    assert shown.name == "Red Lamp (P)"


def test_an_offer_that_ended_cannot_be_had() -> None:
    assert availability_of_text("Oferta została zakończona") == "Discontinued"
    page = f"{H1}<p class=price>84,00 zł</p><button>Kup z przesyłką</button>"
    product = found(page, "pl").product()
    assert product is not None
    assert product.availability == "InStock"


@pytest.mark.parametrize(
    ("lang", "heading"), [("tr", "Sipariş detayı"), ("es", "Compara productos")]
)
def test_an_order_and_a_comparison_are_no_products(lang: str, heading: str) -> None:
    body = f"<h1>{heading}</h1><table><tr><td>Red Lamp</td><td>21.499,00 €</td></tr></table>"
    assert found(body, lang).kind != "product"


@pytest.mark.parametrize(
    ("lang", "heading"),
    [
        ("de", "Kundenbewertungen zu Lampe 3"),
        ("ro", "Review pentru Lampa 3"),
        ("fr", "Avis clients : Lampe 3"),
    ],
)
def test_the_page_with_a_products_reviews_is_none(lang: str, heading: str) -> None:
    body = f"<h1>{heading}</h1><p>4,5 / 5 (212)</p><p>549,99 €</p>"
    assert found(body, lang).kind != "product"
    assert found(body.replace(heading, "Lampe 3"), lang).kind == "product"
