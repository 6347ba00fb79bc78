"""Find the one form that puts a thing into the cart, whatever the caption of its button is."""

from __future__ import annotations

import re
from itertools import islice

from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.stock.availability import NO_GOODS, UNAVAILABLE, availability_of_text

#: The bytes of a page with such a form, which are looked for first.
_SIGNS = (b"cart/add", b"add-to-cart", b"add_to_cart", b"addtocart")
#: The address of such a form, or the name of its button.
_PUTS_IN_CART = re.compile(r"cart/add|add[-_]?to[-_]?cart", re.I).search
_MAX_FORMS, _MAX_CONTROLS, _MAX_CAPTION = 40, 40, 40


def puts_in_cart(page: Page) -> bool:
    """Whether one form of the page puts a thing into the cart, by a button that can be pressed."""
    if not any(map(page.holds, _SIGNS)):
        return False
    buttons = [_button_of(form) for form in islice(page.root.iter("form"), _MAX_FORMS)]
    of_cart = [button for button in buttons if button is not None]
    return len(of_cart) == 1 and _can_press(of_cart[0])


def _button_of(form: Element) -> Element | None:
    """Return the button of a form that puts a thing into the cart; else None."""
    is_of_cart = _PUTS_IN_CART(form.get("action") or "") is not None
    for control in islice(form.iter("button", "input"), _MAX_CONTROLS):
        if control.get("type", "submit").lower() in {"submit", "image"} and (
            is_of_cart or _PUTS_IN_CART(control.get("name") or "")
        ):
            return control
    return None


def _can_press(button: Element) -> bool:
    caption = (button.get("value") if button.tag == "input" else None) or short_text(button)
    stock = availability_of_text(caption[:_MAX_CAPTION])
    sells_goods = stock not in UNAVAILABLE and NO_GOODS(caption[:_MAX_CAPTION]) is None
    return button.get("disabled") is None and sells_goods
