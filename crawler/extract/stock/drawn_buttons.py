"""Read buttons and signs that are pictures, whose words are only in attributes."""

from __future__ import annotations

from itertools import islice

from crawler.extract.page.page import MAX_TEXT_LENGTH, Element, Page, short_text
from crawler.extract.stock.availability import UNAVAILABLE, availability_of_text, buys_in_short
from crawler.extract.stock.behind_price import SOLD
from crawler.extract.visible_signs import Visible

#: Pictures of a page that are read, links and buttons, and characters of a button's caption.
_MAX_PICTURES, _MAX_LINKS, _MAX_CAPTION = 200, 2000, 40


def take_picture_buttons(page: Page, signs: Visible) -> None:
    """Take one picture button, or two side by side, as the product's; tiles have several.

    A page without one may have a picture that says "sold out" in its place.
    """
    captions = _captions(page)
    buttons = [b for c in captions if (b := _picture_button(*c)) is not None] or [
        element
        for element in islice(page.root.iter("a", "button"), _MAX_LINKS)
        if buys_in_short(_attribute_caption(element)) and not short_text(element)
    ]
    if len(buttons) == 1 or (
        len(buttons) == 2 and buttons[0].getparent() is buttons[1].getparent()
    ):
        signs.buy_buttons, signs.fields["availability"] = 1, "InStock"
    elif not buttons and sum(_is_sold_sign(*caption) for caption in captions) == 1:
        signs.fields["availability"] = "OutOfStock"


def _captions(page: Page) -> list[tuple[str, Element]]:
    """Return the pictures with a short alternative text, behind that text."""
    pictures = islice(page.root.iter("img"), _MAX_PICTURES)
    captions = (((p.get("alt") or "")[:MAX_TEXT_LENGTH].strip(), p) for p in pictures)
    return [caption for caption in captions if 1 < len(caption[0]) < _MAX_CAPTION]


def _picture_button(caption: str, picture: Element) -> Element | None:
    """Return the link or button that holds just a picture with the caption of a buy button.

    A picture that a script watches is a button by itself: `<img onclick="add()" alt="Add to cart">`.
    """
    button = picture.getparent()
    is_button = button.tag in {"a", "button"} or picture.get("onclick") is not None
    if not is_button or len(button) != 1:
        return None
    holds_only = not (button.text or "").strip() and not (picture.tail or "").strip()
    return button if holds_only and buys_in_short(caption) else None


def _attribute_caption(element: Element) -> str:
    """Return the words for a button that a style or a script draws: `<a title="Add to cart">`."""
    if element.get("disabled") is not None:
        return ""
    caption = element.get("aria-label") or element.get("title") or ""
    return caption if len(caption) < _MAX_CAPTION else ""


def _is_sold_sign(caption: str, picture: Element) -> bool:
    """Whether a picture says that the product is sold, in a box without text and links."""
    if not SOLD(caption) and availability_of_text(caption) not in UNAVAILABLE:
        return False
    box = picture.getparent()
    is_alone = next(box.iter("a"), None) is None and not short_text(box)
    return is_alone and box.getparent().tag != "a"
