"""Whether a thing can be had: schema.org's names, shop systems' codes and words of many languages."""

from __future__ import annotations

import re
from functools import lru_cache
from re import Match
from typing import Any

from crawler.extract import lazy_patterns
from crawler.extract.words import any_word, begun_of, finder_of, whole_of
from crawler.extract.words.listed_words import AnyOf, Together

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

#: What is longer is no word about a stock, and is read so far.
_LONGEST = 500
_APART = lazy_patterns.pattern(r"[\s_-]")
#: What is said of a thing that is not to be had comes first: "not in stock" holds "in stock".
_PHRASES = ("Discontinued", "PreOrder", "BackOrder", "OutOfStock", "InStock")
#: Letters of scripts that divide words; others run on. `re` compiles two ranges much faster than more.
_LETTER = r"[a-z\u00c0-\u04ff]"


def _each_phrase(any_of: AnyOf) -> str:
    each = "|".join(f"({any_of('stock', name, not_after=_LETTER)})" for name in _PHRASES)
    return rf"(?:{each})(?!{_LETTER})"


_SAYS = finder_of(_each_phrase)
#: What turns "in stock" round before it, with a word or two between, or behind it: "nav vairs pieejams".
_NOT = finder_of(
    lambda any_of: rf"(?<!{_LETTER})(?:{any_of('stock', 'not')})\s?(?:(?<=\s)[^\W\d]+\s){{0,2}}\Z"
)
#: What turns "sold out" round: "almost sold out". With "soon" a statement has to begin, because
#: "Back soon" and "Sold out" stand beside each other.
_ALMOST = finder_of(
    lambda any_of: (
        rf"(?:(?<!{_LETTER})(?:{any_of('stock', 'almost')})"
        rf"|(?:\A|[^\w\s]\s?)(?:{any_of('stock', 'soon_gone')}))\s\Z"
    )
)
_NOT_BEHIND = begun_of(lambda any_of: any_of("stock", "not_behind"))
#: "0 in stock", "0 pieces in stock".
_NONE = re.compile(r"(?<![\d.,])0\s(?:[^\W\d]{1,12}\s)?\Z").search
#: "In stock: 0", "in stock (0)", "in stock: 0 pcs."; nothing comes after it.
_NONE_BEHIND = re.compile(r"[\s:：(（]{0,4}0(?:\s?[^\W\d]{1,12}\.?)?[)）]?\Z").match
#: Characters before "in stock" in which that may be.
_BESIDE = 30
#: What a button says when the thing can be put into a cart.
BUY = any_word("buy", "phrases")
#: The same in one word, which only a button may say.
_BUY_SHORT = whole_of(lambda any_of: rf"\s*(?:{any_of('buy', 'buttons')})\W*")
#: The words of `availability_of_text` and of `buys_in_short`.
WORDS = Together(_SAYS, BUY, _BUY_SHORT)


def availability(value: Any) -> str | None:
    """Read structured data's value: a schema.org URL or name, a code, or words.

    >>> availability("https://schema.org/InStock"), availability("oos"), availability("preorder")
    ('InStock', 'OutOfStock', 'PreOrder')
    """
    if isinstance(value, bool):
        return "InStock" if value else "OutOfStock"
    if not isinstance(value, str):
        return None
    value = value[:_LONGEST]
    short = value.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2]
    if short.lower().startswith("schema:"):
        short = short[7:]
    key = _APART.sub("", short.lower())
    return _NAMES.get(key) or _CODES.get(key) or availability_of_text(value)


@lru_cache(maxsize=512)
def buys(text: str) -> bool:
    """Whether a button's text puts the thing into a cart.

    >>> buys("In den Warenkorb"), buys("Add to wish list")
    (True, False)
    >>> buys("Non acquistabile")  # it says "acquista"
    False
    """
    found = BUY(text)
    if found is None:
        return False
    said = _SAYS(found.string)
    return said is None or not said.start() <= found.start() < said.end()


@lru_cache(maxsize=512)
def buys_in_short(text: str) -> bool:
    """The same for what is surely a button.

    >>> buys_in_short("Buy"), buys_in_short("Buying guide")
    (True, False)
    """
    return buys(text) or _BUY_SHORT(text) is not None


@lru_cache(maxsize=512)
def availability_of_text(text: str) -> str | None:
    """Read a sentence.

    >>> availability_of_text("Currently not in stock"), availability_of_text("Auf Lager (3)")
    ('OutOfStock', 'InStock')
    >>> availability_of_text("In stock (0)"), availability_of_text("In stock: 0-3 days")
    ('OutOfStock', 'InStock')
    >>> availability_of_text("Bald ausverkauft"), availability_of_text("Bald lieferbar")
    ('InStock', 'OutOfStock')
    """
    found = _SAYS(text)
    said = _PHRASES[found.lastindex - 1] if found and found.lastindex else None
    if found and said == "InStock" and _is_denied(found):
        return "OutOfStock"
    if found and said == "OutOfStock" and _ALMOST(_before(found)) is not None:
        return "InStock"
    return said


def _before(said: Match[str]) -> str:
    return said.string[max(0, said.start() - _BESIDE) : said.start()]


def _is_denied(said: Match[str]) -> bool:
    """Whether words beside "in stock" say that it is not."""
    before = _before(said)
    behind = said.string[said.end() :][:_BESIDE].lstrip()
    if before and (_NOT(before) is not None or _NONE(before) is not None):
        return True
    if not behind:
        return False
    counts = said[0][-1:].isdigit()  # "ca. 1|0 days" are ten
    return _NOT_BEHIND(behind) is not None or (not counts and _NONE_BEHIND(behind) is not None)
