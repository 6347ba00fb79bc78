"""Read the availability in a class, because no table holds the words of every language."""

from __future__ import annotations

import re
from itertools import islice

from crawler.extract.page.lines import Line
from crawler.extract.page.page import Element
from crawler.extract.words import CachedRule

#: Words in a class that deny what follows, or make a condition of it: `hide-if-in-stock`.
_DENYING = ("not", "no", "never", "if", "when", "back", "hide", "show", "notify", "filter")
_UNDENIED = "".join(rf"(?<!\b{word}[-_])" for word in _DENYING)
_STOCK_CLASSES = [
    (name, re.compile(rf"(?:^|[\s_-]){_UNDENIED}(?:{words})(?=$|\s)"))
    for name, words in (
        ("PreOrder", "pre-?order"),
        ("BackOrder", "on-?backorder"),
        ("OutOfStock", "out-?of-?stock|sold-?out|unavailable|not-available|not-?in-?stock"),
        ("InStock", "in-?stock"),
    )
]


def _stock_of_class(words: str) -> str | None:
    return next((name for name, rule in _STOCK_CLASSES if rule.search(words.lower())), None)


#: The availability that a class names.
STOCK_OF_CLASS = CachedRule(_stock_of_class)
_UNAVAILABLE_BUTTON = re.compile(r"(?:unavailable|out-?of-?stock|sold-?out)[-_]{1,2}(?:button|btn)")
#: Whether a class names a button that stands where the product cannot be bought: "I want it!"
SELLS_NOTHING = CachedRule(lambda words: _UNAVAILABLE_BUTTON.search(words.lower()) is not None)
#: Whether a class is that of a box with a message.
MESSAGE = CachedRule(lambda words: re.search(r"message|warning|alert|notice", words[:300].lower()))
#: Characters of a message about the stock alone, and boxes around it.
_MAX_MESSAGE, _MAX_AROUND = 40, 2


def is_message(line: Line) -> bool:
    """Whether a line just says a few words in a box with a message."""
    boxes = (line.element, *islice(line.element.iterancestors(), _MAX_AROUND))
    is_short = len(line.text) < _MAX_MESSAGE
    return is_short and any(MESSAGE[box.get("class") or ""] for box in boxes)


def stock_of_box(element: Element) -> str | None:
    """Return the availability that a box's class names, but not that of one choice of several.

    `<td class="size unavailable">XS</td><td class="size">S</td>`: the next box has the first word of
    the class too, and is in stock.
    """
    words = element.get("class") or ""
    stock = STOCK_OF_CLASS[words]
    return None if stock == "OutOfStock" and _is_choice(element, words) else stock


def _is_choice(element: Element, words: str) -> bool:
    """Whether the box before or behind has the first word of a class, but names no stock."""
    for box in (element.getprevious(), element.getnext()):
        other_words = "" if box is None else box.get("class") or ""
        is_like = other_words.split(None, 1)[:1] == words.split(None, 1)[:1]
        if is_like and STOCK_OF_CLASS[other_words] is None:
            return True
    return False
