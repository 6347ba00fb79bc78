"""Find the words of a line that are about one of its amounts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crawler.extract.money.amounts import Money, amount, find_prices
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.price.line_amounts import says_now, says_old
from crawler.extract.price.other_amounts import POSTAGE, RANGE, find_lowest
from crawler.extract.words import any_of, finder, finder_of, full_matcher_of

#: Characters around an amount in a long line, and behind one.
AROUND, BEHIND = 500, 60
_MAX_POSTAGE_WORDS = 40
#: Characters before an amount at the start of its line.
_MAX_START = 3
_CURRENCY_SIGNS = " $€£"
#: A label of few words; a sentence has commas and figures.
_LABEL = re.compile(r"[^\W\d]{1,20}(?:[ '’][^\W\d]{1,20}){0,4}\s?[:：]").fullmatch
_COLONS, _MAX_LABEL = frozenset(":："), 40
_CALLS_OR_COSTS = finder_of(
    lambda any_of: rf"{any_of('amounts', 'called')}\b|\b(?:{any_of('amounts', 'costs')})\b"
)
#: Words behind an amount that make it the price before: `1 990 Ft helyett`.
_OLD_BEHIND = finder_of(lambda any_of: rf"^\s?(?:{any_of('amounts', 'old_behind')})(?!\w)")
#: A saving in percent behind the last amount of a line.
_SAVED = re.compile(r"\s*[(\[]?(?:[^\s\d%]{1,30}\s+){1,3}[-–]?(?!0)\d{1,2}\s?%\W*").fullmatch
#: A percentage behind an amount that has words before it: `Save $30.00 (19% off)`.
_PERCENT = r"[^\w%]{0,4}(?!0)\d{1,2}(?:[.,]\d{1,2})?\s?%(?:\s[^\W\d]{1,12})?\W*"
_IS_PERCENT = re.compile(_PERCENT).fullmatch
#: Signs between words and the amount that they are about.
_SIGNS = " $€£:"
#: The last amount of a line, without its sign.
_AMOUNT_AT_END = re.compile(
    r"[^\W\d]{3}\W{1,3}(?:(\d{1,9}[.,]\d\d)(?!\d)\W{0,3}\w{0,3}|\d{1,3}(?:[ \u00a0.,]?\d{3}){0,2}\s?\S{1,3})"
    rf"(?:{_PERCENT})?$"
).search
#: Words on both sides of a comma, or a stop that ends no abbreviation: the second clause is not
#: about the amount before the first.
_CLAUSES = re.compile(r"(?:[^\W\d_]{2},|[^\W\d_]{5}\.) [^\W\d_]{2}").search
#: A line that ends with its next amount, and words before that amount which are about it: a sum
#: from which something is free, or words in brackets.
_ENDS_WITH_AMOUNT = re.compile(
    r"[^\w]{0,4}(?:\w{1,3}\s?)?[^\w]{0,3}\d[\d.,' \u00a0]{0,14}\W{0,4}\w{0,4}(?:\W{1,3}\w{1,12}){0,2}\W{0,3}"
).fullmatch
_BEGINS_NEXT = finder(
    rf"^\W{{0,3}}[(\[]|(?:(?:{any_of('amounts', 'postage')})\w{{0,8}} )?(?:{any_of('amounts', 'free')})"
)
#: "50 or more": the amount before is the sum from which something is free.
_OR_MORE = finder(rf"^\W{{0,2}}(?:{any_of('amounts', 'or_more')})")
#: Words between two amounts about the second: `+ postage`, ` (shipping `, `. Postage is `.
_LABELS_NEXT = finder(
    rf"^\W{{0,3}}(?:(?:[+,;(–—/|&.-]|plus|and|und|et|y|e|og|och)\s?){{1,2}}(?:{any_of('amounts', 'postage')})"
    r"\w{0,12}(?:\s\w{1,10}){0,4}\s?[:(]?\s?\W?$"
    rf"|^\W{{0,3}}(?:{any_of('amounts', 'postage')})\w{{0,12}}(?:\s\w{{1,10}}){{0,2}}\s?[:(]\s?\W?$"
)
#: "About" before an amount, and its characters.
_ABOUT = finder_of(lambda any_of: rf"(?<!\w)(?:{any_of('amounts', 'about')})\W{{0,3}}$")
_MAX_ABOUT = 16
#: "From" before an amount: `Shoes from $20`; and "free" behind one.
ENDS_IN_FROM = finder_of(lambda any_of: rf"(?<!\w)(?:{any_of('amounts', 'from')})\W{{0,3}}$")
_FREE = finder_of(lambda any_of: rf"^\W{{0,3}}(?:{any_of('amounts', 'free')})(?!\w)")
#: Words without a blank before them: the amount before is a price for card holders.
_WITH_CARD = re.compile(r"[cс]\s\w").match
#: A label of the price, with or without the currency in brackets.
CALLS_PRICE = full_matcher_of(
    lambda any_of: (
        rf"\W{{0,3}}(?:{any_of('amounts', 'called')})(?:\s?[(\[/,]?\s?(?:in\s)?(?:[a-z]{{3}}|\W))?\W{{0,3}}"
    )
)


#: Whether a text holds more than signs.
holds_word = re.compile(r"[^\W_]").search


def words_of(money: Money, text: str, start: int, end: int) -> str:
    """Return the words about an amount; the amounts beside it end at *start* and begin at *end*."""
    after = text[money.end : min(end, money.end + 2 * AROUND)]
    if start and (words := _words_between(text[start : money.start], after)) is not None:
        return words
    if "%" in after and (_SAVED(after) or (_IS_PERCENT(after) and money.start - start > 3)):
        return text[start : money.start]  # words about a percentage are not about the amount
    if start and holds_word(after):
        return _words_of_later(money, text, start, end)
    if start and end < len(text):
        return text[start : money.start]
    if not start and end < len(text):
        before = text[max(0, money.start - 2 * AROUND) : money.start]
        if labels_next(text[money.end : end]) and begins_sentence(before):
            return before + text[money.end : end].rpartition(". ")[0]  # `9 €/month. Postage 5 €`
        first_words = _words_of_first(text[money.end : end][:AROUND], text[end : end + AROUND])
        if first_words is not None:
            return before + first_words
        return before if says_old(before[-40:].strip()) else before + after  # `Was €9 save €3`
    if start and not holds_word(after) and not RANGE.match(text[start : money.start]):
        return text[start : money.start]  # `Save €700 €3199`: the words before are about the other
    if len(text) <= 2 * AROUND:
        return text[: money.start] + text[money.end :]
    return text[max(0, money.start - AROUND) : money.start] + text[money.end : money.end + AROUND]


def before_note(money: Money, text: str, end: int) -> str:
    """Return a line up to a note behind an amount of the lowest price of a period, else all of it.

    The note is about the amount behind it, which begins at *end*: `€9 Lowest price: €8`.
    """
    note = find_lowest(text[money.end : end])
    return text if note is None else text[: money.end + note.start()]


def _words_of_later(money: Money, text: str, start: int, end: int) -> str:
    """Return the words about an amount behind another one, with words on both sides of it."""
    between, after = text[start : money.start], text[money.end : min(end, money.end + 2 * AROUND)]
    if ". " in between and not says_old(between.strip()):  # "Ord. pris" has an abbreviation
        return in_sentence(between) + after  # `9 €/month. Free postage over 60 € only`
    # `€9 was €12 save €3`: the words behind are about the next amount.
    label = between.strip()
    is_before = end < len(text) and (
        says_old(label) or says_now(label) or has_lower_behind(money, text)
    )
    return between if is_before else after


def _words_between(between: str, after: str) -> str | None:
    """Return the words about the second amount, if those *between* are clearly about one."""
    if labels_next(between):
        return between
    # `2 499 ₽c картой 2 799 ₽`: two boxes, and the words are about the first.
    return after if _WITH_CARD(between) else None


def labels_next(between: str) -> bool:
    """Whether the words between two amounts call the second the postage of the first.

    >>> labels_next(" + postage "), labels_next(" plus shipping ($"), labels_next(" shipping, ")
    (True, True, False)
    """
    if len(between) >= BEHIND or between.isspace():
        return False  # a blank is no word, and the pattern takes long to compile
    _, stop, sentence = between.rpartition(". ")
    return _LABELS_NEXT(f"{stop}{sentence}") is not None


def in_sentence(before: str) -> str:
    """Return the words before an amount in its sentence.

    >>> in_sentence("oil on canvas. Price: ")
    'Price: '
    """
    return before.rpartition(". ")[2]


def begins_sentence(before: str) -> bool:
    """Whether a sentence begins with an amount, or with a label of the price before it."""
    words = in_sentence(before).strip(_CURRENCY_SIGNS)
    return len(words) <= _MAX_START or calls_price(words)


def is_old_behind(text: str) -> bool:
    """Whether the words behind the last amount of a line call it the price before.

    >>> is_old_behind(" helyett)"), is_old_behind(" each")
    (True, False)
    """
    return 0 < len(text) < BEHIND and _OLD_BEHIND(text) is not None


def calls_price(text: str) -> bool:
    """Whether a short text before an amount is a label of the price, maybe with more words.

    >>> calls_price("Price"), calls_price("Price of the pair:"), calls_price("A price of honour")
    (True, True, False)
    """
    if len(text) > _MAX_LABEL:
        return False
    if CALLS_PRICE(text) or says_now(text) or says_old(text):
        return True
    return text[-1:] in _COLONS and _LABEL(text) is not None and _CALLS_OR_COSTS(text) is not None


def is_for_postage(money: Money, text: str) -> bool:
    """Whether words before an amount make it postage, or "or more" the sum from which that is free."""
    before, behind = text[: money.start][-_MAX_POSTAGE_WORDS:], text[money.end :][:BEHIND]
    return POSTAGE(before) is not None or says_or_more(behind)


def says_or_more(behind: str) -> bool:
    """Whether the words right behind an amount make it the lower bound of sums.

    >>> says_or_more(" or more to your cart"), says_or_more(" per lamp")
    (True, False)
    """
    return _OR_MORE(behind[:BEHIND]) is not None


def says_about(before: str) -> bool:
    """Whether the words right before an amount make it a rough one, as of a thing mentioned.

    >>> says_about("300 g of cheese (about "), says_about("About the lamp: ")
    (True, False)
    """
    return _ABOUT(before[-_MAX_ABOUT:]) is not None


def says_from(before: str) -> bool:
    """Whether "from" stands right before an amount.

    >>> says_from("Lamps from "), says_from("Price: ")
    (True, False)
    """
    return ENDS_IN_FROM(before[-_MAX_LABEL:]) is not None


def is_from_free(before: str, behind: str) -> bool:
    """Whether the words around an amount make it the sum from which something is free.

    >>> is_from_free("Shipping is 4, from ", " free"), is_from_free("Lamps from ", " and free post")
    (True, False)
    """
    return _FREE(behind[:_MAX_LABEL]) is not None and says_from(before)


def _words_of_first(between: str, next_text: str) -> str | None:
    """Return the words between two amounts about the first, if the rest is about the second."""
    if between.isspace():
        return None
    match = _BEGINS_NEXT(between)
    if _OR_MORE(between):
        return None
    return between[: match.start()] if match and _ENDS_WITH_AMOUNT(next_text) else None


def has_lower_behind(money: Money, text: str) -> bool:
    """Whether a lower amount with its words follows an amount: `399,- without tax 329,75`."""
    match = _AMOUNT_AT_END(text[money.end :][:BEHIND])
    if match is None or _CLAUSES(match.string, 0, match.start() + 3):
        return False
    _, stop, sentence = match.string[: match.start() + 3].rpartition(". ")
    if stop and POSTAGE(sentence):
        return False  # "from 29,08 €/month. Postage 4,90 €"
    if match[1] is None:  # whole units need their currency, because they may be days or pieces
        following = next(find_prices(match.string), None)
        part = following.value if following is not None and following.currency else None
    else:
        part = amount(match[1])
    return part is not None and part < money.value


def is_labelled_behind(monies: Sequence[Money], text: str) -> bool:
    """Whether the label of each amount is behind it: `$85.00 Regular price $68.00 Sale price`."""
    words_behind = text[monies[-1].end :]
    begins = len(monies) > 1 and monies[0].start <= _MAX_START
    return begins and len(words_behind) <= BEHIND and says_now(words_behind)


def is_one_labelled_behind(walk: Lines, line: Line, monies: Sequence[Money]) -> bool:
    """Whether so, with the old amount in the line before: `Regular price $68.00 Sale price`."""
    text, money = line.text, monies[0]
    behind = text[money.end :].strip() if len(monies) == 1 else ""
    if not behind or len(behind) > BEHIND or not says_now(behind):
        return False
    is_old_before = line.index > 0 and walk.lines[line.index - 1].flags & _lines.OLD
    return bool(is_old_before) and says_old(text[: money.start][-40:])


def clause_behind(text: str, before: str) -> str:
    """Return the words behind an amount in its sentence; in its clause, if words call it the price.

    `Price £2,450, delivery by arrangement` says nothing about postage.
    """
    behind = text[:BEHIND].lower().partition(". ")[0]
    is_called = behind[:2] == ", " and CALLS_PRICE(in_sentence(before).strip(_SIGNS)) is not None
    return "" if is_called else behind
