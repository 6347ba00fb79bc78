"""Recognise buttons and links that ask the seller, as pages without a cart have them."""

from __future__ import annotations

from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import Element
from crawler.extract.price.on_request import says_on_request
from crawler.extract.words import entry_matcher

#: The caption of a button that asks the seller, bids or reserves.
_ASKS = entry_matcher("buy", "asks")
_MAX_CAPTION = 40


def asks_seller(walk: Lines, price_line: int) -> bool:
    """Whether a button or link asks the seller, bids or reserves.

    On a page without a heading it has to stand behind the price, because menus stand before.
    """
    first = 0 if walk.heading >= 0 else price_line
    return any(
        _ASKS(line.text) or _starts_letter(line.element)
        for line in walk.product_lines
        if line.index >= first and _is_pressable(line)
    )


def asks_for_quote(walk: Lines) -> bool:
    """Whether a button or link asks for the price of a product on request, or asks the seller."""
    captions = (line.text for line in walk.product_lines if _is_pressable(line))
    return any(map(says_on_request, captions)) or asks_seller(walk, 0)


def _is_pressable(line: Line) -> bool:
    return bool(line.flags & (_lines.BUTTON | _lines.LINK)) and len(line.text) < _MAX_CAPTION


def _starts_letter(element: Element) -> bool:
    """Whether a link starts an e-mail about the product: its address has a subject."""
    address = element.get("href") or "" if element.tag == "a" else ""
    return address.startswith("mailto:") and "subject=" in address
