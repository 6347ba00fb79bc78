"""Recognise the steps of a listing's filter by price: `up to $50`, `$50 to $100`, `over $100`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.money.amounts import Money, find_prices
from crawler.extract.page.lines import Line
from crawler.extract.page.page import short_text
from crawler.extract.price.lone_tiles import LONGEST_TILE_PRICE
from crawler.extract.price.other_amounts import RANGE
from crawler.extract.stock.availability import BUY
from crawler.extract.words import CachedRule, entry_matcher

#: Words before an amount that is the bound of others.
_IS_BOUND = entry_matcher("amounts", "bounds", 3)
_MAX_BOUND_LENGTH = 24
#: The words before the first figure of a text, without a currency.
_WORDS_BEFORE = re.compile(r"(\D{2,24}?)\W{0,3}(?:[A-Z]{1,3}\W{0,2})?\d").match
_MAX_STEPS = 12
#: The two bounds of a step: `0 - 500 Lei (12)`.
_BOUNDS = lazy_patterns.pattern(
    r"\D{0,24}?(\d[\d., \u00a0]{0,12})\D{0,6}?[-–—]\D{0,6}?(\d[\d., \u00a0]{0,12})"
)
#: Boxes around an amount that may be a filter's, their texts and characters of these, and the words
#: of their classes and ids. A class `filter` alone may be a style's.
_MAX_BOXES, _MAX_TEXTS, _MAX_TEXT, _MAX_VALUE = 6, 200, 2_000, 200
_FILTER_BOX = re.compile(
    r"(?:^|[\s_-])(?:filters|filter[-_]\w|facets?)|[-_]filters?(?=$|\s)|price[-_]?(?:slider|filter)"
).search
_IS_FILTER = CachedRule(lambda value: _FILTER_BOX(value[:_MAX_VALUE].lower()) is not None)
_DASHES = frozenset("-–—")
_FIGURES = re.compile(r"\D+")


def is_bound(before: str) -> bool:
    """Whether the text before an amount consists of words for a bound.

    >>> is_bound("Up to "), is_bound("Now up to half price: ")
    (True, False)
    """
    return len(before) <= _MAX_BOUND_LENGTH and _IS_BOUND(before) is not None


def is_filter_step(line: Line, amounts: Sequence[Money]) -> bool:
    """Whether a line is a step of a filter: a range, with a bound in a box of the same kind beside.

    Or with a range beside it that begins where the step ends, or one that begins with 0; any other
    range may be the prices of a product's variants. An end of a slider stands in the filter's box.
    """
    if len(line.text) > LONGEST_TILE_PRICE:
        return False
    bounds = _bounds(line.text)
    if not (bounds or _is_range(line.text, amounts)):
        return _is_in_filter(line)
    if len(amounts) > 1 and not amounts[0].value:
        return True
    step, parent = line.element, line.element.getparent()
    while parent is not None and len(parent) == 1:
        step, parent = parent, parent.getparent()
    boxes = () if parent is None else islice(parent.iterchildren(step.tag), _MAX_STEPS)
    texts = [short_text(box, LONGEST_TILE_PRICE) for box in boxes if box is not step]
    if bounds and any(_adjoin(bounds, other) for text in texts if (other := _bounds(text))):
        return True
    return any(is_bound(words[1]) for words in map(_WORDS_BEFORE, texts) if words)


def _is_in_filter(line: Line) -> bool:
    """Whether a line stands in a box that is called a filter and shows both ends of a slider.

    A box with the page's heading, a button that buys or one amount is a product's: of the category
    `oil-filters`, or beside a choice that is called a filter.
    """
    for box in islice(line.element.iterancestors(), _MAX_BOXES):
        if _IS_FILTER[box.get("class") or ""] or _FILTER_BOX((box.get("id") or "")[:_MAX_VALUE]):
            if box.tag in {"body", "html"} or box.find(".//h1") is not None:
                return False
            buttons = islice(box.iter("button", "input", "a"), _MAX_STEPS)
            if any(BUY(short_text(button) or button.get("value") or "") for button in buttons):
                return False
            text = " ".join(" ".join(islice(box.itertext(), _MAX_TEXTS)).split())
            return len(list(find_prices(text[:_MAX_TEXT]))) > 1
    return False


def _bounds(text: str) -> tuple[str, str] | None:
    """Return the figures of a range's two bounds; None if a text is no range.

    >>> _bounds("500 - 1.000 Lei (40)"), _bounds("1.349,00 Lei")
    (('500', '1000'), None)
    """
    match = _BOUNDS.match(text) if not _DASHES.isdisjoint(text) else None
    return None if match is None else (_FIGURES.sub("", match[1]), _FIGURES.sub("", match[2]))


def _adjoin(step: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether one of two ranges begins where the other ends."""
    return step != other and (step[1] == other[0] or step[0] == other[1])


def _is_range(text: str, amounts: Sequence[Money]) -> bool:
    """Whether a text is one amount behind a bound, or two amounts of a range."""
    if is_bound(text[: amounts[0].start]):
        return True
    return len(amounts) == 2 and RANGE.match(text[amounts[0].end : amounts[1].start]) is not None
