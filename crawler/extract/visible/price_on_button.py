"""Read the price of a product that its page shows only on the input that buys it: `Buy now - $29.95`."""

from __future__ import annotations

from itertools import islice

from crawler.extract.money.amounts import find_prices
from crawler.extract.page.lines import Lines
from crawler.extract.price.other_amounts import says_other
from crawler.extract.stock.availability import buys_in_short
from crawler.extract.stock.inputs import caption_of
from crawler.extract.visible_signs import Visible

#: Inputs of a page that are read, and buttons that sell one product: above and below its text.
_MAX_INPUTS, _MAX_BUTTONS = 50, 2
#: Distance from the heading, in lines, that a price without a line gets.
_DISTANCE = 50


def take_button_price(walk: Lines, signs: Visible, local: str | None) -> None:
    """Take the one amount in the captions of inputs that buy."""
    captions = [*filter(buys_in_short, map(caption_of, islice(walk.inputs, _MAX_INPUTS)))]
    if not 0 < len(captions) <= _MAX_BUTTONS or any(map(says_other, captions)):
        return  # "Add to cart - save $5"
    monies = [money for caption in captions for money in find_prices(caption, local)]
    if len({(money.value, money.currency) for money in monies}) == 1 and monies[0].value:
        signs.fields["price"], signs.fields["currency"] = monies[0].value, monies[0].currency
        signs.price_distance = _DISTANCE
        signs.fields["availability"] = signs.fields.get("availability") or "InStock"
