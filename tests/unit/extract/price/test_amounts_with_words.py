"""The price alone in its line, beside amounts that words in any language call something else."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.extract.template import Book
from tests.unit.extract.bodies import BUY, H1, found

#: An amount of another kind than the price, in words that are in no list of the parser's.
ODD = [
    ("en", "Crate of six: {} £", "£ 16.00"),
    ("de", "Mindestabnahme 0,5 m (9,45 €)", "18,90 €"),
    ("cs", "Spolu se stojanem: 129,80 Kč", "89,90 Kč"),
    ("nl", "€ 85,41 bij betaling per overschrijving", "€ 89,90"),
    ("fi", "76,42 € kestotilauksena", "89,90 €"),
    ("zh", "每100克 € 17.98", "€ 89.90"),
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
    [
        "$12.00 (20 % VAT)",
        "$12.00, in stock",
        "$12.00 plus shipping",
        "Our price: $12.00",
        "Price incl. VAT: $12.00",
    ],
)
def test_words_of_a_price_do_not_make_it_another_amount(line: str) -> None:
    assert _price(f"<p>{line}</p><p>$10.00</p>") == Decimal(12)


def test_an_amount_behind_the_name_is_the_price() -> None:
    assert _price("<p>Crate of six: £90.00</p><p>Red Lamp: £16.00</p>") == Decimal(16)


def _sure(body: str) -> float:
    return Book().judge("shop", found(H1 + body + BUY)).confidence["price"]


def test_a_price_that_only_unknown_words_tell_from_another_amount_is_not_sure() -> None:
    assert _sure("<p>Long model £90.00</p><p>Short model £86.00</p>") < 0.9
    assert _sure("<p>Long model £90.00</p><p>£86.00</p>") >= 0.95
    assert _sure("<p>Long model £16.00</p><p>Delivery: £4.00</p>") >= 0.95


@pytest.mark.parametrize(
    ("lang", "line", "before"),
    [
        ("en", "Special offer: £89.90", "£99.90"),
        ("en", "Price incl. VAT: £89.90", "£99.90"),
        ("nl", "Speciale aanbieding: € 89,90", "€ 99,90"),
        ("fi", "Vain 89,90 €", "99,90 €"),
        ("ro", "Ofertă specială: 89,90 lei", "99,90 lei"),
    ],
)
def test_words_for_an_offer_call_the_price(lang: str, line: str, before: str) -> None:
    assert _price(f"<p>{line}</p><p>{before}</p>", lang) == Decimal("89.90")


def test_a_lower_amount_with_unknown_words_above_makes_a_price_unsure() -> None:
    assert _sure("<p>For readers: £89.90</p><p>£99.90</p>") < 0.9
    assert _sure("<p>For readers: £9.90</p><p>£99.90</p>") >= 0.95


def test_one_order_costs_no_price_before_beside_a_subscription() -> None:
    body = "<div><p>Every month</p><b>$22.41</b> -10 %</div><div><p>One-time purchase</p><b>$24.90</b></div>"
    fields = found(H1 + body + BUY).fields
    assert fields["price"] == Decimal("24.90")
    assert "regular_price" not in fields


def test_a_percentage_and_the_word_for_a_discount_leave_a_price_one() -> None:
    rows = "<tr><th>정가</th><td>18,000원</td></tr><tr><th>판매가</th><td>16,200원 (10% 할인)</td></tr>"
    fields = found(f"{H1}<table>{rows}</table>{BUY}", lang="ko").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(16200), Decimal(18000))


@pytest.mark.parametrize(
    ("lang", "words"),
    [("en", "Black Friday"), ("en", "Sale"), ("ru", "Акция"), ("cs", "Akce"), ("ja", "セール")],
)
def test_one_or_two_words_before_a_lower_amount_may_name_any_reduction(
    lang: str, words: str
) -> None:
    """The price before the reduction was the price, because it stood alone below."""
    assert _price(f"<p>{words} 12.00 €</p><p>15.00 €</p>", lang) == Decimal(12)
    assert _price(f"<p>{words} 12.00 €</p><p>4.90 €</p>", lang) == Decimal(12)
    assert _price(f"<p>{words} 2.00 €</p><p>15.00 €</p>", lang) == Decimal(15)
    assert _price(f"<dl><dt>{words}<dd>12.00 €</dl><p>15.00 €</p>", lang) == Decimal(12)


@pytest.mark.parametrize("line", ["12.00 € each", "12.00 € / piece", "12.00 € online"])
def test_a_lower_amount_below_words_behind_the_price_is_another_one(line: str) -> None:
    """Postage in a line of its own was the price."""
    assert _price(f"<p>{line}</p><p>4.90 €</p>") == Decimal(12)
    is_of_piece = "/" in line
    assert not is_of_piece or _price(f"<p>{line}</p><p>15.00 €</p>") == Decimal(12)


def test_the_products_name_before_its_price_makes_it_no_other_amount() -> None:
    body = "<h1>Oak lamp</h1><img src=/a.jpg><p>Oak lamp 12.00 €</p><p>4.90 €</p>"
    assert found(body + BUY).fields["price"] == Decimal(12)


@pytest.mark.parametrize("label", ["Oak lamp", "Our price", "90 cm"])
@pytest.mark.parametrize("cells", ["<td>15.00 €<td>12.00 €", "<td><p>15.00 €<p>12.00 €"])
def test_the_label_of_a_row_is_about_both_amounts_of_it(label: str, cells: str) -> None:
    """The old price was the price in tables of a name, an old and a new price."""
    fields = found(f"{H1}<img src=/a.jpg><table><tr><td>{label}{cells}</table>{BUY}").fields
    assert (fields["price"], fields.get("regular_price")) == (Decimal(12), Decimal(15))
