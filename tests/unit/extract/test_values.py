"""Prices, stock, identifiers and broken JSON: one table each."""

from decimal import Decimal
from typing import Any

import pytest

from crawler.extract.address_kinds import is_front
from crawler.extract.gtin import gtin
from crawler.extract.money.amounts import amount, find_prices, number, parse_price
from crawler.extract.money.counts import count
from crawler.extract.money.currencies import currency_of, local_currency
from crawler.extract.page.page import parse
from crawler.extract.shop_name_in_title import without_site_name
from crawler.extract.stock.availability import (
    availability,
    availability_of_text,
    buys,
    buys_in_short,
)
from crawler.extract.structured.breadcrumbs import is_home, trail
from crawler.extract.structured.jsonld import loads
from crawler.extract.structured.nodes import plain_text, without_tags
from crawler.extract.structured.opengraph import fields
from crawler.extract.structured.product_fields import images
from crawler.extract.visible.fact_labels import label_of as label


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("1.168,70 €", "1168.70", "EUR"),
        ("€1,168.70", "1168.70", "EUR"),
        ("1 168,70 €", "1168.70", "EUR"),
        ("1\u00a0168,70\u00a0€", "1168.70", "EUR"),
        ("1\u202f168,70\u202fEUR", "1168.70", "EUR"),
        ("EUR1168.70", "1168.70", "EUR"),
        ("$1,299", "1299", "USD"),
        ("US $129.95", "129.95", "USD"),
        ("US$12.99", "12.99", "USD"),
        ("$12.00 CAD", "12.00", "CAD"),
        ("A$190.00", "190.00", "AUD"),
        ("from $5", "5", "USD"),
        ("JP¥ 12,000", "12000", "JPY"),
        ("￥12,800", "12800", "JPY"),
        ("2,160円", "2160", "JPY"),
        ("12,000원", "12000", "KRW"),
        ("CHF 1'234.50", "1234.50", "CHF"),
        ("CHF 1’299.–", "1299", "CHF"),
        ("Fr. 45.-", "45", "CHF"),
        ("€ 549,-", "549", "EUR"),
        ("1295:-", "1295", "SEK"),
        ("1 295 kr", "1295", "SEK"),
        ("699,00 kr.", "699.00", "DKK"),
        ("1 149,00 zł", "1149.00", "PLN"),
        ("249 Kč", "249", "CZK"),
        ("12 990 Ft", "12990", "HUF"),
        ("4 490 руб.", "4490", "RUB"),
        ("6 300 Р", "6300", "RUB"),
        ("5 870 грн.", "5870", "UAH"),
        ("₹1,23,456.00", "123456.00", "INR"),
        ("Rs. 499", "499", "INR"),
        ("R$ 2.199,90", "2199.90", "BRL"),
        ("Rp 31.500", "31500", "IDR"),
        ("RM25.90", "25.90", "MYR"),
        ("880,000 ₫", "880000", "VND"),
        ("1.249,90 TL", "1249.90", "TRY"),
        ("R 1 299.00", "1299.00", "ZAR"),
        ("KWD 1.250", "1.250", "KWD"),
        ("$0.89000", "0.89000", "USD"),
        ("$.99", ".99", "USD"),
        ("AED 8000 (USD 2179)", "8000", "AED"),
        ("118, 99 TL", "118.99", "TRY"),
        ("$ 8. 94", "8.94", "USD"),
        ("1.837, 32 €", "1837.32", "EUR"),
        ("From 26 to 50 €", "26", "EUR"),
        ("26,00 – 50,00 €", "26.00", "EUR"),
        ("0,40 LEI", "0.40", "RON"),
        ("1.990 дин", "1990", "RSD"),
        ("106.61 ريال", "106.61", "SAR"),
        ("880,000 VNĐ", "880000", "VND"),
        ("40% OFF, now 12 €", "12", "EUR"),
    ],
)
def test_a_price_is_read_as_people_write_it(text: str, value: str, currency: str) -> None:
    money = next(find_prices(text))
    assert (money.value, money.currency) == (Decimal(value), currency)


