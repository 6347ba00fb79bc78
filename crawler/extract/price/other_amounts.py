"""Recognise amounts that are no price by the words around: postage, instalments, savings."""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Element
from crawler.extract.words import any_of, any_word, full_matcher

#: Words around an amount that is no price: postage, instalments, savings.
_OTHER_AMOUNT = any_word("amounts", "other", "members")
#: Words above an amount that is no price, such as those for what only members or card holders pay.
_OTHER_LABEL = any_word("amounts", "other_label", "members")
#: Words for postage, and for costs.
POSTAGE, COSTS = any_word("amounts", "postage"), any_word("amounts", "costs")
#: "Free shipping", "Versandkostenfrei": the postage has no amount, but a colon is before the sum
#: from which it is free.
_FREE_POSTAGE = full_matcher(
    rf"\W{{0,20}}(?:(?:{any_of('amounts', 'free')})\w{{0,3}}\s(?:{any_of('amounts', 'postage')})\w{{0,6}}"
    rf"|(?:{any_of('amounts', 'postage')})\w{{0,10}}\s?:?\s?(?:{any_of('amounts', 'free')})\w{{0,3}}"
    rf"|(?:{any_of('amounts', 'postage')})\w{{0,8}}(?:frei|frit?t?|vrij))[^\w:：]{{0,20}}"
)
#: Words behind an amount about extra or included costs: "plus postage", "+ postage".
EXTRA_COSTS = lazy_patterns.pattern(
    rf"{any_of('amounts', 'apart')}|\+\s?(?:{any_of('amounts', 'postage')})\w*"
)
#: A dash or a word between the amounts of a range, or before the highest one: "From 20", "To 90".
RANGE = lazy_patterns.pattern(rf"^\s*(?:[-–—~～〜]|{any_of('paging', 'to')})\s*$", re.I)
_MAX_ALT = 500
#: Words for "the tax is included", and for an amount without it.
WITH_TAX, WITHOUT_TAX = any_word("amounts", "with_tax"), any_word("amounts", "without_tax")
PERCENT = lazy_patterns.pattern(
    rf"[-–+]?(?<!\d)\d++\s?%(?:\s*(?:{any_of('amounts', 'off')})\b)?",
    re.I,
)
#: The lowest price of the last 30 days, which shops in the EU have to show beside a reduced price.
find_lowest = any_word("amounts", "lowest")


def names_lowest(text: str) -> bool:
    """Whether a text calls an amount the lowest price of a period.

    >>> names_lowest("30-Tage-Bestpreis"), names_lowest("Preis")
    (True, False)
    """
    return find_lowest(text) is not None


# Cached, because the words around amounts repeat on all pages of a shop.
@lru_cache(maxsize=512)
def says_other(text: str) -> bool:
    """Whether words around an amount make it postage, an instalment or a saving."""
    # A discount in percent does not make a price another amount.
    text = PERCENT.sub("", text) if "%" in text else text
    return _OTHER_AMOUNT(text) is not None or names_lowest(text)


@lru_cache(maxsize=512)
def labels_other(text: str) -> bool:
    """Whether the line before an amount labels it as another one than the price.

    >>> labels_other("Shipping"), labels_other("Free shipping"), labels_other("Free shipping:")
    (True, False, True)
    """
    if _OTHER_LABEL(text) is not None:
        return _FREE_POSTAGE(text) is None
    if text and RANGE.match(text) is not None:
        return len(text) > 1 or not text.isalpha()  # one letter may be a class of energy
    return text[-1:] == ":" and names_lowest(text)


def is_free_postage(text: str) -> bool:
    """Whether the line before an amount says that the postage is free."""
    return _OTHER_LABEL(text) is not None and _FREE_POSTAGE(text) is not None


@lru_cache(maxsize=512)
def is_other(words: str) -> bool:
    """Whether words beside an amount make it another one; "tax included" does not count."""
    if not says_other(words):
        return False
    remark = WITH_TAX(words)
    return remark is None or says_other(
        f"{remark.string[: remark.start()]} {remark.string[remark.end() :]}"
    )


def is_marked_by_picture(element: Element) -> bool:
    """Whether the picture behind an amount makes it another one: a price for card holders."""
    mark = element.getnext()
    return (
        mark is not None
        and mark.tag == "img"
        and says_other((mark.get("alt") or "")[:_MAX_ALT].lower())
    )
