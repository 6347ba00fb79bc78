"""Whether an amount is the price of a kilogram or such: `12,90 €/kg`, `100 g = 7,98 €`."""

from __future__ import annotations

import re

from crawler.extract import lazy_patterns
from crawler.extract.words import any_of

_EACH = rf"\s*\*?\)?\s*(?:/|{any_of('amounts', 'per')})\s*"
_PER_UNIT = lazy_patterns.pattern(
    rf"{_EACH}(?:\d+[.,]?\d*\s*)?(?:{any_of('amounts', 'units')})\b",
    re.I,
)
#: The same of one piece, which is what most shops sell.
_PER_PIECE = lazy_patterns.pattern(rf"{_EACH}(?:1\s)?(?:{any_of('amounts', 'pieces')})\b", re.I)
#: The same of anything that a word alone calls so: `$0.25 / capsule`.
_PER_WORD = lazy_patterns.pattern(r"\s*/\s*[^\W\d_]{3,15}\s*")
#: What stands before the price of a unit, `100 g = 7,98 €`, and before one instalment of several.
_OF_UNIT = lazy_patterns.pattern(
    rf"(?:\d|/|\b(?:{any_of('amounts', 'per')}))\s*(?:{any_of('amounts', 'units')})\.?\s*[=:]\s*$|(?<!\w)\d{{1,2}}\s?[x×х]\s?(?:de\s)?\s?$",
    re.I,
)


def tells(before: str, behind: str) -> bool:
    """Whether the texts around an amount make it the price of a unit, and not of a piece.

    >>> tells("", " / kg"), tells("100 g = ", ""), tells("", " per piece"), tells("now ", "!")
    (True, True, False, False)
    """
    if _OF_UNIT.search(before):
        return True
    named = _PER_UNIT.match(behind) or ("/" in behind and _PER_WORD.fullmatch(behind)) or None
    return named is not None and _PER_PIECE.match(behind) is None
