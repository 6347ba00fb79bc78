"""Read the form's inputs that buy a product, or say in place of that that it cannot be bought."""

from __future__ import annotations

from crawler.extract.page.page import MAX_TEXT_LENGTH, Element
from crawler.extract.stock.availability import (
    UNAVAILABLE,
    availability_of_text,
    buys_in_short,
    pays,
)
from crawler.extract.words import entry_matcher

#: A product that is not sold yet: "Coming soon".
SOON = entry_matcher("stock", "soon")
_PRESSABLE = frozenset({"submit", "image", "button"})
#: A text with fewer characters may be just a word or two.
SHORT = 40


def _caption(element: Element) -> str:
    """Return the caption of a button; '' for a field in which a visitor writes."""
    if element.get("type") not in _PRESSABLE:
        return ""
    return (element.get("value") or element.get("alt") or element.get("title") or "")[
        :MAX_TEXT_LENGTH
    ]


def pressable_buttons(inputs: list[Element]) -> list[bool]:
    """Return for each input that buys whether it can be pressed; [] if the first is sold out."""
    if _first_is_sold_out(inputs):
        return []
    buttons = (e for e in inputs if (text := _caption(e)) and (buys_in_short(text) or pays(text)))
    return [element.get("disabled") is None for element in buttons]


def _first_is_sold_out(inputs: list[Element]) -> bool:
    """Whether the first input about buying or the stock is disabled and says "sold out".

    The inputs behind it then belong to the tiles of other products.
    """
    for element in inputs:
        caption = _caption(element)
        if not caption or len(caption) >= SHORT:
            continue
        if buys_in_short(caption):
            return False
        if availability_of_text(caption) in UNAVAILABLE:
            return element.get("disabled") is not None
    return False


def stock_of_inputs(inputs: list[Element]) -> str | None:
    """Return the availability in an input in place of the buy button: "Pre-order now"."""
    captions = (text for element in inputs if (text := _caption(element)) and len(text) < SHORT)
    stocks = ("OutOfStock" if SOON(text) else availability_of_text(text) for text in captions)
    return next((name for name in stocks if name not in {None, "InStock"}), None)
