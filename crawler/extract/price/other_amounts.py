"""Words around an amount that make it another one than the price: postage, instalments, savings."""

from __future__ import annotations

from functools import lru_cache

from crawler.extract.price.regular_price import PERCENT, WITH_TAX
from crawler.extract.words import any_word

#: Words around an amount that is no price: postage, instalments, savings.
#: The lowest price of the last 30 days, which shops of the EU have to tell beside a lower one.
_OTHER_AMOUNT = any_word("amounts", "other", "lowest")
_OTHER_LABEL = any_word("amounts", "other_label")
_LOWEST = any_word("amounts", "lowest")


# What stands around amounts repeats on all of a shop's pages.
@lru_cache(maxsize=512)
def says_other(text: str) -> bool:
    """Whether words around an amount make it postage, an instalment or a saving."""
    # How much a price is off, in percent, says nothing against it.
    return _OTHER_AMOUNT(PERCENT.sub("", text) if "%" in text else text) is not None


@lru_cache(maxsize=512)
def labels_other(text: str) -> bool:
    """Whether the line before an amount says that it is another one."""
    return _OTHER_LABEL(text) is not None or (text[-1:] == ":" and _LOWEST(text) is not None)


@lru_cache(maxsize=512)
def is_other(words: str) -> bool:
    """Whether words beside an amount make it another one, but for a remark that tax is in it."""
    if not says_other(words):
        return False
    remark = WITH_TAX(words)
    return remark is None or says_other(
        f"{remark.string[: remark.start()]} {remark.string[remark.end() :]}"
    )
