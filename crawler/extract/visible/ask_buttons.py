"""Recognise buttons and links that ask the seller, as pages without a cart have them."""

from __future__ import annotations

from itertools import pairwise

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
    asking = [
        line
        for line in walk.product_lines
        if line.index >= first
        and _is_pressable(line)
        and (_ASKS(line.text) or _starts_letter(line.element))
    ]
    return len(asking) == 1 or (len(asking) > 1 and not _are_in_entries(walk, asking, price_line))


def _are_in_entries(walk: Lines, asking: list[Line], price_line: int) -> bool:
    """Whether each of several buttons, and the price, stand below a heading of their own."""
    starts = [line.index for line in walk.lines if line.flags & _lines.HEADING]
    if not any(walk.heading < start < price_line for start in starts):
        return False
    return all(
        any(first.index < start < second.index for start in starts)
        for first, second in pairwise(asking)
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
