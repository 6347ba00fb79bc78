"""Read the buttons that offer a message when the product is available again."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from crawler.extract.page.lines import BUTTON, HIDDEN, LINK, Line, Lines
from crawler.extract.page.page import short_text
from crawler.extract.stock.availability import awaits_stock, buys_in_short
from crawler.extract.stock.inputs import is_disabled
from crawler.extract.words import entry_matcher

#: The caption of a button in place of the buy button: "Notify me".
NOTIFIES = entry_matcher("stock", "notify")
_PRESSED = BUTTON | LINK
#: Characters of a button's caption, and buttons in one box.
_MAX_CAPTION, _MAX_BESIDE = 40, 12


def offers_notice(line: Line) -> bool:
    """Whether a button or link offers a message when the product is available again."""
    return bool(line.flags & _PRESSED) and _notifies(line.text)


@lru_cache(maxsize=512)
def _notifies(text: str) -> bool:
    return len(text) < _MAX_CAPTION and (NOTIFIES(text) is not None or awaits_stock(text))


def stands_by_button(line: Line, walk: Lines) -> bool:
    """Whether the line offers a notice in one box with a button that buys and can be pressed.

    Some shops have both for all of their products; others hide one of the two.
    """
    box = line.element.getparent()
    if box is None or not offers_notice(line):
        return False
    near = walk.lines[max(0, line.index - _MAX_BESIDE) : line.index + _MAX_BESIDE]
    shown = {other.element for other in near if not other.flags & HIDDEN}
    return any(
        buys_in_short(short_text(button))
        and not is_disabled(button)
        and not shown.isdisjoint(button.iter())
        for button in islice(box.iterchildren("button"), _MAX_BESIDE)
    )


def weightier(said: Line | None, line: Line, walk: Lines) -> Line:
    """Return the later line for the stock, but not a notice beside a button behind "Sold out"."""
    return line if said is None or not stands_by_button(line, walk) else said
