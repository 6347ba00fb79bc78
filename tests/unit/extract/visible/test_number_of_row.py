"""The number of a listing's row, which links to its page, is not the page's own."""

import pytest

from crawler.extract import extract, parse

SOLD = "<b>VENDU</b>"


def row(shape: str, number: int, price: str) -> str:
    address = f"/item/{number}" if "numbered" in shape else f"/piece-{'abcd'[number % 4]}.html"
    picture, link = f"<img src=/i/{number}.jpg>", f"<a href={address}>Carafe {number % 7}</a>"
    if "table" in shape:
        return f"<tr><td>{picture}</td><td>{link}<br>Réf. {number}</td><td>{price}</td></tr>"
    if "label first" in shape:
        return f"<tr><td>Réf. {number}</td><td>{link}</td><td>{price}</td></tr>"
    return f"<li>{picture}<h3>{link}</h3><p>Réf. {number}</p><p>{price}</p></li>"


def kind(body: str, path: str) -> str:
    html = f"<html lang=fr><title>Verre - Brocante</title><body><h1>Verre ancien</h1>{body}</html>"
    return extract(parse(html, f"https://brocante.example{path}")).kind


@pytest.mark.parametrize("shape", ["table", "table, numbered", "list, numbered", "label first"])
@pytest.mark.parametrize("prices", [("36,00 €", SOLD), ("36,00 €", "40,00 €", SOLD), (SOLD, SOLD)])
def test_a_listing_with_sold_rows_is_no_product(shape: str, prices: tuple[str, ...]) -> None:
    rows = "".join(row(shape, 2040 + n, price) for n, price in enumerate(prices))
    assert (
        kind(rows if "list" in shape else f"<table>{rows}</table>", "/liste.php?rub=3") != "product"
    )


def test_a_listing_of_one_sold_row_is_no_product() -> None:
    assert (
        kind(f"<table>{row('table, numbered', 2040, SOLD)}</table>", "/liste.php?p=2") != "product"
    )


@pytest.mark.parametrize(
    "beside",
    [
        "<p><a href=/c/1>Verre</a> Réf. 2040</p>",
        "<p>Réf. 2040 <a href=/contact.php?ref=2040>Demander</a></p>",
        "<p><a href=/item/2039>&lt;&lt;</a></p><p>Réf. 2040</p>",
        "<table><tr><td>Réf.</td><td>2040</td></tr></table><p><a href=/item/2050>Coupe</a> 40,00 €</p>",
    ],
)
@pytest.mark.parametrize("path", ["/item/2040", "/verre-ancien"])
def test_a_sold_products_own_number_may_have_links_beside_it(beside: str, path: str) -> None:
    picture = '<img src=/i/2040.jpg alt="Verre ancien">'
    assert kind(f"{picture}{beside}<p>{SOLD}</p>", path) == "product"