@pytest.mark.parametrize(
    "text",
    ["", "12 pieces", "M12 screw", "10% off", "call 555-1234", "2026-11-21", "v1.2.3", "$", "€ -"],
)
def test_what_is_no_price_gives_none(text: str) -> None:
    assert list(find_prices(text)) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Was $1,499 Now $1,199", ["1499", "1199"]),
        ("$10.00 – $20.00", ["10.00", "20.00"]),
        ("5 $10", ["10"]),
        ("R$ 2.199,90 em até 10x de R$ 219,99", ["2199.90", "219.99"]),
    ],
)
def test_each_amount_keeps_its_own_sign(text: str, values: list[str]) -> None:
    assert [money.value for money in find_prices(text)] == [Decimal(value) for value in values]


@pytest.mark.parametrize(
    ("sign", "host", "lang", "currency"),
    [
        ("$5", "shop.example.com.au", "en", "AUD"),
        ("$5", "shop.example", "en-ca", "CAD"),
        ("$5", "shop.example", "en", "USD"),
        ("5 kr", "butik.example.dk", "da", "DKK"),
        ("5 kr", "butikk.example.no", "nb", "NOK"),
        ("¥5", "shop.example.cn", "zh-cn", "CNY"),
        ("£5", "shop.example.com.au", "en", "GBP"),
        ("$5", "shop.example.com.au", "en-us", "AUD"),
        ("$5", "shop.example.co", "en-us", "USD"),
        ("5 руб.", "lavka.example.by", "ru", "BYN"),
        ("Rs. 5", "shop.example.pk", "en", "PKR"),
        ("5 lei", "magazin.example.md", "ro", "MDL"),
        ("5 lei", "magazin.example.ro", "ro", "RON"),
        ("C$ 5", "tienda.example.ni", "es", "NIO"),
        ("C$ 5", "shop.example.ca", "en", "CAD"),
        ("Br 5", "shop.example.et", "en", "ETB"),
        ("5 000 FCFA", "boutique.example.cm", "fr", "XAF"),
        ("5 000 FCFA", "boutique.example.sn", "fr", "XOF"),
        ("Bs. 5", "tienda.example.com.ve", "es", "VES"),
        ("$ 1.290", "tienda.example.com.uy", "es", "UYU"),
        ("N$ 5", "shop.example.na", "en", "NAD"),
        ("P5", "shop.example.bw", "en", "BWP"),
        ("5,00 Kz", "loja.example.ao", "pt", "AOA"),
    ],
)
def test_a_sign_of_many_countries_is_read_as_the_pages_own(
    sign: str, host: str, lang: str, currency: str
) -> None:
    assert next(find_prices(sign, local_currency(host, lang))).currency == currency


def test_codes_that_are_no_currencies_are_left_to_other_sources() -> None:
    assert [currency_of(code) for code in ("UAN", "RUR", "eur", "ABC")] == [
        None,
        "RUB",
        "EUR",
        None,
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.299", "1299"), ("1,299", "1299"), ("12,5", "12.5"), ("0.299", "0.299"), ("1.2.3", "123"),
     ("1,234,567", "1234567"), ("1.234.567,89", "1234567.89"), ("1,234.5", "1234.5")],
)  # fmt: skip
def test_separators_are_told_apart(text: str, value: str) -> None:
    assert amount(text) == Decimal(value)


@pytest.mark.parametrize(
    ("value", "read"),
    [("1299.000", "1299.000"), (12.5, "12.5"), ("1.299,00 €", "1299.00"), (0, "0"), ("n/a", None),
     (True, None), (None, None), (float("nan"), None), (float("inf"), None), ("", None),
     ("-5", None), ([], None)],
)  # fmt: skip
def test_structured_data_counts_with_the_full_stop(value: Any, read: str | None) -> None:
    assert number(value) == (None if read is None else Decimal(read))


def test_a_bare_number_is_a_price_where_one_is_expected() -> None:
    money = parse_price("from 12,99")
    assert money is not None
    assert (money.value, money.currency) == (Decimal("12.99"), None)
    assert parse_price("٤٥٫٥٠ ر.س") is not None
    assert parse_price("call us") is None


