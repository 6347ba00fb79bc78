"""A page with a table of variants, a buy button each, is one product."""

from decimal import Decimal

import pytest

from tests.unit.extract.bodies import H1, found

BUY = (
    "<form action=/cart/add method=post><input name=qty value=1><button>Add to cart</button></form>"
)
HEADS = "<tr><th>Item no.<th>Size<th>Price<th></tr>"


def row(number: str, price: str, last: str = BUY) -> str:
    return f"<tr><td>{number}<td>M{price[0]}<td>${price}<td>{last}</tr>"


def read(rows: str, before: str = "") -> tuple[object, ...]:
    fields = found(f"{H1}{before}<table>{HEADS}{rows}</table>").fields
    return fields.get("price"), fields.get("sku"), fields.get("availability")


def test_the_price_is_the_lowest_one_and_the_number_no_rows() -> None:
    rows = row("HB-10", "4.20") + row("HB-11", "3.80") + row("HB-12", "5.10")
    assert read(rows) == (Decimal("3.80"), None, "InStock")


def test_the_number_outside_of_the_table_is_the_familys() -> None:
    rows = row("HB-10", "6.20") + row("HB-11", "5.80")
    assert read(rows, "<p>Item no.: HB-1</p>") == (Decimal("5.80"), "HB-1", "InStock")


@pytest.mark.parametrize("stock", ["Sold out", "Out of stock"])
def test_variants_that_are_sold_out_do_not_count(stock: str) -> None:
    rows = row("HB-10", "2.20", stock) + row("HB-11", "6.20") + row("HB-12", "5.80")
    assert read(rows)[::2] == (Decimal("5.80"), "InStock")


def test_a_table_of_prices_by_quantity_has_no_button_in_each_row() -> None:
    rows = "<tr><td>1+<td>$4.20</tr><tr><td>10+<td>$3.80</tr>"
    body = f"{H1}<p>Item no.: HB-1</p><p class=price>$4.20</p>{BUY}<table>{rows}</table>"
    fields = found(body).fields
    assert (fields["price"], fields["sku"]) == (Decimal("4.20"), "HB-1")
