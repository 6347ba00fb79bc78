"""Recognise a price right above the heading, as some designs have it."""

from __future__ import annotations

import re

from crawler.extract.page import class_words
from crawler.extract.page.page import Element, holds_digit, short_text
from crawler.extract.price.words_beside import CALLS_PRICE

_PRICE = re.compile(class_words.PRICE).search
_NAMES_PRICE = class_words.by_shape(lambda words: _PRICE(words) is not None)
#: Characters of a box with an amount or two.
_MAX_LENGTH = 60
#: Parts of a box that is labelled: the price, the one before, the saving.
_MAX_PARTS = 3


def priced_above(heading: Element | None) -> bool:
    """Whether the box before a heading is named or labelled as one for prices and holds a figure."""
    box = None if heading is None else heading.getprevious()
    if box is None:
        return False
    if _NAMES_PRICE[box.get("class") or ""] or _NAMES_PRICE[box.tag]:
        return holds_digit(short_text(box, _MAX_LENGTH))
    if len(box) > _MAX_PARTS:
        return False
    label, _, amount = short_text(box, _MAX_LENGTH).partition(":")
    return amount != "" and holds_digit(amount) and CALLS_PRICE(label) is not None
