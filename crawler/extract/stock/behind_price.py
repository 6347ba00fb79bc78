"""Read remarks about the stock behind a price in its line, `€ 650 — sold`, or behind a label."""

from __future__ import annotations

import re

from crawler.extract import lazy_patterns
from crawler.extract.page.page import holds_digit
from crawler.extract.stock.availability import availability_of_text
from crawler.extract.words import CachedRule, any_of, entry_matcher

#: The word "sold" in place of the price.
SOLD = entry_matcher("stock", "sold")
#: Separators of a line's remarks, an amount among them.
_SEPARATORS = lazy_patterns.pattern(
    r"\s[-–—]+\s|[,;:.!|/()\[\]、。　～](?:\s|$)|\s?[(\[（【]|\d[.,]\d\d"
)
_DASH = re.compile(r"\s[-–—]\s|!\s").search
_LETTERS = lazy_patterns.pattern(r"[^\W\d_]{2}")
_MAX_REMARKS, _MAX_REMARK = 120, 40
#: A number of pieces: `5 pcs`.
_PIECES = lazy_patterns.pattern(
    rf"(\d{{1,9}})\s?(?:{any_of('amounts', 'packs', 'pieces')})(?:e?s)?\.?", re.I
)
#: A number with letters behind it, which an amount of money has behind its cents: `522,49 Kč`.
_COUNTS = re.compile(r"\d{1,9}\s?[^\W\d]").match
_MAX_COUNT = 16
#: A line with fewer characters may just say "Sold".
_MAX_SOLD = 30


def stock_of_count(text: str, labelled: bool = True) -> str | None:
    """Return the availability for a number of pieces in a box for the stock.

    A number without the word for pieces counts behind a label for the stock alone.

    >>> stock_of_count("5 pcs"), stock_of_count("0"), stock_of_count("3 days")
    ('InStock', 'OutOfStock', None)
    """
    if len(text) >= _MAX_COUNT:
        return None
    if labelled and text.isdecimal():
        count: str | None = text
    else:
        count = ((_COUNTS(text) and _PIECES.fullmatch(text)) or (None, None))[1]
    return None if count is None else "InStock" if int(count) else "OutOfStock"


def sold_in(text: str) -> bool:
    """Whether the last sentence of a short text is just "sold".

    >>> sold_in("Époque Charles X. VENDUE"), sold_in("Things that are sold")
    (True, False)
    """
    return len(text) <= _MAX_REMARKS and SOLD(text.rpartition(". ")[2]) is not None


def begins_sold(text: str) -> bool:
    """Whether a text's first statement is just "sold", and what follows counts nothing.

    >>> begins_sold("SOLD - ask me for another"), begins_sold("Sold - 12 pieces")
    (True, False)
    """
    dash = _DASH(text, 0, _MAX_REMARKS)
    if dash is None or SOLD(text[: dash.start()]) is None:
        return False
    return not holds_digit(text[dash.end() : _MAX_REMARKS])


#: A site's pages share most of their lines.
BEGINS_SOLD = CachedRule(begins_sold)


def may_be_sold(text: str) -> bool:
    """Whether a text begins with "sold", or is short and just that, with or without an amount.

    >>> may_be_sold("Sold"), may_be_sold("Sold - € 38.16"), may_be_sold("Things that are sold")
    (True, True, False)
    """
    if len(text) >= _MAX_SOLD:
        return BEGINS_SOLD[text]
    return (SOLD(text) or SOLD(text.partition(" ")[0])) is not None or BEGINS_SOLD[text]


MAY_BE_SOLD = CachedRule(may_be_sold)


def stock_behind_price(text: str, end: int) -> str | None:
    """Return the availability in a short remark behind the amount that ends at *end*.

    >>> stock_behind_price("€ 650 — Sold, thank you", 5)
    'OutOfStock'
    >>> stock_behind_price("€ 650 (more than 100 sold)", 5)
    >>> stock_behind_price("now € 89 instead of € 110, 2 pieces in stock", 8)
    'InStock'
    """
    behind = text[end : end + _MAX_REMARKS]
    if not _LETTERS.search(behind):
        return None
    for part in map(str.strip, _SEPARATORS.split(behind)):
        if not part or len(part) > _MAX_REMARK:
            continue
        if SOLD(part):
            return "OutOfStock"
        if (stock := availability_of_text(part)) is not None:
            return stock
    return None
