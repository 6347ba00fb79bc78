"""Read a table of variants with a buy button in each row as one product: its lowest price."""

from __future__ import annotations

from decimal import Decimal
from itertools import chain, islice

from crawler.extract.money.amounts import find_prices
from crawler.extract.page.lines import Lines
from crawler.extract.page.link_targets import leads_away
from crawler.extract.page.page import Element, short_text
from crawler.extract.stock.availability import UNAVAILABLE, availability_of_text
from crawler.extract.visible_signs import Visible

#: Boxes around a price within its cell, and rows and cells of a table.
_MAX_AROUND, _MAX_ROWS, _MAX_CELLS = 3, 60, 20
_MAX_TEXT = 200


def take_variants(walk: Lines, signs: Visible, local: str | None) -> None:
    """Take the lowest price of a table's rows that can be bought, and not the first row's number.

    One row that can be bought is enough for the product to be in stock.
    """
    if signs.price_line is None:
        return
    element = walk.lines[signs.price_line].element
    boxes = chain((element,), islice(element.iterancestors(), _MAX_AROUND))
    cell = next((box for box in boxes if box.tag == "td"), None)
    rows = [] if cell is None else _rows_beside(cell)
    if cell is None or any(map(leads_away, chain.from_iterable(row.iter("a") for row in rows))):
        return
    column = sum(1 for _ in cell.itersiblings(preceding=True))
    prices = [
        price
        for row in rows
        if _is_sold(row) and (price := _amount(row[column], local)) is not None
    ]
    if len(prices) < 2 or _amount(cell, local) != signs.fields.get("price"):
        return
    lowest = min(prices)
    if lowest != signs.fields["price"]:
        signs.fields["price"] = lowest
        signs.fields.pop("regular_price", None)
    if signs.fields.get("availability") in UNAVAILABLE:
        signs.fields["availability"] = "InStock"
    _take_number(rows, signs)


def _rows_beside(cell: Element) -> list[Element]:
    """Return the rows of a cell's table that have as many cells as its own row."""
    row = cell.getparent()
    table = None if row is None else row.getparent()
    if row is None or table is None or len(row) > _MAX_CELLS:
        return []
    return [other for other in islice(table, _MAX_ROWS) if len(other) == len(row)]


def _is_sold(row: Element) -> bool:
    """Whether a row has a button of its own, and no word that its variant cannot be had."""
    if next(row.iter("form", "button", "input"), None) is None:
        return False
    return availability_of_text(short_text(row, _MAX_TEXT)) not in UNAVAILABLE


def _amount(cell: Element, local: str | None) -> Decimal | None:
    money = next(find_prices(short_text(cell, _MAX_TEXT), local), None)
    return None if money is None else money.value


def _take_number(rows: list[Element], signs: Visible) -> None:
    """Take a number outside of the rows for the product's; without one, it has none."""
    numbers = [signs.fields.get("sku")]
    numbers += [value for field, value in signs.further_facts if field == "sku"]
    cells = {short_text(cell) for row in rows for cell in row}
    own = next((number for number in numbers if number and number not in cells), None)
    if own is not None:
        signs.fields["sku"] = own
    else:
        signs.fields.pop("sku", None)
