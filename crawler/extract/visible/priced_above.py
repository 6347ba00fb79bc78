"""Recognise a box for prices right above the heading, as some designs have it."""

from __future__ import annotations

import re

from crawler.extract.page import class_words
from crawler.extract.page.page import Element, holds_digit, short_text

_PRICE = re.compile(class_words.PRICE).search
_NAMES_PRICE = class_words.by_shape(lambda words: _PRICE(words) is not None)
#: Characters of a box with an amount or two.
_MAX_LENGTH = 60


def priced_above(heading: Element | None) -> bool:
    """Whether the box before a heading is named as one for prices and holds a figure."""
    box = None if heading is None else heading.getprevious()
    if box is None or not (_NAMES_PRICE[box.get("class") or ""] or _NAMES_PRICE[box.tag]):
        return False
    return holds_digit(short_text(box, _MAX_LENGTH))
