"""What is added to a price, or saved of it: postage, a deposit, a tax, a reduction, and the sum."""

from __future__ import annotations

import pytest

from crawler.extract import extract, parse
from crawler.extract.fields import Fields

_TEXT = "<p>A lamp of solid oak that gives a warm light in any room.</p>"


def _read(box: str, language: str = "en") -> Fields:
    page = (
        f'<html lang="{language}"><head><title>Oak Lamp | Shop</title></head>'
        f"<body><h1>Oak Lamp</h1>{box}<button>Add to cart</button>{_TEXT}</body></html>"
    )
    return extract(parse(page.encode(), "https://www.shop.example/p/oak-lamp")).fields


def _prices(fields: Fields) -> tuple[str | None, ...]:
    values = (fields.get("price"), fields.get("regular_price"))
    return tuple(None if value is None else str(value) for value in values)


@pytest.mark.parametrize(
    ("language", "box", "price"),
    [
        ("en", "<p>$50.00</p><p>Shipping: $3.00</p><p>Total: $53.00</p>", "50.00"),
        ("en", "<p>Price: $50.00</p><p>Shipping: $3.00</p><p>Total: $53.00</p>", "50.00"),
        ("en", "<p>$50.00 + $3.00 shipping = $53.00</p>", "50.00"),
        ("en", "<p>$100.00</p><p>$10.00 postage</p><p>$110.00</p>", "100.00"),
        ("de", "<p>100,00 €</p><p>Versandkosten: 7,00 €</p><p>107,00 €</p>", "100.00"),
        ("de", "<p>10,00 €</p><p>zzgl. Pfand 0,25 €</p><p>10,25 €</p>", "10.00"),
        ("en", "<p>$20.00</p><p>Handling: $1.00</p><p>$21.00</p>", "20.00"),
        ("en", "<p>$20.00</p><p>Assembly: $4.00</p><p>$24.00</p>", "20.00"),
        (
            "en",
            "<table><tr><td>Price</td><td>$50.00</td></tr><tr><td>Shipping</td><td>$3.00</td></tr>"
            "<tr><td>Total</td><td>$53.00</td></tr></table>",
            "50.00",
        ),
    ],
)
def test_what_no_words_call_a_tax_is_no_tax_whose_sum_is_the_price(
    language: str, box: str, price: str
) -> None:
    assert _prices(_read(box, language)) == (price, None)


@pytest.mark.parametrize(
    ("language", "box"),
    [
        ("en", "<p>Price: $19.95</p><p>Shipping: $4.95</p><p>Total: $24.90</p>"),
        ("en", "<p>$19.95</p><p>Shipping $4.95</p><p>$24.90</p>"),
        ("de", "<p>Preis: 19,95 €</p><p>Versand: 4,95 €</p><p>Gesamt: 24,90 €</p>"),
        ("en", "<p>$24.90 in total</p><p>Shipping: $4.95</p><p>Lamp: $19.95</p>"),
    ],
)
def test_a_sum_with_postage_is_no_price_before_a_reduction(language: str, box: str) -> None:
    assert _read(box, language).get("regular_price") is None


@pytest.mark.parametrize(
    ("box", "prices"),
    [
        ("<p>$25.00</p><p>$20.00</p><p>You save $5.00</p>", ("20.00", "25.00")),
        ("<p>$20.00</p><p>You save $5.00</p><p>$25.00</p>", ("20.00", None)),
        ("<p>$24.00</p><p>$20.00</p><p>You save $4.00</p>", ("20.00", "24.00")),
        ("<p>$125.00</p><p>$100.00</p><p>Your benefit: $25.00</p>", ("100.00", "125.00")),
    ],
)
def test_a_saving_is_no_tax_though_the_reduction_is_as_large_as_one(
    box: str, prices: tuple[str | None, ...]
) -> None:
    assert _prices(_read(box)) == prices


@pytest.mark.parametrize(
    ("language", "box"),
    [
        ("en", "<p>$50.00</p><p>Tax: $3.00</p><p>Total: $53.00</p>"),
        ("en", "<p>$50.00</p><p>$3.00 sales tax</p><p>$53.00</p>"),
        ("en", "<p>$50.00</p><p>$3.00</p><p>$53.00</p>"),
        ("ro", "<p>$50.00</p><p>TVA: $3.00</p><p>$53.00</p>"),
        ("de", "<p>50,00 €</p><p>zzgl. MwSt. 3,00 €</p><p>53,00 €</p>"),
    ],
)
def test_a_tax_that_words_name_is_part_of_the_price(language: str, box: str) -> None:
    assert _prices(_read(box, language)) == ("53.00", None)


def test_the_rate_of_a_tax_is_no_reduction_in_percent() -> None:
    assert _prices(_read("<p>€ 110.00 (10 % VAT)</p><p>€ 100.00</p>")) == ("110.00", None)
