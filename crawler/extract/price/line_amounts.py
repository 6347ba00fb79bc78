"""Read the amounts of one line of a page, and the words for the price before and the price now."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
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
from crawler.extract.words import entry_matcher, finder_of

#: Words before an old price; some scripts write them without spaces.
_OLD_WORDS = finder_of(
    lambda any_of: (
        rf"\b(?:{any_of('amounts', 'old')})(?:\b|(?<=\.)|(?=[¹²³⁴⁵]))|{any_of('amounts', 'old_anywhere')}"
    )
)
#: Words by the price after a reduction: `now`.
_NOW_WORDS = entry_matcher("amounts", "now", 4)
#: Letters right before the figures of an identifier: `C34-1060`.
_CODE = lazy_patterns.pattern(r"\w[-./_]?$")
#: A bare amount behind a word: `Was 29,99`.
_LABELLED = lazy_patterns.pattern(r"([^\d]{3,24}?):?\s(\d[\d.,\s]{0,12})")
#: A bare amount and, in brackets, the one with the tax: `34.12 (40.94 incl. tax`.
_GROSS_BEHIND = lazy_patterns.pattern(r"\d[\d.,]{0,12}\s?[(\[]\s?(\d[\d.,]{0,12})")
#: Two bare amounts with cents: `Price 344.99 - 444.99`.
_BARE_RANGE = lazy_patterns.pattern(
    r"(?:[^\d]{3,24}?:?\s)?(\d[\d.,]{0,12}[.,]\d\d)\s?[-–—]\s?\d[\d.,]{0,12}[.,]\d\d"
)
#: An amount with a colon before the cents: `44:90 /st`.
_COLON = lazy_patterns.pattern(
    r"(?P<label>\D{0,24})(?P<amount>\d{1,3}(?:[ \u00a0]\d{3})?:\d\d)"
    r"(?P<unit>\s?(?:kr\b|/\s?(?:st|kg|l|förp)\b))?[\s.*]{0,3}"
)
#: Pence without pounds: `99p`, `Now 85p each`.
_PENCE = lazy_patterns.pattern(r"(?:[A-Za-z]{3,5}:?\s)?(\d{1,2})p(?:\s(?:each|per \w{3,6}))?")
#: Currencies with such forms.
_WRITTEN_OTHERWISE = frozenset({"SEK", "GBP"})
#: Characters of a line that are read, and of a short line; amounts of a line.
LONGEST_LINE, PARAGRAPH = 4_000, 80
_MAX_IN_LINE = 100
#: Flags of a line in a box for prices.
_MARKED = _lines.PRICE | _lines.OLD
#: Lines from an old bare amount to the currency of the price behind it.
_MAX_LINES = 3


@lru_cache(maxsize=512)
def says_old(text: str) -> bool:
    """Whether words beside an amount call it the price before a reduction."""
    return _OLD_WORDS(text) is not None


@lru_cache(maxsize=512)
def says_now(text: str) -> bool:
    """Whether words beside an amount call it the price after a reduction."""
    return _NOW_WORDS(text) is not None


def _names_price(text: str) -> bool:
    """Whether words before a bare amount call it the price now or before."""
    return says_old(text) or says_now(text)


def monies_of(line: Line, local: str | None) -> Sequence[Money]:
    """Return the amounts of a line; in a box for prices, a bare number too."""
    # A bare number in a box for the stock counts pieces: `(>5)` in "availability-amount".
    text, marked = line.text, bool(line.flags & _MARKED) and not line.flags & _lines.STOCK
    if len(text) <= PARAGRAPH:
        return _cached_monies(text, local, marked)
    return _monies(text[:LONGEST_LINE], local, marked)


def _monies(text: str, local: str | None, marked: bool) -> Sequence[Money]:
    if local in _WRITTEN_OTHERWISE and (money := _local_money(text, local, marked)):
        return (money,)
    monies = tuple(islice(find_prices(text, local), _MAX_IN_LINE))
    if monies:
        return monies
    if span := short_currency_words.lone_price(text, marked=marked):
        code, start, end = span
        value = amount(text[start:end], code)
        return () if value is None else (Money(value, code, 0, len(text)),)
    if marked and len(text) <= PARAGRAPH and holds_digit(text):
        text = _without_remark(text)
        if bare := _LABELLED.fullmatch(text):
            money = parse_price(bare[2], local)
            if money and money.end - money.start >= len(bare[2]) and _names_price(bare[1]):
                start = bare.start(2)
                return (attrs.evolve(money, start=start, end=start + money.end),)
    if marked and len(text) < 20:
        money = parse_price(text, local)
        is_code = money is not None and _CODE.search(text[: money.start]) is not None
        if money and not is_code and money.end - money.start >= len(text) - 6:
            return (money,)
    return ()


def _without_remark(text: str) -> str:
    """Return a bare amount without a remark about the tax, and the lower one of a bare range.

    >>> _without_remark("34.12 (40.94 inc VAT)"), _without_remark("Our price 344.99 - 444.99")
    ('40.94', '344.99')
    """
    if remark := WITH_TAX(text):
        text = text[: remark.start()].rstrip()  # 49,00 incl. tax
        gross = _GROSS_BEHIND.fullmatch(text)
        return gross[1] if gross else text
    low = _BARE_RANGE.fullmatch(text)
    return low[1] if low else text


def _local_money(text: str, local: str | None, marked: bool) -> Money | None:
    """Return the only amount of a line in a form of one country: `44:90`, `99p`."""
    if local == "SEK":
        return _swedish_money(text, marked) if ":" in text else None
    pence = _PENCE.fullmatch(text) if marked else None
    return pence and Money(Decimal(pence[1]).scaleb(-2), "GBP", *pence.span(1))


def _swedish_money(text: str, marked: bool) -> Money | None:
    """Return the only amount of a line, with a colon before the cents: `44:90 /st`.

    Because a time of day looks the same, a price box, a unit or a word has to name a price.
    """
    match = _COLON.fullmatch(text)
    if match is None or not (marked or match["unit"] or _names_price(match["label"].strip())):
        return None
    value = amount(match["amount"].replace(":", ","), "SEK")
    return None if value is None else Money(value, "SEK", *match.span("amount"))


# Cached, because dates, telephone numbers and thresholds repeat on all pages of a shop.
_cached_monies = lru_cache(maxsize=512)(_monies)


def with_next(walk: Lines, line: Line, money: Money, local: str | None) -> Sequence[Money]:
    """Return a bare amount with the currency that stands alone in the line after it.

    Behind an old amount follow a percentage, the price, and then the currency of both.
    """
    is_old = line.flags & _lines.OLD
    max_lines = _MAX_LINES if is_old else 1
    texts = (
        next_line.text for next_line in walk.lines[line.index + 1 : line.index + 1 + max_lines]
    )
    ends = (text.rpartition(" ")[2] for text in texts) if is_old else texts
    following = next(filter(is_currency, ends), None)
    if following is None:
        return (money,)
    text = line.text[money.start : money.end]
    money_with_currency = next(find_prices(f"{text} {following}", local), None)
    if money_with_currency is None or money_with_currency.currency is None:
        return (money,)
    return (
        attrs.evolve(money, value=money_with_currency.value, currency=money_with_currency.currency),
    )
