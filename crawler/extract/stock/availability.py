"""Read an availability: schema.org's names, shop systems' codes and words of many languages."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from re import Match
from typing import Any

from crawler.extract import lazy_patterns
from crawler.extract.page.lines import describes
from crawler.extract.page.page import holds_digit
from crawler.extract.words import (
    any_word,
    entry_matcher,
    finder_of,
    full_matcher_by_start,
    full_matcher_of,
)
from crawler.extract.words.listed_words import AnyOf, FinderGroup

#: schema.org's ItemAvailability, by its name in lower case.
_NAMES = {
    name.lower(): name
    for name in (
        "BackOrder", "Discontinued", "InStock", "InStoreOnly", "LimitedAvailability",
        "MadeToOrder", "OnlineOnly", "OutOfStock", "PreOrder", "PreSale", "Reserved", "SoldOut",
    )
}  # fmt: skip
_CODES = {
    "instock": "InStock", "in_stock": "InStock", "available": "InStock", "true": "InStock",
    "oos": "OutOfStock", "outofstock": "OutOfStock", "unavailable": "OutOfStock",
    "false": "OutOfStock", "notavailable": "OutOfStock", "availablefororder": "BackOrder",
    "pending": "PreOrder", "lowstock": "LimitedAvailability", "onbackorder": "BackOrder",
}  # fmt: skip

#: Availabilities of a product that nobody can order now.
UNAVAILABLE = frozenset({"Discontinued", "OutOfStock", "SoldOut"})
#: Words for a product that is not sold yet: "Coming soon".
SOON = entry_matcher("stock", "soon")
#: Characters of a value that are read.
_MAX_TEXT = 500
_SEPARATORS = lazy_patterns.pattern(r"[\s_-]")
#: Phrases for unavailable products come first, because "not in stock" holds "in stock".
_PHRASES = ("InStoreOnly", "Discontinued", "PreOrder", "BackOrder", "OutOfStock", "InStock")
#: Letters of scripts with blanks between words. `re` compiles two ranges much faster than more.
_LETTER = r"[a-z\u00c0-\u04ff]"


def _any_phrase(any_of: AnyOf) -> str:
    alternatives = "|".join(f"({any_of('stock', name, not_after=_LETTER)})" for name in _PHRASES)
    return rf"(?:{alternatives})(?!{_LETTER})"


_STOCK_WORDS = finder_of(_any_phrase)
#: Words that negate "in stock", with at most two words between: "nav vairs pieejams".
_NOT = finder_of(
    lambda any_of: rf"(?<!{_LETTER})(?:{any_of('stock', 'not')})\s?(?:(?<=\s)[^\W\d]+\s){{0,2}}\Z"
)
#: Words that negate "sold out": "almost sold out". "Soon" has to begin a statement, because
#: "Back soon" and "Sold out" may stand beside each other.
_ALMOST = finder_of(
    lambda any_of: (
        rf"(?:(?<!{_LETTER})(?:{any_of('stock', 'almost')})"
        rf"|(?:\A|[^\w\s]\s?)(?:{any_of('stock', 'soon_gone')}))\s\Z"
    )
)
#: Words of a condition before "in stock": "Notify me when it is available"; or of a promise, which
#: may be that of a parcel: "Will be available for pickup".
_IF = finder_of(
    lambda any_of: (
        rf"(?<!{_LETTER})(?:{any_of('stock', 'condition', 'promise')})\s(?:[^\s\d.,:;!?]+\s){{0,3}}\Z"
    )
)
#: Words right before "available" for what is not the product: "Quantity discounts available".
_OTHER = finder_of(lambda any_of: rf"(?<!{_LETTER})(?:{any_of('stock', 'other')})\s\Z")
#: The same words behind it, as the label of choices: "Available colours:".
_LABELS_OTHER = finder_of(lambda any_of: rf"\A\s(?:{any_of('stock', 'other')})\s?(?:[:：]|\Z)")
#: Words right before "sold out" that deny it.
_NOT_OUT = finder_of(lambda any_of: rf"(?<!{_LETTER})(?:{any_of('stock', 'not_out')})\s?\Z")
#: A day beside "available": `from 12 May`, `ab 12.5.`, `from 2027-05-12`.
_MONTH = (
    "jan|feb|f[ée]v|ene|gen|mar|mär|mrt|apr|avr|abr|ma[iyjg]|mei|jui?[nl]|giu|lug|aug|ao[uû]|ago"
    "|sep|set|o[ckt]t|out|nov|d[eéi][ckz]"
)
_DAY = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th|\.|er)?\s(?:de\s|of\s)?(?:{_MONTH})|(?:{_MONTH})\w{{0,8}}\s\d"
    r"|\d{1,2}\.\s?\d{1,2}\.|\d{1,2}[/-]\d{1,2}[/-]\d|20\d\d-\d\d)"
)
_FROM_DATE = finder_of(
    lambda any_of: rf"(?<!{_LETTER})(?:{any_of('stock', 'from_date')})\s{_DAY}[^a-z]{{0,2}}"
)
#: A time to come, as shops name it: `from week 12`, `ab KW 12`, `from mid-May`, `vanaf eind mei`.
_WEEK = r"(?:week|wk|kw|kalenderwoche|semaine|settimana|semana|uge|uke|vecka|v)\.?\s?\d{1,2}(?!\d)"
_PART = (
    "early|mid|late|(?:the )?(?:beginning|middle|end)|begin|half|medio|eind|anfang|mitte|ende"
    "|d[ée]but|mi|fin(?:es|ales)?|inizio|met[àa]|fine|in[ií]cios?|principios|m(?:edi|e)ados|fim"
    "|start(?:en)?|mid(?:ten)?|slut(?:ning)?(?:en|et)|början|mitten"
)
#: A month without a day or a year, by its whole name: `ab März wieder lieferbar`.
_MONTHS = (
    "januar[iy]?|janvier|enero|gennaio|janeiro|februar[iy]?|février|febrero|febbraio|fevereiro"
    "|märz|march|mars|marzo|março|maart|marts|april|avril|abril|aprile|ma[ijy]|mei|mayo|maggio|maio"
    "|jun[iy]|june|juin|junio|giugno|junho|jul[iy]|juillet|julio|luglio|julho|august(?:us|i)?|août"
    "|agosto|septem(?:ber|bre)|setembro|settembre|o[ck]tober|octobre|octubre|ottobre|outubro"
    "|novem(?:ber|bre)|noviembre|novembro|de[cz]ember|décembre|diciembre|dicembre|dezembro"
)
_PERIOD = (
    rf"(?:{_WEEK}|(?:{_PART})[\s-](?:d[eio]\s|d'|of\s|a[fv]\s)?(?:{_MONTH})"
    rf"|(?:{_MONTHS})(?!\w|\s?\d))"
)
_FROM_PERIOD = finder_of(
    lambda any_of: rf"(?<!{_LETTER})(?:{any_of('stock', 'from_date')})\s{_PERIOD}[^a-z]{{0,2}}"
)
#: Words before a number of weeks, words for weeks and months, and the beginnings of "delivered".
_WITHIN = frozenset(
    "in within do binnen innerhalb dans sous en entro em om inom innen za через w".split()  # noqa: SIM905
)
_WEEKS = frozenset(
    """
    week weeks month months woche wochen monat monate monaten semaine semaines mois semana semanas
    mes meses mese mesi settimana settimane weken maand maanden tydzień tygodni tygodnia tygodnie
    miesiąca miesięcy týdne týdnů týden měsíce měsíců měsíc uge uger måned måneder vecka veckor månad
    månader uke uker неделю недели недель месяц месяца
    """.split()  # noqa: SIM905  # a table of words reads best as one
)
_DELIVERED = frozenset({"lie", "lev", "odo", "exp"})
_NOT_BEHIND = full_matcher_by_start(lambda any_of: any_of("stock", "not_behind"))
#: "0 in stock", "0 pieces in stock".
_NONE = re.compile(r"(?<![\d.,])0\s(?:[^\W\d]{1,12}\s)?\Z").search
#: "0 pcs.", where words for the stock begin with a number of pieces.
_NO_PIECES = re.compile(r"(?<![\d.,])0\s").match
#: "In stock: 0", "in stock (0)", "in stock in total: 0 pcs." at the end of a text.
_NONE_BEHIND = re.compile(
    r"(?:[^\d:：]{0,12}[:：]|[(（])?\s?0(?:\s?[^\d\s.,%]{1,12}\.?)?[)）]?\Z"
).match
#: Characters before and behind "in stock" that may negate it.
_MAX_BEFORE = 30
#: Words between a day and "available" behind it: `from 12 May 2027 again available`.
_MAX_WORDS_BETWEEN = 2
#: The caption of a buy button.
BUY = any_word("buy", "phrases")
#: Words of a caption that sells no goods: tickets, seats, a donation.
NO_GOODS = any_word("buy", "no_goods")
_QUESTIONS = frozenset("?？؟")
#: The caption in one word, which means buying only on a button.
_BUY_SHORT = full_matcher_of(lambda any_of: rf"\s*(?:{any_of('buy', 'buttons')})\W*")
#: The words of `availability_of_text` and of `buys_in_short`.
WORDS = FinderGroup(_STOCK_WORDS, BUY, _BUY_SHORT)


def availability(value: Any) -> str | None:
    """Read structured data's value: a schema.org URL or name, a code, or words.

    >>> availability("https://schema.org/InStock"), availability("oos"), availability("preorder")
    ('InStock', 'OutOfStock', 'PreOrder')
    """
    if isinstance(value, bool):
        return "InStock" if value else "OutOfStock"
    if not isinstance(value, str):
        return None
    value = value[:_MAX_TEXT]
    name = value.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2]
    if name.lower().startswith("schema:"):
        name = name[7:]
    key = _SEPARATORS.sub("", name.lower())
    return _NAMES.get(key) or _CODES.get(key) or availability_of_text(value.replace("_", " "))


@lru_cache(maxsize=512)
def buys(text: str) -> bool:
    """Whether a text is the caption of a buy button.

    >>> buys("In den Warenkorb"), buys("Add to wish list")
    (True, False)
    >>> buys("Non acquistabile")  # it says "acquista"
    False
    >>> buys("Acquista biglietti"), buys("¿Cuál comprar?")  # a title, not a button
    (False, False)
    """
    match = BUY(text)
    if match is None or text.rstrip()[-1:] in _QUESTIONS or NO_GOODS(text):
        return False
    stock = _STOCK_WORDS(match.string)
    return stock is None or not stock.start() <= match.start() < stock.end()


@lru_cache(maxsize=512)
def buys_in_short(text: str) -> bool:
    """Whether the caption of a button is one of a buy button, in short as well.

    >>> buys_in_short("Buy"), buys_in_short("Buying guide")
    (True, False)
    """
    return buys(text) or (_BUY_SHORT(text) is not None and NO_GOODS(text) is None)


def pays(caption: str) -> bool:
    """Whether a caption is of a PayPal button, which many static pages use for their cart."""
    return "PayPal" in caption and NO_GOODS(caption) is None


@lru_cache(maxsize=512)
def availability_of_text(text: str) -> str | None:
    """Return the availability that a sentence names.

    >>> availability_of_text("Currently not in stock"), availability_of_text("Auf Lager (3)")
    ('OutOfStock', 'InStock')
    >>> availability_of_text("In stock (0)"), availability_of_text("In stock: 0-3 days")
    ('OutOfStock', 'InStock')
    >>> availability_of_text("Bald ausverkauft"), availability_of_text("Bald lieferbar")
    ('InStock', 'OutOfStock')
    >>> availability_of_text("Disponible uniquement en magasin")  # a shop's stock, not the web's
    'InStoreOnly'
    >>> availability_of_text("Product description not available")
    >>> availability_of_text("Tell me when it is available")
    >>> availability_of_text("Quantity discounts available")
    >>> availability_of_text("Dostępne kolory: biały"), availability_of_text("In stock Sizes: S, M")
    (None, 'InStock')
    >>> availability_of_text("Available from 12 May"), availability_of_text("Not sold out")
    (None, None)
    >>> availability_of_text("Leverbaar vanaf week 12"), availability_of_text("Available from mid-May")
    ('BackOrder', 'BackOrder')
    >>> availability_of_text("Ab März wieder lieferbar"), availability_of_text("Available from May 2019")
    ('BackOrder', None)
    """
    match = _STOCK_WORDS(text)
    if match is None or not match.lastindex:
        return None
    stock = _PHRASES[match.lastindex - 1]
    if any(map(describes, text.split(" ", 2)[:2])) and ":" not in text:
        return None  # "Description not available"
    if stock == "InStock" and _is_denied(match):
        return "OutOfStock"
    if stock == "InStock":
        if _is_condition(match) or _is_of_other(match, text):
            return None
        if _has_date(match, _FROM_PERIOD) or _comes_in_weeks(match):
            return "BackOrder"
        is_dated = holds_digit(text) and _has_date(match, _FROM_DATE)
        return None if is_dated else stock
    if stock == "OutOfStock" and (before := _before(match)):
        if _ALMOST(before) is not None:
            return "InStock"
        return None if _NOT_OUT(before) is not None else stock
    return stock


def awaits_stock(caption: str) -> bool:
    """Whether a caption names a product that is in stock as a condition.

    >>> awaits_stock("Notify when available"), awaits_stock("Available now")
    (True, False)
    """
    match = _STOCK_WORDS(caption)
    if match is None or match.lastindex != len(_PHRASES):
        return False
    return _is_condition(match)


def _is_condition(match: Match[str]) -> bool:
    return match.start() > 0 and _IF(_before(match)) is not None


def _is_of_other(match: Match[str], text: str) -> bool:
    """Whether "available" is said of what is not the product: "Discounts available".

    A capital behind it begins another statement: "In stock Sizes: S, M".
    """
    if match.start() > 0 and _OTHER(_before(match)) is not None:
        return True
    behind = match.string[match.end() :][:_MAX_BEFORE]
    if not behind or _LABELS_OTHER(behind) is None:
        return False
    return text.isupper() or text[match.end() + 1 : match.end() + 2].islower()


def _has_date(match: Match[str], find: Callable[[str], Match[str] | None]) -> bool:
    """Whether "available" is said of a day, which may be past or to come, or of a period."""
    behind = match.string[match.end() :][:_MAX_BEFORE].lstrip(" :,")
    if behind and (day := find(behind)) is not None and day.start() == 0:
        return True
    before = _before(match)
    day = find(before) if before else None
    return day is not None and before[day.end() :].count(" ") <= _MAX_WORDS_BETWEEN


def _comes_in_weeks(match: Match[str]) -> bool:
    """Whether "available" is said of a time of weeks: `in 4 weeks`, `within a month`.

    What is delivered within weeks (`Lieferbar in 3 Wochen`) may be in stock, and a word right behind
    them makes them a size or the way to the buyer: `in a 3 month pack`.
    """
    words = match.string[match.end() :][:_MAX_BEFORE].casefold().split()
    if not words or words[0] not in _WITHIN or match[0][:3].casefold() in _DELIVERED:
        return False
    place = next((n for n in range(1, min(4, len(words))) if words[n].strip(".,)") in _WEEKS), 0)
    return place > 0 and not (words[place][-1].isalpha() and words[place + 1 : place + 2])


def _before(match: Match[str]) -> str:
    return match.string[max(0, match.start() - _MAX_BEFORE) : match.start()]


def _is_denied(match: Match[str]) -> bool:
    """Whether words beside "in stock" negate it."""
    before = _before(match)
    behind = match.string[match.end() :][:_MAX_BEFORE].lstrip()
    if before and (_NOT(before) is not None or _NONE(before) is not None):
        return True
    if _NO_PIECES(match.string, match.start()):
        return True
    if not behind:
        return False
    has_count = match[0][-1:].isdigit()  # "ca. 1|0 days" are ten
    return _NOT_BEHIND(behind) is not None or (not has_count and _NONE_BEHIND(behind) is not None)
