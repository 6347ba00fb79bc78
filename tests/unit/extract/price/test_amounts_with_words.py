"""The price alone in its line, beside amounts that words in any language call something else."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.unit.extract.bodies import BUY, H1, found

#: An amount of another kind than the price, in words that are in no list of the parser's.
ODD = [
    ("en", "Crate of six: {} £", "£ 16.00"),
    ("de", "Mindestabnahme 0,5 m (9,45 €)", "18,90 €"),
    ("cs", "Spolu se stojanem: 129,80 Kč", "89,90 Kč"),
    ("nl", "€ 85,41 bij betaling per overschrijving", "€ 89,90"),
    ("fi", "76,42 € kestotilauksena", "89,90 €"),
]


def _price(body: str, lang: str = "en") -> Decimal | None:
    return found(f"{H1}<img src=/a.jpg>{body}{BUY}", lang=lang).fields.get("price")


@pytest.mark.parametrize(
    ("lang", "words", "price"), [(lang, w.format("90.00"), p) for lang, w, p in ODD]
)
@pytest.mark.parametrize(
    "layout",
    [
        "<p>{words}</p><p>{price}</p>",
        "<p>{words}<br>{price}</p>",
        "<div class=product-price><div>{words}</div><div>{price}</div></div>",
        "<p>{price}</p><p>{words}</p>",
    ],
)
def test_an_amount_alone_is_the_price_beside_one_with_words(
    layout: str, lang: str, words: str, price: str
) -> None:
    amount = Decimal(price.strip(" £€Kč").replace(",", "."))
    assert _price(layout.format(words=words, price=price), lang) == amount


def test_an_amount_that_its_row_calls_otherwise_makes_no_pair() -> None:
    body = "<dl><dt>{}</dt><dd>$80.91</dd></dl><p>$89.90</p>"
    fields = found(H1 + body.format("For our readers:") + BUY).fields
    assert fields["price"] == Decimal("89.90")
    assert "regular_price" not in fields
    assert _price(body.format("Our price:")) == Decimal("80.91")


@pytest.mark.parametrize("label", ["You save", "Members pay", "Deposit"])
def test_a_term_below_the_price_is_about_the_amount_that_it_describes(label: str) -> None:
    body = f"<p>$89.90</p><dl><dt>{label}</dt><dd>$10.00</dd></dl>"
    assert _price(body) == Decimal("89.90")


@pytest.mark.parametrize(
    "line",
    ["$12.00 (20 % VAT)", "$12.00, in stock", "$12.00 plus shipping", "Our price: $12.00"],
)
def test_words_of_a_price_do_not_make_it_another_amount(line: str) -> None:
    assert _price(f"<p>{line}</p><p>$10.00</p>") == Decimal(12)
