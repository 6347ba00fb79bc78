"""Read that a product is sold where no buy button is: behind its price, or in a line that just says so."""

from __future__ import annotations

from crawler.extract.money.amounts import find_prices
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.stock.availability import SOON, availability_of_text
from crawler.extract.stock.behind_price import (
    BEGINS_SOLD,
    MAY_BE_SOLD,
    SOLD,
    sold_in,
    stock_behind_price,
)
from crawler.extract.stock.inputs import is_disabled
from crawler.extract.visible_signs import Visible

#: Characters of a line about the stock.
MAX_LENGTH = 100
#: Lines before and behind the price whose last sentence may say that the product is sold.
BESIDE = 2
#: Characters from which on a name has other words than those that say the stock.
_MIN_NAME = 12
#: Flags of a button with an amount.
SOLD_BUTTON = _lines.BUTTON | _lines.DIGIT


def stock_if_sold(walk: Lines, signs: Visible) -> str | None:
    """Return the availability by a remark behind the price in its line.

    Else "OutOfStock" if, on a page without buy button, a line just says "Sold" without a number.
    """
    if signs.price_line is not None and not signs.buy_buttons:
        text, price = walk.lines[signs.price_line].text, signs.fields.get("price")
        ends = (m.end for m in find_prices(text[:MAX_LENGTH]) if m.value == price)
        stock = None if (end := next(ends, None)) is None else stock_behind_price(text, end)
        if stock is not None:
            signs.stock_by_price = True
            return stock
        near = walk.lines[max(walk.heading, signs.price_line - BESIDE, 0) :][: 2 * BESIDE + 1]
        if any(SOON(line.text) or (". " in line.text and sold_in(line.text)) for line in near):
            return "OutOfStock"
    lines = walk.product_lines if not signs.buy_buttons else []
    for line in [line for line in lines if MAY_BE_SOLD[line.text]]:
        if BEGINS_SOLD[line.text]:
            return "OutOfStock"
        if SOLD(line.text):
            following = lines[lines.index(line) + 1 :][:1]
            return None if following and following[0].text[:1].isdigit() else "OutOfStock"
        if line.flags & SOLD_BUTTON == SOLD_BUTTON and is_disabled(line.element):
            return "OutOfStock"
    return None


def praises(line: Line, walk: Lines) -> bool:
    """Whether a line is the product's name, which says more than "in stock": `[Ships today] Lamp`.

    A name of few letters may be the line that says the stock.
    """
    name = walk.lines[walk.heading].text if walk.heading >= 0 else ""
    is_long = len(name) >= _MIN_NAME and line.text == name
    return is_long and availability_of_text(name) == "InStock"
