"""Read buttons, and inputs that stand for them: whether they buy, order ahead or are sold out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawler.extract.page.page import MAX_TEXT_LENGTH, Element, short_text
from crawler.extract.stock.availability import (
    SOON,
    UNAVAILABLE,
    availability_of_text,
    buys,
    buys_in_short,
    pays,
)
from crawler.extract.visible_signs import Visible

#: Types of inputs that are buttons, and characters of a caption: fewer than these.
_PRESSABLE = frozenset({"submit", "image", "button"})
_MAX_CAPTION = 40
#: The file of a picture that is the only caption of a button: `/img/AddCartButton.gif`.
_SHOWS_CART = re.compile(r"add[-_]?(?:to[-_]?)?(?:cart|basket|bag)[^/]{0,80}\Z", re.I).search
_CART_CAPTION = "Add to cart"


def is_buy_button(element: Element) -> bool:
    """Whether a button, an input or a link buys, by its caption."""
    return buys(short_text(element) or element.get("value") or "")


def note_inputs(inputs: list[Element], signs: Visible) -> tuple[str | None, bool, bool]:
    """Count the inputs that buy.

    Return what the others say of the stock if none buys, whether one can be pressed, and whether one
    orders ahead.
    """
    if not inputs:
        return None, False, False
    pressable, stock = _pressable_buttons(inputs), _stock_of_inputs(inputs)
    signs.count_buttons(len(pressable), in_words=_say_to_buy(inputs))
    return (None if pressable else stock), any(pressable), stock == "PreOrder"


def _pressable_buttons(inputs: list[Element]) -> list[bool]:
    """Return for each input that buys whether it can be pressed; [] if the first is sold out."""
    if _first_is_sold_out(inputs):
        return []
    buttons = (e for e in inputs if (text := caption_of(e)) and (buys_in_short(text) or pays(text)))
    return [element.get("disabled") is None for element in buttons]


def _stock_of_inputs(inputs: list[Element]) -> str | None:
    """Return the availability in an input before the buy button or in its place: "Pre-order now"."""
    for _, caption in _short_captions(inputs):
        stock = "OutOfStock" if SOON(caption) else availability_of_text(caption)
        if stock not in {None, "InStock"}:
            return stock
        if buys_in_short(caption):
            return None
    return None


def _say_to_buy(inputs: list[Element]) -> bool:
    """Whether the caption of an input is a whole phrase that buys."""
    return any(buys(caption_of(element)) for element in inputs)


def caption_of(element: Element) -> str:
    """Return the caption of a button; '' for a field in which a visitor writes."""
    kind = (element.get("type") or "").lower()
    if kind not in _PRESSABLE:
        return ""
    text = element.get("value") or element.get("alt") or element.get("title") or ""
    if not text and kind == "image" and _SHOWS_CART((element.get("src") or "")[:MAX_TEXT_LENGTH]):
        return _CART_CAPTION
    return text[:MAX_TEXT_LENGTH]


def _short_captions(inputs: list[Element]) -> Iterator[tuple[Element, str]]:
    """Yield each button with a caption of a word or two."""
    for element in inputs:
        caption = caption_of(element)
        if caption and len(caption) < _MAX_CAPTION:
            yield element, caption


def _first_is_sold_out(inputs: list[Element]) -> bool:
    """Whether the first input about buying or the stock is disabled and says "sold out".

    The inputs behind it then belong to the tiles of other products.
    """
    for element, caption in _short_captions(inputs):
        if buys_in_short(caption):
            return False
        if availability_of_text(caption) in UNAVAILABLE:
            return element.get("disabled") is not None
    return False


def is_disabled(element: Element) -> bool:
    """Whether an element is in a button that nobody can press."""
    box = element
    for _ in range(4):
        if box is None:
            break
        if box.tag == "button":
            return box.get("disabled") is not None
        box = box.getparent()
    return False
