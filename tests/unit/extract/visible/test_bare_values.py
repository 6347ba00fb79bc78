"""Values that a page shows bare: amounts without a currency, numbers of reviews among stars."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.extract import extract, parse


def fields_of(shown: str, url: str = "https://a.example/p/lamp") -> dict[str, Any]:
    html = f"<h1>Lamp</h1>{shown}<button>Add to cart</button>"
    return extract(parse(html.encode(), url)).fields


def test_a_size_that_is_no_number_hides_no_product() -> None:
    """`<big size="large">` raised an error, and its page was lost."""
    box = '<td>Anna Voss<br><big size="large">The far shore</big>'
    html = f"<title>Anna Voss: The far shore</title><table><tr>{box}</table><p>€8.99</p>"
    page = parse(f"{html}<button>Add to cart</button>", "https://a.example/p/7")
    assert str(extract(page).fields["price"]) == "8.99"


@pytest.mark.parametrize(
    ("shown", "host", "price", "currency"),
    [
        ("<p class=price>12.500</p>", "a.com.kw", "12.500", "KWD"),
        ("<p class=price>Price: 1.250</p>", "a.com.bh", "1.250", "BHD"),
        ("<p>Price (KWD): 12.500</p>", "a.example", "12.500", "KWD"),
        ("<p class=price>12.990</p>", "a.cl", "12990", "CLP"),
        ("<p class=price>Price: 1.250</p>", "a.de", "1250", "EUR"),
    ],
)
def test_a_bare_amount_has_the_decimals_of_its_countrys_currency(
    shown: str, host: str, price: str, currency: str
) -> None:
    """12.500 dinars were stored as 12,500."""
    fields = fields_of(shown, f"https://{host}/p/lamp")
    assert (str(fields["price"]), fields["currency"]) == (price, currency)


@pytest.mark.parametrize(
    ("text", "reviews"),
    [
        ("(1 204 reviews)", 1204),
        ("4.8/5 (1 204 reviews)", 1204),
        ("4.8 out of 5 204 reviews", 204),
        ("★★★★★ 5 204 reviews", None),  # five stars, or thousands of reviews
        ("4.8 reviews", None),
        ("1.2k reviews", None),
        ("1,204 reviews", 1204),
        ("4.8 (178)", 178),
    ],
)
def test_a_number_of_reviews_is_no_rating_and_no_part_of_a_number(
    text: str, reviews: int | None
) -> None:
    fields = fields_of(f"<p class=rating>{text}</p><p class=price>49 €</p>")
    assert fields.get("review_count") == reviews


@pytest.mark.parametrize("saving", ["-5,00 €", "-€5.00"])
def test_an_amount_below_zero_is_not_the_price(saving: str) -> None:
    fields = fields_of(f"<p class=price>{saving}</p><p>12,50 €</p>")
    assert str(fields["price"]) == "12.50"
