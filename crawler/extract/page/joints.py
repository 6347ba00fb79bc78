"""How two parts of a line join, by the end of the first part and the beginning of the second."""

from __future__ import annotations

import re

from crawler.extract.money.currencies import is_currency
from crawler.extract.page.page import Element
from crawler.extract.words import CachedRule

two_digits = re.compile(r"\d\d(?!\d|[.,]\d)").match
#: An amount that the next box may continue: `€ 1.119`, `119.99`.
is_open_amount = re.compile(r"\D{0,3}\d[\d., ]{0,12}").fullmatch
#: An amount without cents: `119`, `1,119`.
is_whole = re.compile(r"\d{1,12}|\d{1,3}(?:[.,]\d{3}){1,4}").fullmatch
#: An amount with its cents: a part that begins with a digit behind it is another number.
has_cents = re.compile(r"\d[.,]\d\d\Z").search
#: A word and a year or a long number, which is no amount without its cents: `Paris, 2022`.
ends_in_number = re.compile(r"[^\W\d_]{3}\D{0,20}(?:(?:19|20)\d\d|\d{5,12})\Z").search
#: A word, complete or cut off, but no code in capitals; or one behind an amount: `19 € HT`, `MwSt.`;
#: or a box's one short word: `od`.
ends_in_small_word = re.compile(
    r"[^\W\d_]{3}(?<=[^\W\d_A-Z])\Z|[€£$] [A-Z]{2,3}\Z|[a-z]\.\Z|\A\s*[^\W\d_][^\W\d_A-Z]\Z"
).search
#: A decimal sign in a box of its own, with the markup's blanks around: `74 , 90`.
SPACED_SIGN = re.compile(r"(?<=\d)\s+([.,])\s*(?=\d\d(?!\d))")
#: A stroke in place of the cents: `499,-`.
ends_in_stroke = re.compile(r"\d[.,][-–—]\Z").search
#: Currency signs that shops write beside an amount.
SIGNS = frozenset("€£$¥₽₹₺₴₫₾֏₪₸฿৳₩₦₱₮₼円원元")
#: The fewest letters of a label and of its value.
_MIN_LETTERS = 3
#: Characters at a text's end that are searched for a currency's word, and for a word and a figure.
_MAX_CURRENCY_LENGTH, _MAX_COUNT_LENGTH = 10, 20
_CENTS = re.compile(r"cent|decimal|fraction|dezimal|minor|penny|kuru")
_ARE_CENTS = CachedRule(lambda words: _CENTS.search(words.lower()) is not None)
_HEADINGS = frozenset({"h1", "h2", "h3"})
_ENDS_IN_WORD = re.compile(r"\d\s?([^\W\d_]{1,6}(?:\.[^\W\d_]{1,2})?\.?)\Z").search
_ENDS_IN_COUNT = re.compile(r"([^\W\d_]{1,12})\.?\s\d{1,3}\Z").search


def ends_in_currency(text: str) -> bool:
    """Whether a text ends with an amount and a currency's word.

    >>> ends_in_currency("219,00 zł"), ends_in_currency("219 ر.س"), ends_in_currency("219,00 per")
    (True, True, False)
    """
    word = (
        _ENDS_IN_WORD(text[-_MAX_CURRENCY_LENGTH:])
        if text[-1].isalpha() or text[-1] == "."
        else None
    )
    return word is not None and is_currency(word[1])


def ends_in_count(text: str) -> bool:
    """Whether a text ends with a word and a figure, which is not the thousands of a next amount.

    >>> ends_in_count("from 1 "), ends_in_count("EUR 1 "), ends_in_count("1 ")
    (True, False, False)
    """
    word_match = _ENDS_IN_COUNT(text.rstrip()[-_MAX_COUNT_LENGTH:])
    return word_match is not None and not is_currency(word_match[1])


def is_priced(text: str) -> bool:
    """Whether a text ends with its currency, so that it does not continue a word before it.

    >>> is_priced("349 Kč"), is_priced("12,78 €"), is_priced("12-B")
    (True, True, False)
    """
    text = text.rstrip()
    return text[-1] in "€$£" or ends_in_currency(text)


def are_cents(element: Element) -> bool:
    """Whether an element's tag or class is one for cents."""
    return element.tag in {"sup", "sub", "small"} or _ARE_CENTS[element.get("class") or ""]


def before_cents(before: str, text: str) -> str:
    r"""Return the text before a box for cents, without the blank behind its units.

    >>> before_cents("38\n  ", "99"), before_cents("38 ", "20 pcs"), before_cents("From ", "99")
    ('38', '38 ', 'From ')
    """
    units = before.rstrip()
    return units if len(text) == 2 and two_digits(text) and units[-1].isdigit() else before


def box_joint(before: str, text: str, *, is_small: bool) -> str | None:
    """Return the text between an amount and its part in the next box; None if that is no part.

    *is_small* is true if the next box is for cents: `<div>119</div><div class="cents">99</div>`.

    >>> box_joint("119", ",99", is_small=False), box_joint("119", "99", is_small=True)
    ('', '.')
    >>> box_joint("119.99", "€", is_small=False), box_joint("119", "99", is_small=False)
    (' ', None)
    """
    if not is_open_amount(before):
        return None
    if text[0] in ".,":
        return "" if two_digits(text[1:]) else None
    if text in SIGNS:
        return " "
    return "." if is_small and two_digits(text) else None


def is_next_box(element: Element, before: Element) -> bool:
    """Whether an element is in the row of the box before it, or in a box of this row.

    `<b>119</b><div><span class="cents">99</span><span>€</span></div>`: two small boxes in one.
    """
    row, box = before.getparent(), element.getparent()
    return box is row or (box is not None and box.getparent() is row)


def is_value(element: Element, text: str, before: str) -> bool:
    """Whether a text begins the second box of a row of two, and the first box is its label.

    `<span>Availability</span><span>not in stock</span>`: only styles separate label and value.
    """
    if not (before[-1].isalpha() and len(before) >= _MIN_LETTERS <= len(text)):
        return False
    row, label = element.getparent(), element.getprevious()
    if row is None or label is None or row.tag in _HEADINGS:
        return False
    if label.getprevious() is not None or element.getnext() is not None:
        return False  # because `len(row)` would count all boxes of the row for each box
    return label.tail is None and not (row.text or "").strip()
