"""Read the buy buttons in a column before the heading, or in a box behind other sections."""

from __future__ import annotations

from functools import partial
from itertools import islice, takewhile
from operator import is_not

from crawler.extract.page.lines import BEYOND, BUTTON, Lines
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.stock.availability import availability_of_text, buys_in_short
from crawler.extract.visible.priced_heading import is_of_frame
from crawler.extract.visible_signs import Visible

#: Buttons of a page that are read, and characters of a button's caption.
_MAX_BUTTONS, _MAX_CAPTION = 100, 40
#: Lines between a price and its button.
_MAX_BEHIND = 12


def take_buttons_before(page: Page, heading: Element, signs: Visible) -> None:
    """Take one or two enabled buttons before the heading, outside of the page's head.

    Two have different captions, "Add to cart" and "Buy now"; tiles repeat one caption.
    """
    elements = islice(page.root.iter("button", str(heading.tag)), _MAX_BUTTONS)
    captions = [
        short_text(element, _MAX_CAPTION)
        for element in takewhile(partial(is_not, heading), elements)
        if element.tag == "button" and element.get("disabled") is None and not is_of_frame(element)
    ]
    is_ahead = any(availability_of_text(caption) == "PreOrder" for caption in captions)
    buying = [caption for caption in captions if buys_in_short(caption)]
    if (buying or is_ahead) and len(set(buying)) == len(buying) <= 2:
        signs.buy_buttons, signs.fields["availability"] = 1, "PreOrder" if is_ahead else "InStock"


def take_button_by_price(walk: Lines, signs: Visible) -> None:
    """Take the enabled button behind a price below another section: a buy box behind the reviews."""
    price, fields = signs.price_line, signs.fields
    if price is None or not walk.lines[price].flags & BEYOND:
        return
    if not (signs.buy_buttons or fields.get("availability")) and any(
        line.flags & BUTTON
        and line.element.get("disabled") is None
        and buys_in_short(line.text[:_MAX_CAPTION])
        for line in islice(walk.lines, price + 1, price + 1 + _MAX_BEHIND)
    ):
        signs.buy_buttons, fields["availability"] = 1, "InStock"
