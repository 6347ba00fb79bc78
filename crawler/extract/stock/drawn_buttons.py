"""Read buttons that are pictures, whose caption is only the picture's alternative text."""

from __future__ import annotations

from itertools import islice

from crawler.extract.page.page import MAX_TEXT_LENGTH, Element, Page
from crawler.extract.stock.availability import buys_in_short
from crawler.extract.visible_signs import Visible

#: Pictures of a page that are read, and characters of a button's caption.
_MAX_PICTURES, _MAX_CAPTION = 200, 40


def take_picture_buttons(page: Page, signs: Visible) -> None:
    """Take one picture button, or two side by side, as the product's; tiles have several."""
    buttons = _picture_buttons(page)
    if len(buttons) == 1 or (
        len(buttons) == 2 and buttons[0].getparent() is buttons[1].getparent()
    ):
        signs.buy_buttons, signs.fields["availability"] = 1, "InStock"


def _picture_buttons(page: Page) -> list[Element]:
    """Return the links and buttons that hold just a picture with the caption of a buy button."""
    buttons = []
    for picture in islice(page.root.iter("img"), _MAX_PICTURES):
        caption = (picture.get("alt") or "")[:MAX_TEXT_LENGTH].strip()
        button = picture.getparent()
        if (
            not 1 < len(caption) < _MAX_CAPTION
            or button.tag not in {"a", "button"}
            or len(button) != 1
        ):
            continue
        holds_only = not (button.text or "").strip() and not (picture.tail or "").strip()
        if holds_only and buys_in_short(caption):
            buttons.append(button)
    return buttons
