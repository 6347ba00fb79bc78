"""The words of a line that are about one of its amounts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crawler.extract import lazy_patterns
from crawler.extract.money.amounts import Money, amount
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.price.line_amounts import says_now, says_old
from crawler.extract.words import any_of, finder, finder_of, whole_of

#: Characters around an amount in a long line, and behind one that are looked at.
AROUND, BEHIND = 500, 60
#: Characters before an amount with which its line begins.
_GAP = 3
_AROUND = " $€£"
#: A label of few words; a sentence has commas and figures.
_PLAIN = re.compile(r"[^\W\d]{1,20}(?:[ '’][^\W\d]{1,20}){0,4}\s?[:：]").fullmatch
_COLONS, _LONGEST_LABEL = frozenset(":："), 40
_CALLED = finder_of(
    lambda any_of: rf"{any_of('amounts', 'called')}\b|\b(?:{any_of('amounts', 'costs')})\b"
)
#: Words behind an amount by which it is the one before: `1 990 Ft helyett`.
_OLD_BEHIND = finder_of(lambda any_of: rf"^\s?(?:{any_of('amounts', 'old_behind')})(?!\w)")
#: What is saved, in percent, behind an amount with which a line ends.
_SAVED = re.compile(r"\s*[(\[]?(?:[^\s\d%]{1,30}\s+){1,3}[-–]?(?!0)\d{1,2}\s?%\W*").fullmatch
#: The amount with which a line ends, its sign apart.
_AMOUNT_AT_END = re.compile(r"[^\W\d]{3}\W{1,3}(\d{1,9}[.,]\d\d)(?!\d)\W{0,3}\w{0,3}$").search
#: A line that ends with its next amount, and words before that which are about it: from what on
#: something is free, or what stands in brackets.
_ENDS_WITH_AMOUNT = re.compile(
    r"[^\w]{0,4}(?:\w{1,3}\s?)?[^\w]{0,3}\d[\d.,' \u00a0]{0,14}\W{0,4}\w{0,4}(?:\W{1,3}\w{1,12}){0,2}\W{0,3}"
).fullmatch
_OF_NEXT = finder(
    rf"^\W{{0,3}}[(\[]|(?:(?:{any_of('amounts', 'postage')})\w{{0,8}} )?(?:{any_of('amounts', 'free')})"
)
#: "50 or more": the sum from which on something is free stands before.
_OR_MORE = finder(rf"^\W{{0,2}}(?:{any_of('amounts', 'or_more')})")
#: Words between two amounts that are about the second: `+ postage`, ` (shipping `, `. Postage is `.
_LABELS_NEXT = finder(
    rf"^\W{{0,3}}(?:(?:[+,;(–—/|&.-]|plus|and|und|et|y|e|og|och)\s?){{1,2}}(?:{any_of('amounts', 'postage')})"
    r"\w{0,12}(?:\s\w{1,10}){0,4}\s?[:(]?\s?\W?$"
    rf"|^\W{{0,3}}(?:{any_of('amounts', 'postage')})\w{{0,12}}(?:\s\w{{1,10}}){{0,2}}\s?[:(]\s?\W?$"
)
#: Words without a blank before them: the price of those who hold a card, which stands before.
_WITH_CARD = re.compile(r"[cс]\s\w").match
#: What a label says in front of the price, with the currency in brackets at most.
CALLS_PRICE = whole_of(
    lambda any_of: (
        rf"\W{{0,3}}(?:{any_of('amounts', 'called')})(?:\s?[(\[/,]?\s?(?:in\s)?(?:[a-z]{{3}}|\W))?\W{{0,3}}"
    )
)
RANGE = lazy_patterns.pattern(rf"^\s*(?:[-–—~～〜]|{any_of('paging', 'to')})\s*$", re.I)


#: Whether more than signs stands in a text.
holds_word = re.compile(r"[^\W_]").search


def words_of(money: Money, text: str, since: int, until: int) -> str:
    """The words of a line that are about an amount: each of several has its own beside it."""
    after = text[money.end : min(until, money.end + 2 * AROUND)]
    if since and (words := _told_between(text[since : money.start], after)) is not None:
        return words
    if "%" in after and _SAVED(after):
        return text[since : money.start]  # words about a percentage are not about the amount
    if since and holds_word(after):
        between = text[since : money.start]
        told = until < len(text) and (says_old(between.strip()) or tells_a_part(money, text))
        return between if told else after  # `€9 was €12 save €3`: what follows is about the next
    if since and until < len(text):
        return text[since : money.start]
    if not since and until < len(text):
        before = text[max(0, money.start - 2 * AROUND) : money.start]
        if labels_next(text[money.end : until]) and begins(before):
            return before
        own = _own_words(text[money.end : until][:AROUND], text[until : until + AROUND])
        if own is not None:
            return before + own
        return before if says_old(before[-40:].strip()) else before + after  # `Was €9 save €3`
    if since and not holds_word(after) and not RANGE.match(text[since : money.start]):
        return text[since : money.start]  # `Save €700 €3199`: what comes before is about the other
    if len(text) <= 2 * AROUND:
        return text[: money.start] + text[money.end :]
    return text[max(0, money.start - AROUND) : money.start] + text[money.end : money.end + AROUND]


def _told_between(between: str, after: str) -> str | None:
    """The words about an amount, where those before it are surely about it, or surely not."""
    if labels_next(between):
        return between
    # `2 499 ₽c картой 2 799 ₽`: two boxes, and the words are about the first.
    return after if _WITH_CARD(between) else None


def labels_next(between: str) -> bool:
    """Whether the words between two amounts say that the second is the postage of the first.

    >>> labels_next(" + postage "), labels_next(" plus shipping ($"), labels_next(" shipping, ")
    (True, True, False)
    """
    if len(between) >= BEHIND:
        return False
    _, stop, last = between.rpartition(". ")
    return _LABELS_NEXT(f"{stop}{last}") is not None


def in_sentence(before: str) -> str:
    """The words before an amount that stand in its sentence.

    >>> in_sentence("oil on canvas. Price: ")
    'Price: '
    """
    return before.rpartition(". ")[2]


def begins(before: str) -> bool:
    """Whether a sentence begins with an amount, or with what calls it the price."""
    told = in_sentence(before).strip(_AROUND)
    return len(told) <= _GAP or calls_price(told)


def is_old_behind(text: str) -> bool:
    """Whether the words behind the last amount of a line say that it was asked before.

    >>> is_old_behind(" helyett)"), is_old_behind(" each")
    (True, False)
    """
    return 0 < len(text) < BEHIND and _OLD_BEHIND(text) is not None


def calls_price(text: str) -> bool:
    """Whether a short text before an amount calls it the price, whatever else it says of it.

    >>> calls_price("Price"), calls_price("Price of the pair:"), calls_price("A price of honour")
    (True, True, False)
    """
    if len(text) > _LONGEST_LABEL:
        return False
    if CALLS_PRICE(text) or says_now(text) or says_old(text):
        return True
    return text[-1:] in _COLONS and _PLAIN(text) is not None and _CALLED(text) is not None


def _own_words(between: str, rest: str) -> str | None:
    """The words between two amounts that are about the first, where the other words tell of the next."""
    split = _OF_NEXT(between)
    if _OR_MORE(between):
        return None
    return between[: split.start()] if split and _ENDS_WITH_AMOUNT(rest) else None


def tells_a_part(money: Money, text: str) -> bool:
    """Whether words behind an amount tell of a lower one behind them: `399,- without tax 329,75`."""
    found = _AMOUNT_AT_END(text[money.end :][:BEHIND])
    part = amount(found[1]) if found else None
    return part is not None and part < money.value


def told_behind(monies: Sequence[Money], text: str) -> bool:
    """Whether what amounts are stands behind each: `$85.00 Regular price $68.00 Sale price`."""
    last = text[monies[-1].end :]
    begins = len(monies) > 1 and monies[0].start <= _GAP
    return begins and len(last) <= BEHIND and says_now(last)


def one_told_behind(read: Lines, line: Line, monies: Sequence[Money]) -> bool:
    """The same, where the line before is the struck amount: `Regular price $68.00 Sale price`."""
    text, money = line.text, monies[0]
    behind = text[money.end :].strip() if len(monies) == 1 else ""
    if not behind or len(behind) > BEHIND or not says_now(behind):
        return False
    struck = line.index > 0 and read.lines[line.index - 1].flags & _lines.OLD
    return bool(struck) and says_old(text[: money.start][-40:])
