"""The number below a barcode (GTIN, EAN, UPC, ISBN): its figures, length and check digit.

Source: GS1 General Specifications, section 7.9.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import digits as figures

from crawler.extract import lazy_patterns

_LENGTHS = frozenset({8, 12, 13, 14})
#: Figures of a book's number before the year 2007; the last one may be an X.
_ISBN_10 = 10
#: Lengths that other numbers seldom have.
_BARCODE_LENGTHS = frozenset({13, 14})
#: A prefix as of `isbn:978…`, and the separators of groups of figures.
_PREFIX = lazy_patterns.pattern(r"^[a-z]+\d{0,2}:|[\s-]", re.I)
#: The name of a code before its figures: `ISBN Number: ISBN 978…`.
_CODE_NAME = lazy_patterns.pattern(r"^(?:isbn|ean|gtin|upc)[-\s:\d]{0,3}?\s", re.I)


def gtin(text: str | None, *, may_be_isbn: bool = True) -> str | None:
    """Return the digits of a GTIN; None where the text is no GTIN. The check digit is not tested.

    An ISBN of ten figures is returned as the GTIN of its book, unless the text is known to be no
    ISBN: of a shop's own numbers one in eleven has such a check digit.

    >>> gtin("978-3-16-148410-0"), gtin("isbn:9783161484100"), gtin("n/a"), gtin("4006381²")
    ('9783161484100', '9783161484100', None, None)
    >>> gtin("3-16-148410-X"), gtin("3-16-148410-1"), gtin("316148410X", may_be_isbn=False)
    ('9783161484100', None, None)
    """
    if text is None:
        return None
    digits = _PREFIX.sub("", text)
    if not digits.strip("0"):
        return None  # a template's gap, which all products of a shop may have
    if len(digits) == _ISBN_10 and may_be_isbn:
        return _gtin_of_isbn(digits)
    return digits if digits.isdecimal() and len(digits) in _LENGTHS else None


def _gtin_of_isbn(isbn: str) -> str | None:
    """Return the GTIN of a book's ten figures, None if their check digit is another one's."""
    body, last = isbn[:-1], isbn[-1].upper()
    if not (body.isascii() and body.isdecimal() and (last == "X" or last in figures)):
        return None
    total = sum(weight * int(digit) for weight, digit in zip(range(10, 1, -1), body, strict=True))
    if (total + (10 if last == "X" else int(last))) % 11:
        return None
    book = f"978{body}"
    return next(f"{book}{digit}" for digit in figures if has_check_digit(f"{book}{digit}"))


def first_valid(texts: Iterable[str | None]) -> str | None:
    """Return the first GTIN with its check digit, else the first of any.

    >>> first_valid(["4006381333932", None, "4006381333931"]), first_valid(["n/a"])
    ('4006381333931', None)
    """
    codes = [code for code in map(gtin, texts) if code]
    if len(codes) > 1:
        return next(filter(has_check_digit, codes), codes[0])
    return codes[0] if codes else None


def named_gtin(text: str) -> str | None:
    """Return the digits of a GTIN that may stand behind its code's name: `EAN 4006381333931`."""
    return gtin(text) or gtin(_CODE_NAME.sub("", text, count=1))


def has_check_digit(digits: str) -> bool:
    """Return whether the last digit of a GTIN is the check digit of the others.

    >>> has_check_digit("4006381333931"), has_check_digit("400638133393")
    (True, False)
    """
    return (sum(map(int, digits[-1::-2])) + 3 * sum(map(int, digits[-2::-2]))) % 10 == 0


def checked_gtin(text: str) -> str | None:
    """Return the digits of a GTIN with a valid check digit, else None.

    >>> checked_gtin("4 006381 333931"), checked_gtin("4006381333932"), checked_gtin("00000000")
    ('4006381333931', None, None)
    """
    digits = re.sub(r"[\s-]", "", text)
    if len(digits) not in _LENGTHS or not (digits.isascii() and digits.isdigit()):
        return None
    return digits if int(digits) and has_check_digit(digits) else None


def is_barcode(text: str) -> bool:
    """Return whether a text is 13 or 14 figures with a valid check digit."""
    return len(text) in _BARCODE_LENGTHS and gtin(text) == text and has_check_digit(text)
