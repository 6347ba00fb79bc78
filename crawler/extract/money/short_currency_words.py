"""Short words for a currency that have other meanings too: `LE 79` in Egypt, `350 SR`, `Q 250`.

They are read in their own country, and in a text that is nothing but such a word and an amount.
"""

from __future__ import annotations

import re
from functools import cache

from crawler.extract import lazy_patterns
from crawler.extract.money.currencies import CODES

#: Words of each currency, in the case and with the full stops in which shops write them.
_WORDS: dict[str, tuple[str, ...]] = {
    "EGP": ("LE", "L.E.", "L.E", "EGP", "ج"), "BDT": ("Tk", "Tk.", "TK", "tk", "BDT"),
    "QAR": ("QR", "Q.R."), "SAR": ("SR", "S.R."), "BHD": ("BD", "B.D.", "دينار"), "JOD": ("JD", "J.D.", "دينار"),
    "DZD": ("DA", "DZD", "دينار"), "KWD": ("دينار",), "OMR": ("RO", "R.O.", "OMR"), "LBP": ("LL", "L.L.", "LBP"),
    "IQD": ("IQD", "ID", "دينار"), "GTQ": ("Q", "Q.", "GTQ"), "HNL": ("L", "L.", "Lps.", "Lps", "HNL"),
    "BOB": ("Bs", "BOB"), "NIO": ("NIO",), "PAB": ("B/.", "PAB"), "CRC": ("C",),
    "TZS": ("TZS", "Tsh"), "UGX": ("UGX", "Ush"), "GHS": ("GHC", "GH¢"), "MDL": ("MDL",),
    "ALL": ("ALL", "L", "Lekë", "lekë", "Lek"), "AMD": ("AMD", "դր"), "XOF": ("F CFA", "F", "XOF"),
    "XAF": ("F CFA", "F", "XAF"), "TND": ("DT", "TND", "دينار"), "MAD": ("DHS", "Dhs"), "UZS": ("UZS",),
    "MKD": ("MKD",), "MMK": ("Ks", "MMK"), "PYG": ("Gs.", "Gs"), "VES": ("Bs", "BsS", "VES"), "BWP": ("P", "BWP"),
    "ZMW": ("K", "ZMW"), "PGK": ("K", "PGK"), "MGA": ("Ar", "MGA"), "MVR": ("MVR", "Rf", "Rf."),
    "RWF": ("RWF", "Frw", "FRw"), "AOA": ("Kz", "AOA"), "MZN": ("MT", "MZN"), "LYD": ("LD", "د.ل", "LYD", "دينار"),
    "YER": ("ر.ي", "YER"), "NGN": ("N",), "CHF": ("fr.",), "NAD": ("NAD",), "FJD": ("FJD",), "ETB": ("ETB",),
}  # fmt: skip
#: Signs in another case or without their accents, alone beside an amount: `54 900 FT`, `99 zl`.
_CASES: dict[str, frozenset[str]] = {
    "HUF": frozenset(("FT", "ft")), "CZK": frozenset(("Kc", "KC", "kč")),
    "PLN": frozenset(("zl", "Zl", "ZL", "Zł")), "TRY": frozenset(("tl",)),
    **dict.fromkeys(("SEK", "NOK", "DKK"), frozenset(("KR",))), "IDR": frozenset(("RP", "rp")),
    **dict.fromkeys(("INR", "PKR"), frozenset(("RS", "rs"))), "VND": frozenset(("vnđ", "vnd")),
    "THB": frozenset(("Baht", "baht")), "RSD": frozenset(("DIN",)),
    "BGN": frozenset(("ЛВ", "Лв")), "AED": frozenset(("DHS", "dhs")),
}  # fmt: skip
#: Words that stand beside prices only, in any country.
_SURE_WORDS = {
    "LE": "EGP", "L.E.": "EGP", "L.E": "EGP", "Tk": "BDT", "Tk.": "BDT", "QR": "QAR", "Q.R.": "QAR",
    "S.R.": "SAR", "B.D.": "BHD", "J.D.": "JOD", "R.O.": "OMR", "L.L.": "LBP", "Lps.": "HNL",
    "Gs.": "PYG",
}  # fmt: skip
#: Words that are read in an element which is marked as a price.
_MARKED_WORDS = {
    **_SURE_WORDS, "TK": "BDT", "SR": "SAR", "BD": "BHD", "JD": "JOD", "DA": "DZD", "RO": "OMR",
    "LL": "LBP", "Q": "GTQ", "DT": "TND", "Bs": "BOB", "B/.": "PAB", "KShs": "KES", "Nu.": "BTN",
    "Zł": "PLN", "ZŁ": "PLN", "zl": "PLN", "Zl": "PLN", "kn": "HRK", "hrn": "UAH", "nis": "ILS",
    "yen": "JPY", "lari": "GEL", "Lek": "ALL", "R": "ZAR",
}  # fmt: skip
_WORD_AND_AMOUNT = lazy_patterns.pattern(
    r"(?P<before>[^\W\d_](?:[^\W\d_]|[./]){0,3})?[:\s]{0,2}(?P<amount>\d[\d.,'\s]{0,15})(?:/-)?"
    r"\s?(?P<after>[^\W\d_](?:[^\W\d_]|[./]){0,3})?"
)
_INITIALS = frozenset(word[0] for word in _SURE_WORDS)
_FINALS = frozenset(word[-1] for word in _SURE_WORDS)
#: Characters around an amount that are searched for a word.
_REACH = 8
#: Characters of the longest text of a word and an amount.
_MAX_LENGTH = 24


