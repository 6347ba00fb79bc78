"""Words behind an amount that multiply it: `₹ 1.25 Lakh`, `189.8万円`, `28,5 triệu`, `50 тыс. руб.`."""

from __future__ import annotations

_TEN_THOUSAND, _LAKH, _MILLION, _CRORE, _MYRIADS, _BILLION = (
    10**4, 10**5, 10**6, 10**7, 10**8, 10**9,
)  # fmt: skip
_TIMES = {
    "lakh": _LAKH, "lakhs": _LAKH, "lac": _LAKH, "lacs": _LAKH, "crore": _CRORE, "crores": _CRORE,
    "triệu": _MILLION, "tỷ": _BILLION, "nghìn": 1000, "ngàn": 1000, "juta": _MILLION,
    "ribu": 1000, "万": _TEN_THOUSAND, "萬": _TEN_THOUSAND, "만": _TEN_THOUSAND, "億": _MYRIADS,
    "亿": _MYRIADS, "тыс": 1000, "млн": _MILLION, "میلیون": _MILLION, "هزار": 1000,
    "mln": _MILLION, "mio": _MILLION, "k": 1000,
}  # fmt: skip
#: The words that stand for a currency as well where nothing else does.
_CURRENCIES = {"triệu": "VND", "tỷ": "VND", "nghìn": "VND", "ngàn": "VND", "k": "VND"}
_BEGIN = frozenset(first for word in _TIMES for first in (word[0], word[0].upper()))
_LONGEST = max(map(len, _TIMES))
_KARATS = frozenset({" k", " K"})
_BLANKS = frozenset(" \u00a0\u202f")


def behind(text: str, place: int) -> tuple[int, int, str | None]:
    """By how much a word behind the amount that ends at *place* multiplies it.

    With it come the place where the word ends, and the currency that it stands for.

    >>> behind("1.25 Lakh", 4), behind("189.8万円", 5), behind("12 lamps", 2)
    ((100000, 9, None), (10000, 6, None), (1, 2, None))
    """
    begin = place + 1 if text[place : place + 1] in _BLANKS else place
    if text[begin : begin + 1] not in _BEGIN or text[place : place + 2] in _KARATS:
        return 1, place, None
    return _read(text[begin : begin + _LONGEST + 1].lower(), begin, place)


def _read(ahead: str, begin: int, place: int) -> tuple[int, int, str | None]:
    for length in range(min(_LONGEST, len(ahead)), 0, -1):
        word = ahead[:length]
        if word not in _TIMES:
            continue
        after = ahead[length : length + 1]
        if (length > 1 or word == "k") and after.isalnum():
            continue  # the beginning of another word
        stop = after == "." and length < _LONGEST
        return _TIMES[word], begin + length + stop, _CURRENCIES.get(word)
    return 1, place, None
