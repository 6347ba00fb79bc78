"""Short words for a currency that mean something else elsewhere: `LE 79` in Egypt, `350 SR`, `Q 250`.

They count in their own country, and in a text that holds nothing but one of them and an amount.
"""

from __future__ import annotations

import re
from functools import cache

from crawler.extract import lazy_patterns

#: By currency: its words. What has a small letter or a stop is written so.
_WORDS: dict[str, tuple[str, ...]] = {
    "EGP": ("LE", "L.E.", "L.E", "EGP", "ج"), "BDT": ("Tk", "Tk.", "TK", "BDT"),
    "QAR": ("QR", "Q.R."), "SAR": ("SR", "S.R."), "BHD": ("BD", "B.D."), "JOD": ("JD", "J.D."),
    "DZD": ("DA", "DZD"), "OMR": ("RO", "R.O.", "OMR"), "LBP": ("LL", "L.L.", "LBP"),
    "IQD": ("IQD", "ID"), "GTQ": ("Q", "Q.", "GTQ"), "HNL": ("L", "L.", "Lps.", "Lps", "HNL"),
    "BOB": ("Bs", "BOB"), "NIO": ("C$", "NIO"), "PAB": ("B/.", "PAB"), "CRC": ("C",),
    "TZS": ("TZS", "Tsh"), "UGX": ("UGX", "Ush"), "GHS": ("GHC", "GH¢"), "MDL": ("MDL",),
    "ALL": ("ALL", "L", "Lekë", "lekë", "Lek"), "AMD": ("AMD", "դր"), "XOF": ("F", "XOF"),
    "XAF": ("F", "FCFA", "XAF"), "TND": ("DT", "TND"), "MAD": ("DHS", "Dhs"), "UZS": ("UZS",),
    "MKD": ("MKD",), "MMK": ("Ks", "MMK"), "PYG": ("Gs.", "Gs"),
}  # fmt: skip
#: Those with which nothing but a price is written, in any country.
_TELLING = {
    "LE": "EGP", "L.E.": "EGP", "L.E": "EGP", "Tk": "BDT", "Tk.": "BDT", "QR": "QAR", "Q.R.": "QAR",
    "S.R.": "SAR", "B.D.": "BHD", "J.D.": "JOD", "R.O.": "OMR", "L.L.": "LBP", "Lps.": "HNL",
    "Gs.": "PYG",
}  # fmt: skip
#: Those that tell a price in an element which is called one.
_MARKED = {
    **_TELLING, "TK": "BDT", "SR": "SAR", "BD": "BHD", "JD": "JOD", "DA": "DZD", "RO": "OMR",
    "LL": "LBP", "Q": "GTQ", "DT": "TND", "Bs": "BOB",
}  # fmt: skip
_LONE = lazy_patterns.pattern(
    r"(?P<before>[A-Z][A-Za-z./]{0,3})?[:\s]{0,2}(?P<amount>\d[\d.,'\s]{0,15})(?:/-)?"
    r"\s?(?P<after>[A-Z][A-Za-z./]{0,3})?"
)
_BEGIN = frozenset(word[0] for word in _TELLING)
_END = frozenset(word[-1] for word in _TELLING)
#: Characters around an amount in which a word is looked for.
_REACH = 8
#: What is longer is more than a word and an amount.
_LONGEST = 24


def beside(text: str, start: int, end: int, local: str | None) -> tuple[str, int, int] | None:
    """The currency of the page's country whose word stands beside an amount, and where both end.

    >>> beside("only LE 79 now", 8, 10, "EGP"), beside("only LE 79 now", 8, 10, "EUR")
    (('EGP', 5, 10), None)
    """
    if local not in _WORDS:
        return None
    before, after = _rules(local)
    if found := before.search(text, max(0, start - _REACH), start):
        return local, found.start(), end
    if found := after.match(text, end, end + _REACH):
        return local, start, found.end()
    return None


@cache
def _rules(currency: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = "|".join(map(re.escape, sorted(_WORDS[currency], key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{words})[:\s]{{0,2}}\Z"), re.compile(rf"\s?(?:{words})(?!\w)")


def alone(text: str, *, marked: bool) -> tuple[str, int, int] | None:
    """The currency of a text that is a word for one and an amount, and where the amount stands.

    In an element that is *marked* as a price, more words are read.

    >>> alone("LE 79", marked=False), alone("350 SR", marked=True), alone("SR 350", marked=False)
    (('EGP', 3, 5), ('SAR', 0, 3), None)
    """
    if len(text) > _LONGEST or not (marked or text[:1] in _BEGIN or text[-1:] in _END):
        return None
    found = _LONE.fullmatch(text)
    if found is None or (found["before"] and found["after"]):
        return None
    word = found["before"] or found["after"]
    code = (_MARKED if marked else _TELLING).get(word) if word else None
    if code is None:
        return None
    return code, found.start("amount"), found.start("amount") + len(found["amount"].rstrip())


def of_word(text: str) -> str | None:
    """The currency of a word with which nothing but a price is written, where it is marked as one."""
    return _MARKED.get(text)
