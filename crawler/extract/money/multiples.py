"""Words after an amount that multiply it: `₹ 1.25 Lakh`, `189.8万円`, `28,5 triệu`, `50 тыс.`."""

from __future__ import annotations

import re
from decimal import Decimal

_TEN_THOUSAND, _LAKH, _MILLION, _CRORE, _MYRIADS, _BILLION = (
    10**4, 10**5, 10**6, 10**7, 10**8, 10**9,
)  # fmt: skip
_FACTORS = {
    "lakh": _LAKH, "lakhs": _LAKH, "lac": _LAKH, "lacs": _LAKH, "crore": _CRORE, "crores": _CRORE,
    "triệu": _MILLION, "tỷ": _BILLION, "nghìn": 1000, "ngàn": 1000, "juta": _MILLION,
    "ribu": 1000, "万": _TEN_THOUSAND, "萬": _TEN_THOUSAND, "만": _TEN_THOUSAND, "億": _MYRIADS,
    "亿": _MYRIADS, "тыс": 1000, "млн": _MILLION, "میلیون": _MILLION, "هزار": 1000,
    "mln": _MILLION, "mio": _MILLION, "k": 1000, "千": 1000, "천": 1000,
}  # fmt: skip
#: Words between the parts of one number in East Asia: `1万5000円`, `3만 5천원`.
_PARTS = frozenset("万萬만億亿억")
_HIGHER_PART = re.compile(r"(?<![\d.,])(\d{1,3}(?:,\d{3}|\d)?)\s?([万萬만億亿억])\s?\Z").search
_MAX_PARTS, _PART_REACH = 2, 12
#: What follows a multiple of one sign without a blank: a lower part, and the begin of a currency.
_BEHIND_SIGN = frozenset("0123456789円元圆圓원块塊日美港台人韩韓")
#: Currencies that these words stand for where no sign does.
_CURRENCIES = {"triệu": "VND", "tỷ": "VND", "nghìn": "VND", "ngàn": "VND", "k": "VND"}
_INITIALS = frozenset(initial for word in _FACTORS for initial in (word[0], word[0].upper()))
_MAX_WORD_LENGTH = max(map(len, _FACTORS))
_KARATS = frozenset({" k", " K"})
_BLANKS = frozenset(" \u00a0\u202f")


def factor_behind(text: str, place: int) -> tuple[int, int, str | None]:
    """Return the factor of the word after an amount that ends at *place*, 1 without such a word.

    Also returned are the word's end, and the currency that the word stands for.

    >>> factor_behind("1.25 Lakh", 4), factor_behind("189.8万円", 5), factor_behind("12 lamps", 2)
    ((100000, 9, None), (10000, 6, None), (1, 2, None))
    """
    word_start = place + 1 if text[place : place + 1] in _BLANKS else place
    if text[word_start : word_start + 1] not in _INITIALS or text[place : place + 2] in _KARATS:
        return 1, place, None
    return _longest_word(
        text[word_start : word_start + _MAX_WORD_LENGTH + 1].lower(), word_start, place
    )


def with_higher_part(text: str, place: int, value: Decimal, start: int) -> tuple[Decimal, int]:
    """Return an amount whose figures begin at *place* with its part of ten thousands before them.

    Also returned is the amount's start in the text, which is *start* without such a part.

    >>> with_higher_part("約1万5000円", 3, Decimal(5000), 3), with_higher_part("送料 500円", 3, Decimal(500), 3)
    ((Decimal('15000'), 1), (Decimal('500'), 3))
    """
    for _ in range(_MAX_PARTS):
        if place < 1 or _PARTS.isdisjoint(text[max(0, place - 2) : place]):
            break
        part = _HIGHER_PART(text, max(0, place - _PART_REACH), place)
        if part is None or value >= _FACTORS[part[2]]:
            break
        value += Decimal(part[1].replace(",", "")) * _FACTORS[part[2]]
        start = place = part.start()
    return value, start


def _longest_word(following: str, word_start: int, place: int) -> tuple[int, int, str | None]:
    for length in range(min(_MAX_WORD_LENGTH, len(following)), 0, -1):
        word = following[:length]
        if word not in _FACTORS:
            continue
        next_char = following[length : length + 1]
        if next_char.isalnum() and (length > 1 or word == "k" or next_char not in _BEHIND_SIGN):
            continue  # another word begins with these letters: ₩12,000 천연, ¥3,000 万年筆
        has_stop = next_char == "." and length < _MAX_WORD_LENGTH
        return _FACTORS[word], word_start + length + has_stop, _CURRENCIES.get(word)
    return 1, place, None
