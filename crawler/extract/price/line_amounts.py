"""The amounts of one line of a page, and the words by which a price is the one before, or of now."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.money import short_currency_words
from crawler.extract.money.amounts import Money, amount, find_prices, parse_price
from crawler.extract.money.currencies import is_currency
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import holds_digit
from crawler.extract.price.other_amounts import WITH_TAX
from crawler.extract.words import finder_of, whole_of

#: Words before a price that was asked earlier; some scripts write them without spaces.
_OLD_WORDS = finder_of(
    lambda any_of: (
        rf"\b(?:{any_of('amounts', 'old')})(?:\b|(?<=\.)|(?=[¹²³⁴⁵]))|{any_of('amounts', 'old_anywhere')}"
    )
)
#: Words that stand by the price after a reduction, `now`, where the one before stands too.
_NOW_WORDS = whole_of(lambda any_of: rf"\W{{0,4}}(?:{any_of('amounts', 'now')})\W{{0,4}}")
#: What stands right before the figures of an identifier: `C34-1060`.
_CODE = lazy_patterns.pattern(r"\w[-./_]?$")
#: A bare amount behind a word: `Was 29,99`.
_LABELLED = lazy_patterns.pattern(r"([^\d]{3,24}?):?\s(\d[\d.,\s]{0,12})")
_COLON = lazy_patterns.pattern(
    r"(?P<label>\D{0,24})(?P<amount>\d{1,3}(?:[ \u00a0]\d{3})?:\d\d)"
    r"(?P<unit>\s?(?:kr\b|/\s?(?:st|kg|l|förp)\b))?[\s.*]{0,3}"
)
#: Characters of a line that are looked at, of a short one, and amounts of one that are weighed.
LONGEST_LINE, PARAGRAPH, LONGEST_MARKED = 4_000, 80, 40
_MOST_IN_LINE = 100
#: Lines from a bare amount that was asked before to the currency of the price behind it.
_TO_CURRENCY = 3


@lru_cache(maxsize=512)
def says_old(text: str) -> bool:
    """Whether words beside an amount say that it was asked before."""
    return _OLD_WORDS(text) is not None


@lru_cache(maxsize=512)
def says_now(text: str) -> bool:
    """Whether words beside an amount say that it is the price after a reduction."""
    return _NOW_WORDS(text) is not None


def _names_price(text: str) -> bool:
    """Whether words before a bare amount call it the price that is asked, or the one before."""
    return says_old(text) or says_now(text)


def monies_of(line: Line, local: str | None) -> Sequence[Money]:
    """The amounts of a line; in a box for prices, a bare number too."""
    text, marked = line.text, bool(line.flags & (_lines.PRICE | _lines.OLD))
    if len(text) <= PARAGRAPH:
        return _known_monies(text, local, marked)
    return _monies(text[:LONGEST_LINE], local, marked)


def _monies(text: str, local: str | None, marked: bool) -> Sequence[Money]:
    if local == "SEK" and ":" in text and (swedish := _swedish(text, marked)):
        return (swedish,)
    monies = tuple(islice(find_prices(text, local), _MOST_IN_LINE))
    if monies:
        return monies
    if found := short_currency_words.lone_price(text, marked=marked):
        code, start, end = found
        value = amount(text[start:end], code)
        return () if value is None else (Money(value, code, 0, len(text)),)
    if marked and len(text) < LONGEST_MARKED and holds_digit(text):
        remark = WITH_TAX(text)
        text = text[: remark.start()].rstrip() if remark else text  # 49,00 incl. tax
        if bare := _LABELLED.fullmatch(text):
            money = parse_price(bare[2], local)
            if money and money.end - money.start >= len(bare[2]) and _names_price(bare[1]):
                start = bare.start(2)
                return (attrs.evolve(money, start=start, end=start + money.end),)
    if marked and len(text) < 20:
        money = parse_price(text, local)
        coded = money is not None and _CODE.search(text[: money.start]) is not None
        if money and not coded and money.end - money.start >= len(text) - 6:
            return (money,)
    return ()


def _swedish(text: str, marked: bool) -> Money | None:
    """The amount of a line that holds no other, with a colon before the cents: `44:90 /st`.

    A time of the day is written so as well: a box for prices, a unit or a word has to tell.
    """
    found = _COLON.fullmatch(text)
    if found is None or not (marked or found["unit"] or _names_price(found["label"].strip())):
        return None
    value = amount(found["amount"].replace(":", ","), "SEK")
    return None if value is None else Money(value, "SEK", *found.span("amount"))


# Dates, telephone numbers and thresholds of a shop's frame repeat on all of its pages.
_known_monies = lru_cache(maxsize=512)(_monies)


def with_next(read: Lines, line: Line, money: Money, local: str | None) -> Sequence[Money]:
    """A bare amount with the currency that stands alone in the line after it.

    What was asked before stands ahead of a percentage, the price, and the currency of both.
    """
    most = _TO_CURRENCY if line.flags & _lines.OLD else 1
    behind = (one.text for one in read.lines[line.index + 1 :][:most])
    following = next(filter(is_currency, behind), None)
    if following is None:
        return (money,)
    text = line.text[money.start : money.end]
    whole = next(find_prices(f"{text} {following}", local), None)
    if whole is None or whole.currency is None:
        return (money,)
    return (attrs.evolve(money, value=whole.value, currency=whole.currency),)
