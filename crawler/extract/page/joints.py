"""What stands at the end of one part of a line, and at the beginning of the next one's: where both join."""

from __future__ import annotations

import re

from crawler.extract.money.currencies import is_currency
from crawler.extract.page.page import Element

two_digits = re.compile(r"\d\d(?!\d|[.,]\d)").match
#: An amount that may go on in the next box: `€ 1.119`, `119.99`.
whole = re.compile(r"\D{0,3}\d[\d., ]{0,12}").fullmatch
#: An amount that is written out: what begins with a digit behind it is a number of its own.
has_cents = re.compile(r"\d[.,]\d\d\Z").search
#: A word and a year or a long number, which is no amount that waits for its cents: `Paris, 2022`.
ends_in_number = re.compile(r"[^\W\d_]{3}\D{0,20}(?:(?:19|20)\d\d|\d{5,12})\Z").search
#: A word, whole or cut off, and no code: these are in capitals. Behind an amount: `19 € HT`, `MwSt.`
ends_in_small = re.compile(r"[^\W\d_]{3}(?<=[^\W\d_A-Z])\Z|[€£$] [A-Z]{2,3}\Z|[a-z]\.\Z").search
#: A stroke for the cents: `499,-`.
ends_in_stroke = re.compile(r"\d[.,][-–—]\Z").search
#: Signs of currencies that stand beside an amount.
SIGNS = frozenset("€£$¥₽₹₺₴₫₾֏₪₸฿৳₩₦₱₮₼円원元")
#: The fewest letters of a label and of its value.
_SHORTEST = 3
#: Characters in which an amount ends with a currency's word, and in which a word and a figure do.
_WORD, _COUNT = 8, 20
_HEADINGS = frozenset({"h1", "h2", "h3"})
_ENDS_IN_WORD = re.compile(r"\d\s?([^\W\d_]{1,4}\.?)\Z").search
_ENDS_IN_COUNT = re.compile(r"([^\W\d_]{1,12})\.?\s\d{1,3}\Z").search


def ends_in_currency(text: str) -> bool:
    """Whether a text ends in an amount and a currency's word.

    >>> ends_in_currency("219,00 zł"), ends_in_currency("219,00 per")
    (True, False)
    """
    word = _ENDS_IN_WORD(text[-_WORD:]) if text[-1].isalpha() or text[-1] == "." else None
    return word is not None and is_currency(word[1])


def ends_in_count(text: str) -> bool:
    """Whether a text ends in a word and a figure, which is no thousand of an amount behind it.

    >>> ends_in_count("from 1 "), ends_in_count("EUR 1 "), ends_in_count("1 ")
    (True, False, False)
    """
    found = _ENDS_IN_COUNT(text.rstrip()[-_COUNT:])
    return found is not None and not is_currency(found[1])


def is_priced(text: str) -> bool:
    """Whether a text is an amount with its currency behind it: no word before it goes on in it.

    >>> is_priced("349 Kč"), is_priced("12,78 €"), is_priced("12-B")
    (True, True, False)
    """
    text = text.rstrip()
    return text[-1] in "€$£" or ends_in_currency(text)


def of_boxes(before: str, text: str, *, is_small: bool) -> str | None:
    """What stands between an amount in a box and its part in the next one; None: no part of it.

    *is_small* says that the next box is for cents: `<div>119</div><div class="cents">99</div>`.

    >>> of_boxes("119", ",99", is_small=False), of_boxes("119", "99", is_small=True)
    ('', '.')
    >>> of_boxes("119.99", "€", is_small=False), of_boxes("119", "99", is_small=False)
    (' ', None)
    """
    if not whole(before):
        return None
    if text[0] in ".,":
        return "" if two_digits(text[1:]) else None
    if text in SIGNS:
        return " "
    return "." if is_small and two_digits(text) else None


def is_value(element: Element, text: str, before: str) -> bool:
    """Whether a text is the second of the two boxes of a row, which the first one labels.

    `<span>Availability</span><span>not in stock</span>`: styles set them apart.
    """
    if not (before[-1].isalpha() and len(before) >= _SHORTEST <= len(text)):
        return False
    row, label = element.getparent(), element.getprevious()
    if row is None or label is None or row.tag in _HEADINGS:
        return False
    if label.getprevious() is not None or element.getnext() is not None:
        return False  # `len(row)` would count all boxes anew for each one
    own = element.text is not None and text in element.text
    return own and label.tail is None and not (row.text or "").strip()