def word_beside(text: str, start: int, end: int, local: str | None) -> tuple[str, int, int] | None:
    """Return the local currency where its word is beside an amount, and the place of both.

    >>> word_beside("only LE 79 now", 8, 10, "EGP"), word_beside("only LE 79 now", 8, 10, "EUR")
    (('EGP', 5, 10), None)
    """
    if local not in _WORDS:
        return _case_beside(text, start, end, local) if local in _CASES else None
    before, after = _rules(local)
    if match := before.search(text, max(0, start - _REACH), start):
        return local, match.start(), end
    if match := after.match(text, end, end + _REACH):
        return local, start, match.end()
    return None


def _case_beside(text: str, start: int, end: int, local: str) -> tuple[str, int, int] | None:
    """Return the currency of a word right behind or before an amount, and the place of both.

    Words or numbers beside the two make the word a part of a name or a measure: `RS 232 cable`,
    `Table 6 FT`.
    """
    if len(text) > _MAX_LENGTH:
        return None
    words = _CASES[local]
    before, behind = text[:start].strip(), text[end:].strip()
    if before.rstrip(".: ") in words and not any(map(str.isalnum, behind)):
        return local, text.index(before[0]), end
    if behind.rstrip(".,") in words and not any(map(str.isalnum, before)):
        return local, start, text.index(behind, end) + len(behind.rstrip(".,"))
    return None


@cache
def _rules(currency: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = "|".join(map(re.escape, sorted(_WORDS[currency], key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{words})[:\s]{{0,2}}\Z"), re.compile(rf"\s?(?:{words})(?!\w)")


def lone_price(text: str, *, marked: bool) -> tuple[str, int, int] | None:
    """Return the currency of a text that is a word and an amount, and the amount's place.

    In an element that is *marked* as a price, more words are read.

    >>> lone_price("LE 79", marked=False), lone_price("350 SR", marked=True), lone_price("SR 350", marked=False)
    (('EGP', 3, 5), ('SAR', 0, 3), None)
    """
    if len(text) > _MAX_LENGTH or not (marked or text[:1] in _INITIALS or text[-1:] in _FINALS):
        return None
    match = _WORD_AND_AMOUNT.fullmatch(text)
    if match is None or (match["before"] and match["after"]):
        return None
    word = match["before"] or match["after"]
    if not word:
        return None
    code = currency_of_word(word) if marked else _SURE_WORDS.get(word)
    if code is None:
        return None
    return code, match.start("amount"), match.start("amount") + len(match["amount"].rstrip())


def currency_of_word(text: str) -> str | None:
    """Return the currency of a word that stands in an element which is marked as a price.

    >>> currency_of_word("SR"), currency_of_word("pln"), currency_of_word("Lamp")
    ('SAR', 'PLN', None)
    """
    code = text.upper()
    return _MARKED_WORDS.get(text) or (code if code in CODES else None)