@pytest.mark.parametrize(
    ("value", "read"), [("1.204", 1204), ("1,204 ratings", 1204), (12.0, 12), ("none", None)]
)
def test_counts_have_no_decimals(value: Any, read: int | None) -> None:
    assert count(value) == read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://schema.org/InStock", "InStock"), ("http://schema.org/OutOfStock/", "OutOfStock"),
        ("schema:PreOrder", "PreOrder"), ("in_stock", "InStock"), ("oos", "OutOfStock"),
        ("In Stock", "InStock"), ("limited availability", "LimitedAvailability"),
        ("OnlineOnly", "OnlineOnly"), (True, "InStock"), (False, "OutOfStock"), (3, None),
        ("whatever", None), ("", None),
    ],
)  # fmt: skip
def test_structured_availability(text: Any, expected: str | None) -> None:
    assert availability(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In Stock (14 available)", "InStock"), ("Only 2 left in stock", "InStock"),
        ("Not in stock", "OutOfStock"), ("Sold out", "OutOfStock"), ("Stock: 0", "OutOfStock"),
        ("Stock: 12", "InStock"), ("Available on backorder", "BackOrder"),
        ("No longer available", "Discontinued"), ("Pre-order now", "PreOrder"),
        ("Auf Lager", "InStock"), ("Nicht auf Lager", "OutOfStock"), ("Ausverkauft", "OutOfStock"),
        ("Sofort lieferbar", "InStock"), ("Vorbestellbar", "PreOrder"), ("En stock", "InStock"),
        ("Rupture de stock", "OutOfStock"), ("Agotado", "OutOfStock"), ("No disponible", "OutOfStock"),
        ("Disponible", "InStock"), ("Esaurito", "OutOfStock"), ("Op voorraad", "InStock"),
        ("Uitverkocht", "OutOfStock"), ("dostępny", "InStock"), ("niedostępny", "OutOfStock"),
        ("в наличии", "InStock"), ("нет в наличии", "OutOfStock"), ("Finns i lager", "InStock"),
        ("Slut i lager", "OutOfStock"), ("Skladem", "InStock"), ("Tükendi", "OutOfStock"),
        ("在庫あり", "InStock"), ("在庫切れ", "OutOfStock"), ("库存状态：有货", "InStock"), ("품절", "OutOfStock"),
        ("Indisponível", "OutOfStock"), ("Em estoque", "InStock"), ("A lamp for reading", None),
    ],
)  # fmt: skip
def test_words_of_many_languages(text: str, expected: str | None) -> None:
    assert availability_of_text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Leverbaar vanaf week 12", "BackOrder"), ("Vanaf week 12 leverbaar", "BackOrder"),
        ("Lieferbar ab KW 12", "BackOrder"), ("Verfügbar ab Mitte Mai", "BackOrder"),
        ("Weer leverbaar vanaf eind mei", "BackOrder"), ("På lager fra uge 14", "BackOrder"),
        ("Disponible à partir de la semaine 22", "BackOrder"), ("Available from 12 May", None),
        ("Disponibile dalla settimana 20", "BackOrder"), ("Leverbaar vanaf 2 stuks", "InStock"),
        ("Disponible à partir de 3 pièces", "InStock"), ("Available from 12 kg", "InStock"),
    ],
)  # fmt: skip
def test_what_is_available_from_a_week_or_a_part_of_a_month_is_not_in_stock(
    text: str, expected: str | None
) -> None:
    assert availability_of_text(text) == expected


def test_shopware_calls_a_closeout_without_stock_no_longer_available() -> None:
    """Its structured data says OutOfStock; other German words say that a product is discontinued."""
    assert availability_of_text("Nicht mehr verfügbar") == "OutOfStock"
    assert availability_of_text("Nicht mehr im Sortiment") == "Discontinued"


