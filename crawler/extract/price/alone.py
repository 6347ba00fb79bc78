"""Tell a line that holds just amounts from one whose words qualify them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import attrgetter
from typing import Any, TypeVar

from crawler.extract import lazy_patterns
from crawler.extract.money.amounts import find_prices
from crawler.extract.price.other_amounts import PERCENT, WITH_TAX, WITHOUT_TAX, says_other
from crawler.extract.price.per_unit import unit_behind
from crawler.extract.price.words_beside import BEHIND, CALLS_PRICE

#: Text beside an amount that qualifies it: words, a range, a sum, a quantity.
_WORD = lazy_patterns.pattern(r"[^\W\d_]{3}|[-–—/+]|\d\s?[^\W\d_]")
MAX_PAIR_LINE = 30
#: Characters of a remark behind an amount that the tax is included.
MAX_REMARK = 30
#: Characters of a line that are looked at: a line of amounts alone may have a megabyte.
_MAX_LOOK = 1000
#: Amounts that are compared without a search, and lines from an amount to those beside it.
_FEW, _MAX_NEAR = 16, 12
_LINE_OF: Any = attrgetter("line.index")
_Amount = TypeVar("_Amount")


def are_alone(text: str, currency: str | None, *, labelled: bool = False) -> bool:
    """Whether a line holds just amounts, or just a remark that the tax is included as well.

    With *labelled*, a label of the price may stand before them.

    >>> are_alone("€ 12,00 € 9,00", "EUR"), are_alone("Price: € 12,00 € 9,00", "EUR")
    (True, False)
    >>> are_alone("Price: € 12,00 € 9,00", "EUR", labelled=True)
    True
    """
    words = _words_beside(text, currency)
    if labelled and ":" in words:
        label, _, behind = words.partition(":")
        words = behind if CALLS_PRICE(label) else words
    return not _WORD.search(words) or (
        len(words) <= MAX_REMARK
        and WITHOUT_TAX(words) is None
        and (remark := WITH_TAX(words)) is not None
        and not _WORD.search(remark.string[: remark.start()] + remark.string[remark.end() :])
    )


def before_instalments(text: str, end: int) -> str:
    """Return a line up to the *end* of an amount if instalments follow it there, else all of it.

    >>> before_instalments("R$ 90,00 R$ 80,00em até 2x de R$ 40,00", 17)
    'R$ 90,00 R$ 80,00'
    """
    behind = text[end : end + BEHIND].lower()
    return text[:end] if behind and says_other(behind) else text


def _words_beside(text: str, currency: str | None) -> str:
    """Return a line's text without amounts, units and percentages; its begin if it is long."""
    text = PERCENT.sub("", text[:_MAX_LOOK]) if "%" in text else text
    if len(text) > MAX_PAIR_LINE + MAX_REMARK:
        return text[:_MAX_LOOK]
    for money in find_prices(text, currency):
        end = money.end + (unit_behind(text[money.end :]) if "/" in text else 0)
        text = text[: money.start] + " " * (end - money.start) + text[end:]
    return " ".join(text.split())


def near(amounts: list[_Amount], amount: _Amount) -> list[_Amount]:
    """Return those of many amounts, in the page's order, that are within lines of one; a few as is.

    Comparing each of thousands of amounts with all others would take the square.
    """
    if len(amounts) <= _FEW:
        return amounts
    line = _LINE_OF(amount)
    begin = bisect_left(amounts, line - _MAX_NEAR, key=_LINE_OF)
    return amounts[begin : bisect_right(amounts, line + _MAX_NEAR, key=_LINE_OF)]
