"""What is given away: a price box that says so in a word, where the page shows no amount."""

from __future__ import annotations

from decimal import Decimal
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.places import path
from crawler.extract.price.choice import label_before
from crawler.extract.price.other_amounts import says_other
from crawler.extract.visible_signs import Visible
from crawler.extract.words import any_of, whole

_IS_FREE = whole(rf"(?:{any_of('amounts', 'free')})\W*")
_RULES = lazy_patterns.pattern(r"[-_]+")
#: Lines after the heading, and characters of the word and of a class.
_FARTHEST, _LONGEST_WORD, _LONGEST = 90, 30, 300


def take_free(read: Lines, seen: Visible) -> None:
    """A price of nothing, where a box that is called a price says so in a word: "Free"."""
    for line in read.own:
        if (
            line.flags & _lines.PRICE
            and len(line.text) < _LONGEST_WORD
            and _IS_FREE(line.text.strip())
        ):
            distance = line.index - read.heading
            if distance > _FARTHEST or seen.cards or _is_of_delivery(read, line):
                return
            seen.fields["price"], seen.price_marked = Decimal(0), True
            seen.paths["price"], seen.price_distance = path(line.element), distance
            return


def _is_of_delivery(read: Lines, line: Line) -> bool:
    """Whether what costs nothing is the delivery or such, by the label or the element's classes."""
    boxes = (line.element, *islice(line.element.iterancestors(), 2))
    named = " ".join((box.get("class") or "")[:_LONGEST] for box in boxes)
    return says_other(label_before(read, line)) or says_other(_RULES.sub(" ", named))
