"""Whose currency a sign stands for, and what a number's separators mean: each rule's edge."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.extract.money.amounts import amount, find_prices, grouped, number, parse_price
from crawler.extract.money.counts import count
from crawler.extract.money.currencies import local_currency


@pytest.mark.parametrize(
    ("text", "currency", "value"),
    [
        (".500", None, "0.500"),
        (",5", None, "0.5"),
        ("0.500", None, "0.500"),
        ("1.500", None, "1500"),
        ("1.500", "KWD", "1.500"),  # a currency of three decimals
        ("1.500.000", "KWD", "1500000"),
        ("1,500.00", "KWD", "1500.00"),
        ("1.500,00", None, "1500.00"),
        ("12.50", None, "12.50"),
        ("1.5000", None, "1.5000"),
        ("1'500", None, "1500"),
        ("1`500.00", None, "1500.00"),
        ("1.500.00", None, "1500.00"),  # one sign for groups and cents
        ("1,500,00", None, "1500.00"),
        ("1,50,000", None, "150000"),
        ("-", None, None),
        ("9" * 14, None, "9" * 14),
        ("9" * 16, None, None),  # no price reaches it, and no remainder can be computed of more
    ],
)
def test_separators_divide_thousands_or_decimals(
    text: str, currency: str | None, value: str | None
) -> None:
    found = amount(text, currency)
    assert (None if found is None else str(found)) == value


@pytest.mark.parametrize(
    ("host", "lang", "url", "currency"),
    [
        ("a.co.uk", "en", "", "GBP"),
        ("a.com", "de-ch", "", "CHF"),
        ("a.com", "de", "", None),
        ("a.com", "en", "", None),
        ("a.com", "en", "https://a.com/au/p/1", "AUD"),
        ("a.com", "en-us", "https://a.com/ca/p/1", "CAD"),  # the address goes before the language
        ("a.com.mx", "es", "", "MXN"),
        ("a.bg", "bg", "", "EUR"),  # since the year 2026
    ],
)
def test_a_pages_country_is_told_by_its_host_then_its_path_then_its_language(
    host: str, lang: str, url: str, currency: str | None
) -> None:
    assert local_currency(host, lang, url) == currency


def prices(text: str, local: str | None = None) -> list[tuple[str, str | None]]:
    return [(str(money.value), money.currency) for money in find_prices(text, local)]


@pytest.mark.parametrize(
    ("text", "local", "expected"),
    [
        ("R 21.50", None, [("21.50", "ZAR")]),
        ("R 21.50", "ZAR", [("21.50", "ZAR")]),
        ("R 21.50", "EUR", []),
        ("986479R21", None, []),
        ("$5.00 CAD", None, [("5.00", "CAD")]),
        ("119€99", None, [("119.99", "EUR")]),
        ("$5.00 $7.00", None, [("5.00", "USD"), ("7.00", "USD")]),
        ("5.00 € 7.00 €", None, [("5.00", "EUR"), ("7.00", "EUR")]),
        ("kr 100", "NOK", [("100", "NOK")]),
        ("NO-4109R$ 120,24", None, [("120.24", "BRL")]),  # a code in the box before
        ("5.00", None, []),
        ("CHF 1\u00b4299.–", None, [("1299", "CHF")]),
        ("CHF 1\u02bc299.00", None, [("1299.00", "CHF")]),
        ("€ 1.299.00", None, [("1299.00", "EUR")]),
        ("1万5,000円", None, [("15000", "JPY")]),
        ("2万5千円", None, [("25000", "JPY")]),
        ("1億2000万円", None, [("120000000", "JPY")]),
        ("3만 5천원", None, [("35000", "KRW")]),
        ("₩12,000 천연 비누", None, [("12000", "KRW")]),  # "natural soap"
        ("¥3,000 万年筆", None, [("3000", "JPY")]),
        ("¥500 千代紙", None, [("500", "JPY")]),
        ("Mo-Fr 8.30-12.00 Uhr", "CHF", []),
        ("Mo. – Fr. 8.30 – 12.00 Uhr", "CHF", []),
        ("Di, Mi, Fr. 8.00-12.00", None, []),
        ("Lampe Modell Mi Fr. 49.90", "CHF", [("49.90", "CHF")]),
        ("Auktion 20:30 kr 450", "SEK", [("30", "SEK"), ("450", "SEK")]),
        ("12,99 $CA", None, [("12.99", "CAD")]),  # as browsers write it in French
        ("12,99 $US", "CAD", [("12.99", "USD")]),
        ("$12.99", "CAD", [("12.99", "CAD")]),
        ("NTD 1,299", None, [("1299", "TWD")]),
        ("Ksh. 1,299", None, [("1299", "KES")]),
        ("N1,299", "NGN", [("1299", "NGN")]),
        ("N1,299", "EUR", []),
        ("﷼ 129", "SAR", [("129", "SAR")]),
        ("1万円 500円", None, [("10000", "JPY"), ("500", "JPY")]),
    ],
)
def test_each_amount_of_a_text_has_its_own_sign(
    text: str, local: str | None, expected: list[tuple[str, str]]
) -> None:
    assert prices(text, local) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, None), (5, 5), (5.0, 5), ("5", 5), (" 5 ", 5), ("1,200", 1200), ("many", None),
        ("1.234", 1234), ("1 234 avis", 1234), ("1’234", 1234), ("1,23,456", 123456),
        ("1,234.00", 1234), ("12.0", 12), ("120+", 120), ("(57)", 57), ("5 out of 12", 5),
        ("12 Kundenbewertungen", 12), ("7 meinungen", 7), ("12 millennial reviews", 12),
        ("١٬٢٣٤", 1234),
        # A rating's, or rounded; a wrong number is worse than none.
        ("12k", None), ("1.2k reviews", None), ("1,2 Tsd. Bewertungen", None), ("12 M", None),
        ("1.2万", None), ("3 тыс. отзывов", None), ("5 mil opiniones", None), ("4.5 (120)", None),
        ("3.5", None), ("2,5", None), ("1,0", None), (4.5, None), (-5, None), ("-5", None),
        (float("inf"), None), (float("nan"), None), ("1" * 30, None), (10**9, None), (None, None),
    ],
)  # fmt: skip
def test_a_count_is_a_whole_number_of_things(value: object, expected: int | None) -> None:
    assert count(value) == expected


@pytest.mark.parametrize("value", [True, False, None, "", "free", float("nan"), float("inf")])
def test_what_is_no_number_is_none(value: object) -> None:
    assert number(value) is None


def test_a_price_needs_no_sign_where_it_is_called_one() -> None:
    money = parse_price("5,00")
    assert money is not None
    assert (money.value, money.currency) == (Decimal("5.00"), None)
    assert parse_price("soon") is None


@pytest.mark.parametrize(
    ("text", "local", "value"),
    [
        ("7 € 50", None, "7.50"),
        ("4 € 50 le pot", None, "4.50"),
        ("Colis : 9 € 80. Gratuit dès 90 €", None, "9.80"),
        ("7 euros 50", None, "7.50"),
        ("4 € 50 g", None, "4"),  # how much one gets
        ("12 € 10 €", None, "12"),
        ("5 € 20 %", None, "5"),
        ("12 zł 50 gr", None, "12.50"),
        ("12 zł 50", None, "12"),
        ("４４，０００円", None, "44000"),
        ("320k / hộp", "VND", "320000"),
        ("14 K gold $200", None, "200"),
        ("120 euroa", None, "120"),
    ],
)
def test_cents_stand_behind_the_sign_where_nothing_is_counted(
    text: str, local: str | None, value: str
) -> None:
    assert str(next(find_prices(text, local)).value) == value


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("494,10 zł z kodem SAVE10 549,00 zł", ["494.10", "549.00"]),
        ("CODE1 000 is now 5 €", ["5"]),
        ("CODE1 000 " * 5_000, []),
        ("A12 1 299,00 zł", ["1299.00"]),
        ("M12 30 zł, 5 zł", ["30", "5"]),
        ("Rs10 549", ["10549"]),
    ],
)
def test_figures_that_end_a_word_are_no_thousands_of_the_amount_behind_it(text, amounts):
    assert [str(money.value) for money in find_prices(text)] == amounts


@pytest.mark.parametrize(
    ("text", "currency", "value"),
    [
        ("-1", "EUR", None),
        ("$-5.00", "USD", None),
        ("- 5.00", "USD", None),
        ("USD -5.00", "USD", None),
        ("from - 5.00", "USD", "5.00"),
        ("12.00-15.00", "USD", "12.00"),
        ("\u0661\u0662\u066b\u0665\u0660\u0660", "KWD", "12.500"),
        ("\uff11\uff12\uff0c\uff19\uff19\uff10", "JPY", "12990"),
        ("1\u2007299,00", "SEK", "1299.00"),
    ],
)
def test_a_number_of_data_keeps_its_sign_and_its_digits_of_any_script(
    text: str, currency: str, value: str | None
) -> None:
    found = number(text, currency)
    assert (None if found is None else str(found)) == value


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        ("R$ 1.299", "1299"),
        ("1.299 kr", "1299"),
        ("1.299 TL", "1299"),
        ("1.299,00", "1299"),
        ("$1.299", "1.299"),  # a dollar's full stop divides decimals
    ],
)
def test_three_decimals_of_data_are_thousands_where_the_page_shows_them_so(
    shown: str, value: str
) -> None:
    assert str(grouped(Decimal("1.299"), f"<b>{shown}</b>".encode())) == value
