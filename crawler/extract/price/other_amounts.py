"""Words around an amount that make it another one than the price: postage, instalments, savings."""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Element
from crawler.extract.words import any_of, any_word

#: Words around an amount that is no price: postage, instalments, savings.
_OTHER_AMOUNT = any_word("amounts", "other")
_OTHER_LABEL = any_word("amounts", "other_label")
#: What it costs to send a thing, and what costs are called.
POSTAGE, COSTS = any_word("amounts", "postage"), any_word("amounts", "costs")
#: Words behind an amount that tell what is not in it, or that all is: "plus postage", "+ postage".
APART = lazy_patterns.pattern(
    rf"{any_of('amounts', 'apart')}|\+\s?(?:{any_of('amounts', 'postage')})\w*"
)
_LONGEST_ALT = 500
#: That the tax is in an amount.
WITH_TAX = any_word("amounts", "with_tax")
PERCENT = lazy_patterns.pattern(
    rf"[-–+]?(?<!\d)\d++\s?%(?:\s*(?:{any_of('amounts', 'off')})\b)?",
    re.I,
)
#: The lowest price of the last 30 days, which shops of the EU have to tell beside a lower one.
_LOWEST = any_word("amounts", "lowest")


def tells_lowest(text: str) -> bool:
    """Whether a text says that an amount is the lowest of a time.

    >>> tells_lowest("30-Tage-Bestpreis"), tells_lowest("Preis")
    (True, False)
    """
    return _LOWEST(text) is not None


# What stands around amounts repeats on all of a shop's pages.
@lru_cache(maxsize=512)
def says_other(text: str) -> bool:
    """Whether words around an amount make it postage, an instalment or a saving."""
    # How much a price is off, in percent, says nothing against it.
    text = PERCENT.sub("", text) if "%" in text else text
    return _OTHER_AMOUNT(text) is not None or tells_lowest(text)


@lru_cache(maxsize=512)
def labels_other(text: str) -> bool:
    """Whether the line before an amount says that it is another one."""
    return _OTHER_LABEL(text) is not None or (text[-1:] == ":" and tells_lowest(text))


@lru_cache(maxsize=512)
def is_other(words: str) -> bool:
    """Whether words beside an amount make it another one, but for a remark that tax is in it."""
    if not says_other(words):
        return False
    remark = WITH_TAX(words)
    return remark is None or says_other(
        f"{remark.string[: remark.start()]} {remark.string[remark.end() :]}"
    )


def is_marked_by_picture(element: Element) -> bool:
    """Whether the picture behind an amount says whose it is: that of those who hold a card."""
    mark = element.getnext()
    return (
        mark is not None
        and mark.tag == "img"
        and says_other((mark.get("alt") or "")[:_LONGEST_ALT].lower())
    )
