"""Whether a page asks to be asked for the price, in place of an amount."""

from __future__ import annotations

from itertools import pairwise

from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.price.line_amounts import says_now
from crawler.extract.price.lone_tiles import LONGEST_TILE_PRICE
from crawler.extract.words import Marks, any_word, whole_of

_ON_REQUEST = any_word("amounts", "on_request")
#: The same alone in a box for the price, or alone in its line: "Contact us".
_ASKS_IN_BOX = whole_of(
    lambda any_of: rf"(?:[^:：]{{2,24}}[:：])?\W*(?:{any_of('amounts', 'asks_in_box')})\W*"
)
#: Lines after the heading in which a price is asked for.
_NEAR = 60
#: Whether a line holds letters of a word that asks: what is asked may stand in two lines.
_MAY_ASK = Marks(_ON_REQUEST.may_hold)
_ASKS = Marks(lambda text: _ASKS_IN_BOX(text) is not None)


def asks_for_price(read: Lines, before: int) -> bool:
    """Whether a short line from the heading on and *before* a line says that one has to ask."""
    here = read.lines[max(read.heading, 0) : min(before, max(read.heading, 0) + _NEAR)]
    short = [line for line in here if len(line.text) < LONGEST_TILE_PRICE]
    if any(line.flags & _lines.PRICE and _ASKS[line.text] for line in short):
        return True
    if _names_no_amount(here):
        return True
    texts = [line.text for line in short]
    return any(map(_MAY_ASK.__getitem__, texts)) and _ON_REQUEST("\n".join(texts)) is not None


def _names_no_amount(here: list[Line]) -> bool:
    """Whether the row of a table for the price holds a word and no amount."""
    for label, value in pairwise(here):
        if not label.flags & _lines.LABEL or (label.flags | value.flags) & _lines.DIGIT:
            continue
        if says_now(label.text) and len(value.text) < LONGEST_TILE_PRICE:
            return True
    return False
