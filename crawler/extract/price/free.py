"""Read the price 0 of a free product: a price box with one word, on a page without amounts."""

from __future__ import annotations

from decimal import Decimal
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.places import path
from crawler.extract.price.other_amounts import says_other
from crawler.extract.price.words_around import label_before
from crawler.extract.visible_signs import Visible
from crawler.extract.words import any_of, full_matcher

_IS_FREE = full_matcher(rf"(?:{any_of('amounts', 'free')})\W*")
_RULES = lazy_patterns.pattern(r"[-_]+")
#: Lines after the heading, and characters of the word and of a class.
_MAX_DISTANCE, _MAX_WORD, _MAX_CLASS = 90, 30, 300


def take_free(walk: Lines, signs: Visible) -> None:
    """Set the price to 0 if a price box just says "Free"."""
    for line in walk.product_lines:
        if line.flags & _lines.PRICE and len(line.text) < _MAX_WORD and _IS_FREE(line.text.strip()):
            distance = line.index - walk.heading
            if distance > _MAX_DISTANCE or signs.cards or _is_of_delivery(walk, line):
                return
            signs.fields["price"], signs.price_marked = Decimal(0), True
            signs.paths["price"], signs.price_distance = path(line.element), distance
            return


def _is_of_delivery(walk: Lines, line: Line) -> bool:
    """Whether the delivery or such is free, by the label or the element's classes."""
    boxes = (line.element, *islice(line.element.iterancestors(), 2))
    classes = " ".join((box.get("class") or "")[:_MAX_CLASS] for box in boxes)
    return says_other(label_before(walk, line)) or says_other(_RULES.sub(" ", classes))
