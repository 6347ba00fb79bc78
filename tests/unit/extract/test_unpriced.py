"""Makers' catalogues, which show things without a price and without a cart."""

import pytest

from crawler.extract import extract, parse

PICTURE = '<img src=/i/bv-220.jpg alt="Ball valve BV-220">'
ROWS = (
    "<table><tr><th>Pressure<td>16 bar<tr><th>Connection<td>DN 50<tr><th>Material<td>Brass</table>"
)
NUMBER = "<p>Article no.: BV-220-50</p>"
ASKS = "<form action=/ask><input name=qty value=1><button>{}</button></form>"


def _kind(
    body: str, path: str = "products/valves/ball-valve", title: str = "Ball valve BV-220"
) -> str:
    head = f"<title>{title} | Pumpworks</title>"
    page = f"<html><head>{head}</head><body><h1>{title}</h1>{body}</body></html>"
    return extract(parse(page.encode(), f"https://pumpworks.example/{path}")).kind


@pytest.mark.parametrize("told", [NUMBER, ROWS])
def test_a_thing_with_its_picture_and_a_number_or_a_table_is_a_product(told: str) -> None:
    assert _kind(f"{PICTURE}{told}") == "product"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (ROWS, "products/valves/ball-valve"),
        (PICTURE, "products/valves/ball-valve"),
        (f"{PICTURE}{ROWS}", "plants/ball-valve"),
        (f"{PICTURE}{ROWS}", "items/1190-ball-valve.html"),
        (f"{PICTURE}{ROWS}", "article/ball-valve"),
    ],
)
def test_a_page_without_a_picture_of_its_name_a_table_or_a_folder_for_products_is_none(
    body: str, path: str
) -> None:
    assert _kind(body, path) != "product"


@pytest.mark.parametrize(
    "caption",
    [
        "Add to inquiry list",
        "Add to quote",
        "In den Anfragekorb",
        "Ajouter à ma demande de devis",
        "Añadir al presupuesto",
        "Aggiungi al preventivo",
        "Dodaj do zapytania",
        "Adicionar ao orçamento",
        "Добавить в заявку",
        "Přidat do poptávky",
        "Teklif listesine ekle",
        "見積リストに追加",
    ],
)
def test_a_button_that_puts_a_thing_on_a_list_to_ask_for_sells_it(caption: str) -> None:
    assert _kind(f"{PICTURE}{ASKS.format(caption)}") == "product"
