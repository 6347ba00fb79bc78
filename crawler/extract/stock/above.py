"""Read the stock in a word right above the heading: a badge, or a message."""

from __future__ import annotations

from itertools import islice, takewhile

from crawler.extract.page.page import Element, short_text
from crawler.extract.stock import of_class as _of_class
from crawler.extract.stock.availability import UNAVAILABLE, availability_of_text
from crawler.extract.stock.behind_price import SOLD

#: Boxes above the heading that may be about the product; characters of a message, and of one word.
_MAX_ABOVE, _MAX_MESSAGE, _MAX_WORD = 2, 100, 16


def stock_above(heading: Element) -> str | None:
    """Return the availability of an unavailable product by a word right above its heading."""
    boxes = (heading, *takewhile(_holds_more, heading.iterancestors()))
    for box in boxes[: _MAX_ABOVE + 2]:
        for element in islice(box.itersiblings(preceding=True), _MAX_ABOVE):
            is_message = _of_class.MESSAGE[element.get("class") or ""]
            limit = _MAX_MESSAGE if is_message else _MAX_WORD
            text = short_text(element, limit + 1)
            stock = "OutOfStock" if text and SOLD(text) else availability_of_text(text)
            if len(text) <= limit and stock in UNAVAILABLE:
                return stock
    return None


def _holds_more(box: Element) -> bool:
    """Whether a box may be one of several about the product, and not the page's whole content."""
    return box.tag in {"div", "section", "article"}
