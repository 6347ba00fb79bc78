"""Find the element, style or class that strikes an amount through."""

from __future__ import annotations

import re
from itertools import islice

from crawler.extract.page.page import Element, short_text

#: Elements, styles and utility classes that strike their text through.
_STRIKE_TAGS = frozenset({"s", "del", "strike"})
_STRIKE_CLASSES = frozenset({"line-through", "text-decoration-line-through"})
_strikes = re.compile(r"text-decoration(?:-line)?\s*:[^;]{0,40}line-through", re.I).search
#: Characters of a class that are read.
_MAX_CLASS = 300


def is_struck_at(element: Element, start: int) -> bool:
    """Whether an element, or a box around it, strikes the amount at *start* of its line through."""
    boxes = (element, *islice(element.iterancestors(), 2))
    strike = next(filter(_strikes_text, boxes), None)
    # The line begins in that element; an amount behind it in the line is not struck.
    return strike is not None and len(short_text(strike)) > start


def _strikes_text(box: Element) -> bool:
    if box.tag in _STRIKE_TAGS or _strikes(box.get("style") or ""):
        return True
    return not _STRIKE_CLASSES.isdisjoint((box.get("class") or "")[:_MAX_CLASS].split())
