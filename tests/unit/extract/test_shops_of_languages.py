"""What shops of several languages and systems tell in their own way."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.extract import parse
from crawler.extract.default_parser import extract
from crawler.extract.fields import Fields


def read(body: str, lang: str = "en", url: str = "https://a.example/p/hygge-7") -> Fields:
    html = f"<html lang={lang}><head><title>Hygge 7</title></head><body>{body}</body></html>"
    return extract(parse(html.encode(), url, "text/html; charset=utf-8")).fields


@pytest.mark.parametrize(
    ("lang", "label", "sign"),
    [
        ("pl", "Najniższa cena produktu w okresie 30 dni przed wprowadzeniem obniżki:", "zł"),
        ("de", "Niedrigster Preis der letzten 30 Tage:", "€"),
        ("fr", "Prix le plus bas des 30 derniers jours :", "€"),
        ("it", "Prezzo più basso degli ultimi 30 giorni:", "€"),
        ("es", "Precio más bajo de los últimos 30 días:", "€"),
        ("pt", "Preço mais baixo dos últimos 30 dias:", "€"),
        ("nl", "Laagste prijs in de afgelopen 30 dagen:", "€"),
        ("sv", "Lägsta pris senaste 30 dagarna:", "kr"),
        ("da", "Laveste pris de seneste 30 dage:", "kr"),
        ("fi", "30 päivän alin hinta:", "€"),
        ("cs", "Nejnižší cena za posledních 30 dní:", "Kč"),
        ("sk", "Najnižšia cena za posledných 30 dní:", "€"),
        ("hu", "Az elmúlt 30 nap legalacsonyabb ára:", "Ft"),
        ("ro", "Cel mai mic preț din ultimele 30 de zile:", "lei"),
        ("bg", "Най-ниска цена за последните 30 дни:", "лв."),
        ("el", "Χαμηλότερη τιμή τελευταίων 30 ημερών:", "€"),
        ("hr", "Najniža cijena u posljednjih 30 dana:", "€"),
        ("sl", "Najnižja cena v zadnjih 30 dneh:", "€"),
        ("lt", "Mažiausia 30 dienų kaina:", "€"),
        ("lv", "Pēdējo 30 dienu zemākā cena:", "€"),
        ("et", "Viimase 30 päeva madalaim hind:", "€"),
        ("en", "Lowest price in 30 days before the discount:", "€"),
    ],
)
def test_the_lowest_price_of_30_days_is_not_the_regular_one(
    lang: str, label: str, sign: str
) -> None:
    lowest = f"<p><span>{label}</span> <del>159 {sign}</del> <i>-6%</i></p>"
    price = f'<strong class="price">149 {sign}</strong>'
    buy = '<button class="add-to-cart">+</button>'
    fields = read(f"<h1>Hygge 7</h1><div>{price}</div><div>{lowest}</div>{buy}", lang)
    assert (fields["price"], fields.get("regular_price")) == (Decimal(149), None)
    before = f'<del class="old-price">219 {sign}</del>'
    fields = read(f"<h1>Hygge 7</h1><div>{before}{price}</div><div>{lowest}</div>{buy}", lang)
    assert (fields["price"], fields.get("regular_price")) == (Decimal(149), Decimal(219))


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("ko", "구매 불가"), ("ko", "재고가 없습니다"), ("ja", "ご購入いただけません"), ("zh", "不可购买"),
        ("he", "אינו זמין"), ("th", "ไม่สามารถสั่งซื้อได้"), ("vi", "Không thể mua"), ("tr", "Stokta bulunmuyor"),
        ("el", "Εκτός αποθέματος"), ("fi", "Ei ostettavissa"), ("uk", "Відсутній"), ("ru", "Нельзя купить"),
        ("hi", "आउट ऑफ स्टॉक"), ("pl", "Nie można kupić"), ("de", "Nicht kaufbar"), ("nl", "Kan niet worden gekocht"),
        ("fr", "Ne peut pas être acheté"), ("it", "Non acquistabile"), ("es", "No se puede comprar"),
        ("pt", "Sem unidades"), ("sv", "Går ej att köpa"), ("da", "Kan ikke købes"), ("nb", "Kan ikke kjøpes"),
        ("cs", "Nelze koupit"), ("sk", "Nedá sa kúpiť"), ("ro", "Fără stoc"), ("bg", "Недостъпен"),
        ("hr", "Nije moguće kupiti"), ("sl", "Nedobavljivo"), ("lt", "Laikinai nėra"), ("lv", "Izbeidzies"),
        ("et", "Ei saa osta"), ("id", "Tidak dapat dibeli"), ("fa", "غیر قابل خرید"), ("en", "Cannot be purchased."),
    ],
)  # fmt: skip
def test_what_nobody_can_buy_is_out_of_stock(lang: str, said: str) -> None:
    body = f'<h1>Hygge 7</h1><span class="price">149 €</span><p>{said}</p>'
    assert read(body, lang)["availability"] == "OutOfStock"


def test_a_condition_under_which_nobody_can_buy_says_nothing_of_the_stock() -> None:
    said = "Gift cards cannot be purchased with points."
    body = f'<h1>Hygge 7</h1><span class="price">€149</span><p>{said}</p><button>Buy</button>'
    assert read(body)["availability"] == "InStock"


@pytest.mark.parametrize(
    ("told", "currency"),
    [
        ('<meta name="geo.region" content="AU-VIC">', "AUD"),
        ('<script type="application/ld+json">{"@type": "Store", "name": "A", "address": '
         '{"@type": "PostalAddress", "addressCountry": "CA"}}</script>', "CAD"),
        ('<script type="application/ld+json">{"@type": "Store", "name": "A", "address": '
         '{"@type": "PostalAddress", "addressCountry": "DE"}}</script>', "USD"),
        ("", "USD"),
    ],
)  # fmt: skip
def test_a_dollar_sign_is_of_the_country_in_which_the_shop_says_it_is(
    told: str, currency: str
) -> None:
    body = f'<h1>Hygge 7</h1>{told}<span class="price">$149</span><button>Add to cart</button>'
    assert read(body)["currency"] == currency


@pytest.mark.parametrize("written", ["N/A", "-", "none"])
def test_what_a_template_writes_for_no_maker_is_none(written: str) -> None:
    buy = '<button>Add to cart</button></div><a class="brand" href="/brands/acme">Acme</a>'
    data = (
        f'<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Hygge 7</h1>'
        f'<meta itemprop="brand" content="{written}"><meta itemprop="sku" content="{written}">'
        f'<div itemprop="offers" itemscope><meta itemprop="price" content="9">€9</div>{buy}'
    )
    fields = read(data)
    assert fields.get("brand") in {None, "Acme"}
    assert fields.get("sku") != written
    table = (
        f"<h1>Hygge 7</h1><p class=price>€9</p><p>Brand: {written}</p><button>Add to cart</button>"
    )
    assert "brand" not in read(table)


def test_a_stale_price_is_no_vote_for_the_one_that_the_page_shows() -> None:
    data = (
        '<script type="application/ld+json">{"@type": "Product", "name": "Hygge 7", "sku": "H7", "offers":'
        ' {"@type": "Offer", "price": "159", "priceCurrency": "EUR", "availability": "InStock"}}</script>'
    )
    body = (
        f'{data}<h1>Hygge 7</h1><div class="price" data-price="149.00">149,00 €</div><p>SKU: H7</p>'
        "<button>In den Warenkorb</button>"
    )
    html = f"<html lang=de><head><title>Hygge 7</title></head><body>{body}</body></html>"
    found = extract(parse(html.encode(), "https://a.example/p/hygge-7", "text/html; charset=utf-8"))
    assert (found.fields["price"], found.fields["currency"]) == (Decimal("149.00"), "EUR")
    assert "price" not in found.offered["json-ld"]
    assert found.sources["price"] == "text"


def test_a_layout_with_a_column_beside_keeps_the_description() -> None:
    html = (
        '<html lang=en><head><title>Hygge 7</title></head><body class="has-sidebar"><h1>Hygge 7</h1>'
        '<p class="price">€9.00</p><button>Add to cart</button><div class="description">A lamp of '
        "oak for long evenings.</div></body></html>"
    )
    fields = extract(parse(html.encode(), "https://a.example/p/hygge-7", "text/html")).fields
    assert fields["description"] == "A lamp of oak for long evenings."
    accessory = html.replace("has-sidebar", "").replace('"description"', '"accessory description"')
    fields = extract(parse(accessory.encode(), "https://a.example/p/hygge-7", "text/html")).fields
    assert "description" not in fields


def test_a_price_that_is_shown_after_a_login_is_none() -> None:
    body = (
        '<h1>Hygge 7</h1><div class="price"><p>Log in for pricing</p></div><p>SKU: HL-7</p><script>'
        'var BCData = {"product_attributes": {"sku": "HL-7", "price": {"without_tax": {"value": 12,'
        ' "currency": "USD"}}, "instock": true}};</script>'
    )
    fields = read(body)
    assert (fields.get("price"), fields.get("currency"), fields["sku"]) == (None, None, "HL-7")
    shown = body.replace("<p>Log in for pricing</p>", "$12.00")
    assert read(shown)["price"] == Decimal(12)


def test_home_is_a_category_where_another_link_led_to_the_front_page() -> None:
    body = (
        '<ol class="breadcrumb"><li><a href="/">{}</a></li><li><a href="/t/home">Home</a></li></ol>'
        "<h1>Hygge 7</h1><p class=price>€9.00</p><button>Add to cart</button>"
    )
    assert read(body.format("Start"))["breadcrumbs"] == ["Home"]
    assert read(body.format("Home"))["breadcrumbs"] == ["Home"]
    assert "breadcrumbs" not in read(body.replace('<li><a href="/">{}</a></li>', ""))


def test_the_number_of_the_first_variant_goes_before_the_id_of_its_box() -> None:
    body = (
        '<h1>Hygge 7</h1><p class=price>€9.00</p><div data-item-id="5f" data-variants="[{&quot;id&quot;'
        ":&quot;a1&quot;,&quot;sku&quot;:&quot;SQ1234567&quot;,&quot;price&quot;:900},{&quot;sku&quot;:"
        '&quot;SQ1234568&quot;}]"></div><button>Add to cart</button>'
    )
    assert read(body)["sku"] == "SQ1234567"


def test_what_is_saved_is_no_tax_of_the_price() -> None:
    body = (
        '<h1>Hygge 7</h1><div><span class="price-original">51 716 Ft</span></div><div class="price-special">'
        '41 373 Ft</div><div class="price-sale">Kedvezmény: -10 343 Ft</div><button>Kosárba</button>'
    )
    fields = read(body, "hu")
    assert (fields["price"], fields["regular_price"]) == (Decimal(41373), Decimal(51716))


def test_words_about_the_stock_behind_a_price_are_not_postage() -> None:
    body = (
        '<h1>Hygge 7</h1><div><span class="price">1.885,95 EUR*</span><span class="badge">Sofort '
        "versandfertig, Lieferzeit 48h</span></div><button>In den Warenkorb</button>"
    )
    assert read(body, "de")["price"] == Decimal("1885.95")


def test_a_labelled_number_goes_before_one_that_is_called_an_id() -> None:
    body = (
        '<h1>Hygge 7</h1><div><b>Artikelnummer </b><span>A59-1000</span></div><p class="price">9,95 €</p>'
        "<button>In den Warenkorb</button><table><tr><td>Art.-ID</td><td>1100</td></tr></table>"
    )
    assert read(body, "de")["sku"] == "A59-1000"
    assert read(body.replace("Artikelnummer ", "Farbe "), "de")["sku"] == "1100"


def test_what_follows_a_labelled_number_in_its_line_is_no_part_of_it() -> None:
    body = (
        '<h1>Hygge 7</h1><p class="price">9,95 Lei</p><div><span>Cod Produs:</span> <strong>K98-1013</strong>'
        " <span>Ai nevoie de ajutor? 0722 000 000</span></div><button>Adaugă în coș</button>"
    )
    assert read(body, "ro")["sku"] == "K98-1013"


@pytest.mark.parametrize("classes", ["navbar-brand", "site-brand"])
def test_a_shops_logo_names_no_maker_and_makes_its_page_of_postage_no_product(classes: str) -> None:
    head = (
        f'<header><a class="{classes}" href="/"><img src="/logo.svg" alt="Hygge Shop"></a></header>'
    )
    html = (
        f"<html lang=de><head><title>Versand | Hygge Shop</title></head><body>{head}<h1>Versand</h1>"
        "<p>DHL 4,99 EUR</p></body></html>"
    )
    found = extract(parse(html.encode(), "https://a.example/shipping/", "text/html; charset=utf-8"))
    assert (found.kind, "brand" in found.fields) == ("other", False)


def test_a_link_that_leads_nowhere_says_what_a_button_would() -> None:
    body = '<h1>Hygge 7</h1><p class="price">9,000원</p><div><a class="buy bg-brand disabled">구매 불가</a></div>'
    fields = read(body, "ko")
    assert (fields["availability"], fields.get("brand")) == ("OutOfStock", None)


def test_a_slogan_in_the_heading_is_no_part_of_the_name() -> None:
    body = (
        '<h1><span class="copy">Made for you</span><span class="name">Hygge 7</span></h1>'
        '<p class="price">€9.00</p><button>Add to cart</button>'
    )
    assert read(body)["name"] == "Hygge 7"


def test_a_box_whose_label_is_hidden_is_neither_a_label_nor_hidden() -> None:
    body = (
        '<h1>Hygge 7</h1><p class="price">€9.00</p><button>Add to cart</button><div class="field '
        'field--label-hidden"><div>From small farms of the island of Crete, with love.</div></div>'
    )
    assert read(body)["description"] == "From small farms of the island of Crete, with love."


def test_the_box_before_the_heading_may_name_the_maker_by_its_id() -> None:
    body = (
        '<a id="productBrand" href="/marka-1">Karaca</a><h1>Hygge 7</h1><p class="price">9,00 TL</p>'
        "<button>Sepete ekle</button>"
    )
    assert read(body, "tr")["brand"] == "Karaca"


def test_a_word_for_the_price_before_may_end_in_a_stop() -> None:
    body = (
        '<h1>Hygge 7</h1><div class="price"><div class="label">Ditt pris</div><span class="price-current">3 945 kr'
        "</span> <span>Ord. 4 931 kr</span> <span>inkl. moms (3 156 kr exkl. moms)</span></div>"
        "<button>Köp</button>"
    )
    fields = read(body, "sv")
    assert (fields["price"], fields["regular_price"]) == (Decimal(3945), Decimal(4931))


def test_of_two_prices_that_are_called_the_usual_one_the_lower_is_asked() -> None:
    body = (
        "<h2>Hygge 7</h2><table><tr><th>メーカー希望小売価格</th><td>11,348円</td></tr><tr><th>通常販売価格（税込）"
        '</th><td><b>9,078円</b></td></tr></table><form><input type="submit" value="カートに入れる"></form>'
    )
    fields = read(body, "ja")
    assert (fields["price"], fields["regular_price"]) == (Decimal(9078), Decimal(11348))


def test_express_postage_below_the_name_is_not_the_price_above_it() -> None:
    body = (
        '<div><div class="current-price">¥1075.64</div><h2>Hygge 7</h2><p><span>快递：¥10.00</span><span>库存：'
        "13</span></p><button>立即购买</button></div>"
    )
    assert read(body, "zh-CN")["price"] == Decimal("1075.64")


def test_a_short_korean_sentence_describes() -> None:
    body = (
        "<h1>Hygge 7</h1><p class=price>2,570원</p><button>장바구니</button><div><p>아이들이 좋아하는 안전한 "
        "소재로 만들었습니다.</p></div>"
    )
    assert read(body, "ko")["description"] == "아이들이 좋아하는 안전한 소재로 만들었습니다."
