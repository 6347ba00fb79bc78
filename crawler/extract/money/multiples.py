"""Words after an amount that multiply it: `₹ 1.25 Lakh`, `189.8万円`, `28,5 triệu`, `50 тыс.`."""

from __future__ import annotations

_TEN_THOUSAND, _LAKH, _MILLION, _CRORE, _MYRIADS, _BILLION = (
    10**4, 10**5, 10**6, 10**7, 10**8, 10**9,
)  # fmt: skip
_FACTORS = {
    "lakh": _LAKH, "lakhs": _LAKH, "lac": _LAKH, "lacs": _LAKH, "crore": _CRORE, "crores": _CRORE,
    "triệu": _MILLION, "tỷ": _BILLION, "nghìn": 1000, "ngàn": 1000, "juta": _MILLION,
    "ribu": 1000, "万": _TEN_THOUSAND, "萬": _TEN_THOUSAND, "만": _TEN_THOUSAND, "億": _MYRIADS,
    "亿": _MYRIADS, "тыс": 1000, "млн": _MILLION, "میلیون": _MILLION, "هزار": 1000,
    "mln": _MILLION, "mio": _MILLION, "k": 1000,
}  # fmt: skip
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


def _longest_word(following: str, word_start: int, place: int) -> tuple[int, int, str | None]:
    for length in range(min(_MAX_WORD_LENGTH, len(following)), 0, -1):
        word = following[:length]
        if word not in _FACTORS:
            continue
        next_char = following[length : length + 1]
        if (length > 1 or word == "k") and next_char.isalnum():
            continue  # another word begins with these letters
        has_stop = next_char == "." and length < _MAX_WORD_LENGTH
        return _FACTORS[word], word_start + length + has_stop, _CURRENCIES.get(word)
    return 1, place, None
