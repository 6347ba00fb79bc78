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
