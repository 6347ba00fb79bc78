"""Remarks behind a price in its line about the stock: `€ 650 — sold`."""

from __future__ import annotations

from crawler.extract import lazy_patterns
from crawler.extract.stock.availability import availability_of_text
from crawler.extract.words import alone_of

#: What stands where the price was.
SOLD = alone_of("stock", "sold")
#: What divides the remarks of a line, an amount among them.
_DIVIDED = lazy_patterns.pattern(
    r"\s[-–—]+\s|[,;:.!|/()\[\]、。　～](?:\s|$)|\s?[(\[（【]|\d[.,]\d\d"
)
_LETTERS = lazy_patterns.pattern(r"[^\W\d_]{2}")
_LONGEST, _SHORT = 120, 40


def sold_in(text: str) -> bool:
    """Whether the last sentence of a short text is no more than "sold".

    >>> sold_in("Époque Charles X. VENDUE"), sold_in("Things that are sold")
    (True, False)
    """
    return len(text) <= _LONGEST and SOLD(text.rpartition(". ")[2]) is not None


def told_by_price(text: str, end: int) -> str | None:
    """What a short remark behind the amount that ends at *end* says of the stock, and nothing else.

    >>> told_by_price("€ 650 — Sold, thank you", 5), told_by_price("€ 650 (more than 100 sold)", 5)
    ('OutOfStock', None)
    >>> told_by_price("now € 89 instead of € 110, 2 pieces in stock", 8)
    'InStock'
    """
    behind = text[end : end + _LONGEST]
    if not _LETTERS.search(behind):
        return None
    for part in map(str.strip, _DIVIDED.split(behind)):
        if not part or len(part) > _SHORT:
            continue
        if SOLD(part):
            return "OutOfStock"
        if (told := availability_of_text(part)) is not None:
            return told
    return None