def test_buttons() -> None:
    assert all(
        map(
            buys, ["Add to cart", "In den Warenkorb", "カートに入れる", "Купить", "Lägg i varukorg"]
        )
    )
    assert not any(map(buys, ["Add to wish list", "Subscribe", "Buying guide"]))
    assert buys_in_short("Buy")
    assert not buys("Buy")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("SKU:", "sku"), ("Item no.", "sku"), ("Artikel-Nr.", "sku"), ("Art.Nr.:", "sku"),
        ("Product Code", "sku"), ("Référence", "sku"), ("Артикул", "sku"), ("商品番号", "sku"),
        ("EAN", "gtin"), ("Barcode (EAN)", "gtin"), ("GTIN/EAN:", "gtin"), ("ISBN-13", "gtin"),
        ("UPC", "gtin"), ("MPN", "mpn"), ("Manufacturer part number", "mpn"), ("HAN", "mpn"),
        ("Brand", "brand"), ("Hersteller:", "brand"), ("Marque", "brand"), ("Colour", None),
        ("Price", None), ("", None),
    ],
)  # fmt: skip
def test_labels_of_facts(text: str, field: str | None) -> None:
    assert label(text) == field


@pytest.mark.parametrize(
    ("value", "read"),
    [("4006381333931", "4006381333931"), ("978-3-16-148410-0", "9783161484100"), ("12345", None),
     (4006381333931, "4006381333931"), ("n/a", None), (None, None), ("036000291452", "036000291452")],
)  # fmt: skip
def test_gtins(value: Any, read: str | None) -> None:
    assert gtin(plain_text(value)) == read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": "x\ny"}', {"a": "x\ny"}),
        ('<!-- {"a": 1} -->', {"a": 1}),
        ('//<![CDATA[\n{"a": 1}\n//]]>', {"a": 1}),
        ('{"a": 1};', {"a": 1}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('{"a": , "b": 2}', {"a": None, "b": 2}),
        ('{"a": "12" pan", "b": 2}', {"a": '12" pan', "b": 2}),
        ('{"a": "it\\\'s"}', {"a": "it's"}),
        ('[{"a": 1}\n{"b": 2}]', [{"a": 1}, {"b": 2}]),
        ('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{"a": {"b": [1, 2', {"a": {"b": [1]}}),
        ('{"a": 1, "b": "half', {"a": 1}),
        ('{"a": 1, "b": 12', {"a": 1}),
        ('{"a": {"b": "whole"}', {"a": {"b": "whole"}}),
        ('{"a": undefined, "b": 2}', {"a": None, "b": 2}),
        ('{"a": "12&quot; pan", "b": 2,}', {"a": "12&quot; pan", "b": 2}),
        ('{"a": "Lamp", broken', {"a": "Lamp"}),
        ('{"a": "Lamp", broken, "b": "X1"}', {"a": "Lamp"}),
        ('{"a": "Lamp" (broken), "b": "X1"}', {"a": "Lamp"}),
        ('{"a": "The "best", says "Times", lamp", "b": 2}',
         {"a": 'The "best", says "Times", lamp', "b": 2}),
        ("{&quot;a&quot;: 1}", {"a": 1}),
        ("no json", None), ("", None), ("{", None), ("[" * 5000, None),
    ],
)  # fmt: skip
def test_broken_json_is_repaired_within_reason(text: str, value: Any) -> None:
    assert loads(text) == value


def test_small_things() -> None:
    assert without_site_name("Lamp – My Shop", "My Shop") == "Lamp"
    assert without_site_name("Lamp - red", "My Shop") == "Lamp - red"
    assert without_tags("a < b") == "a < b"
    assert without_tags("<p>a</p><p>b</p>") == "a b"
    assert images([{"url": "a"}, "b", {"contentUrl": ["a", "c"]}, None, 3]) == ["a", "b", "c"]
    assert is_home("Startseite")
    assert is_front("https://a.example")
    assert not is_home("Home & Garden")


@pytest.mark.parametrize(
    ("texts", "name", "expected"),
    [
        (["Home", "", "Lamps", "Red Lamp"], "red lamp", ["Lamps"]),
        (["Home", "Red Lamp", "Lamps"], "Red Lamp", ["Red Lamp", "Lamps"]),
        (["Lamps"], None, ["Lamps"]),
        (["Home"], "Home", []),
    ],
)
def test_a_trail_leads_from_below_the_front_page_to_above_the_product(texts, name, expected):
    assert trail(texts, name) == expected


def test_of_an_elements_two_contents_the_first_is_read():
    tags = "<meta property='og:title' content='Lamp'><meta property='og:title' content='Shop'>"
    assert fields(parse(f"<head>{tags}</head>", "https://a.example/"))["name"] == "Lamp"
