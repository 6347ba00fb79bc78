"""Recognise the price of a kilogram or another unit: `12,90 €/kg`, `100 g = 7,98 €`."""

from __future__ import annotations

import re

from crawler.extract import lazy_patterns
from crawler.extract.words import any_of

_EACH = rf"\s*\*?\)?\s*(?:/|{any_of('amounts', 'per')})\s*"
_PER_UNIT = lazy_patterns.pattern(
    rf"{_EACH}(?:\d+[.,]?\d*\s*)?(?:{any_of('amounts', 'units', 'uses')})\b",
    re.I,
)
#: What a service counts, and no shop sells goods by: `$0.10 per 1k emails`.
_COUNTS_USE = lazy_patterns.pattern(rf"(?:{any_of('amounts', 'uses')})$", re.I)
#: The price of one piece, which most shops sell.
_PER_PIECE = lazy_patterns.pattern(rf"{_EACH}(?:1\s)?(?:{any_of('amounts', 'pieces')})\b", re.I)
#: The price of any unit named by one word: `$0.25 / capsule`.
_PER_WORD = lazy_patterns.pattern(r"\s*/\s*[^\W\d_]{3,15}\s*[)\]]?\s*")
#: Words before the price of a unit, `100 g = 7,98 €`, `per kg 7,98 €`, and before one instalment of
#: several.
_OF_UNIT = lazy_patterns.pattern(
    rf"(?:\d|/|\b(?:{any_of('amounts', 'per')}))\s*(?:{any_of('amounts', 'units')})\.?\s*"
    rf"(?:[=:]|{any_of('amounts', 'per_behind')})\s*$"
    rf"|\b(?:{any_of('amounts', 'per')})\s(?:{any_of('amounts', 'units')})\s$"
    r"|(?<!\w)\d{1,2}\s?[x×х]\s?(?:de\s)?\s?$",
    re.I,
)
#: Words before the price of one piece: `Price per piece: 4,95 €`.
_OF_PIECE = lazy_patterns.pattern(
    rf"\b(?:{any_of('amounts', 'per')})\s(?:1\s)?(?:{any_of('amounts', 'pieces')})\.?\s*[=:]?\s*$",
    re.I,
)


def names_unit(before: str, behind: str) -> bool:
    """Whether the texts around an amount make it the price of a unit, and not of a piece.

    >>> names_unit("", " / kg"), names_unit("100 g = ", "")
    (True, True)
    >>> names_unit("", " per piece"), names_unit("now ", "!"), names_unit("Price per piece: ", "")
    (False, False, False)
    """
    # Most amounts begin their line, and the patterns take long to compile.
    if before and _OF_UNIT.search(before) and not _OF_PIECE.search(before):
        return True
    return behind != "" and unit_behind(behind) > 0


def names_piece(behind: str) -> bool:
    """Whether the text behind an amount makes it the price of one piece, or of one other thing.

    >>> names_piece(" per piece"), names_piece(" / pair"), names_piece(" with code AB")
    (True, True, False)
    """
    return (_PER_PIECE.match(behind) or _PER_WORD.fullmatch(behind)) is not None


def unit_behind(behind: str) -> int:
    """Return the characters of a unit's name behind its price; 0 without one.

    >>> unit_behind(" €/kg"[2:]), unit_behind(" per piece")
    (3, 0)
    """
    if not behind or behind.lstrip()[:1].isdigit():
        return 0  # nearly all, and the patterns take long to compile
    unit = _PER_UNIT.match(behind) or ("/" in behind and _PER_WORD.fullmatch(behind)) or None
    if unit is None or _PER_PIECE.match(behind):
        return 0
    # "12 € per metre 15 €": the words are about the second amount.
    of_next = "/" not in unit[0] and behind[unit.end() :].lstrip()[:1].isdigit()
    return 0 if of_next else unit.end()


def measures(unit: str) -> bool:
    """Whether a unit is one of weight, volume, length or area, and no piece.

    >>> measures(" / kg"), measures(" / tyre")
    (True, False)
    """
    return _PER_UNIT.match(unit) is not None


def counts_use(unit: str) -> bool:
    """Whether a unit is of a service's use, by which no goods are sold.

    >>> counts_use(" per 1k"), counts_use(" per kg")
    (True, False)
    """
    return _COUNTS_USE.search(unit) is not None
