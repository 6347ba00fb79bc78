"""What static pages of small shops do that shop systems do not: each in a small page of ours."""

from decimal import Decimal

import pytest

from crawler.extract import extract, parse


def _page(body, path="/page.html", title="Oak lamp", lang="en"):
    menu = "<nav><a href=/>Home</a><a href=/about>About</a></nav>"
    html = f"<html lang={lang}><head><title>{title}</title></head><body>{menu}{body}</body></html>"
    return parse(html.encode(), f"https://shop.example{path}", "text/html; charset=utf-8")


def _read(body, **page):
    return extract(_page(body, **page))


_BUY = "<button>Add to cart</button>"


@pytest.mark.parametrize(
    ("icon", "currency"),
    [
        ("fa fa-inr", "INR"),
        ("fas fa-rupee-sign", "INR"),
        ("fa-solid fa-indian-rupee-sign", "INR"),
        ("fa fa-rub", "RUB"),
        ("fas fa-euro-sign", "EUR"),
        ("fa fa-try", "TRY"),
        ("bi bi-currency-rupee", "INR"),
        ("fas fa-hryvnia", "UAH"),
    ],
)
def test_an_icon_of_a_currency_is_its_sign(icon, currency):
    body = f"<h1>Oak lamp</h1><h4><i class='{icon}'></i> 499</h4>{_BUY}"
    fields = _read(body).fields
    assert (fields["price"], fields["currency"]) == (Decimal(499), currency)
    behind = f"<h1>Oak lamp</h1><p class=price>499<i class='{icon}'></i></p><form><del>600<i class='{icon}'></i></del>{_BUY}</form>"
    fields = _read(behind).fields
    assert (fields["price"], fields["currency"]) == (Decimal(499), currency)
    assert fields["regular_price"] == Decimal(600)


@pytest.mark.parametrize("text", ["Best prices", "100% money back", ""])
def test_an_icon_beside_no_amount_is_an_ornament(text):
    body = f"<h1>Oak lamp</h1><p><i class='fa fa-dollar'></i> {text}</p>{_BUY}"
    assert "price" not in _read(body).fields
