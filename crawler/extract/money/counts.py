"""Numbers of things: reviews, offers, pieces."""

from __future__ import annotations

import re
from typing import Any

from crawler.extract import lazy_patterns
from crawler.extract.money.amounts import APOSTROPHES, SPACES

#: A number of things, with its groups of digits; and a multiple behind it: 12k, 1,2 Tsd., 3 万.
_SEPARATORS = rf"[.,{APOSTROPHES}\u066b\u066c{SPACES}]"
_COUNTED = lazy_patterns.pattern(
    rf"(?<![-\u2212])\b(\d{{1,40}}(?:{_SEPARATORS}\d{{1,40}}){{0,9}})"
    rf"([{SPACES}]?(?:[千万萬億亿만천억]"
    r"|(?:k|m|mn|mi|mil|mill|mio|mln|tsd|tys|тыс|млн)(?![^\W\d_])))?",
    re.I,
)
_WHOLE = lazy_patterns.pattern(
    rf"(\d+|\d{{1,3}}(?:{_SEPARATORS}\d{{2,3}}){{0,8}}{_SEPARATORS}\d{{3}})(?:[.]0{{1,2}})?"
)
_NO_DIGIT = lazy_patterns.pattern(r"\D")
#: Digits up to which a number is read.
_MAX_DIGITS = 12
#: No product has as many reviews or offers.
_MAX_COUNT = 10**9


def count(value: Any) -> int | None:
    """Return a number of things; because it has no decimals, a separator groups thousands.

    None for a number with decimals, as a rating's, and for a rounded one, as "1.2k".

    >>> count("1.204"), count("(12 reviews)"), count(3.0), count("12.0")
    (1204, 12, 3, 12)
    >>> count("4.5"), count("12k"), count("1,2 Tsd. Bewertungen"), count("1.2万")
    (None, None, None, None)
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) if 0 <= value < _MAX_COUNT and value == int(value) else None
    text = str(value)
    if not text.isdecimal():
        match = _COUNTED.search(text)
        whole = _WHOLE.fullmatch(match[1]) if match and match[2] is None else None
        if whole is None:
            return None
        text = _NO_DIGIT.sub("", whole[1])
    number = int(text) if len(text) <= _MAX_DIGITS else _MAX_COUNT
    return number if number < _MAX_COUNT else None
