"""What the boxes around a link are, by the words of their classes: a pager, a menu, a tile."""

from __future__ import annotations

import re

from crawler.extract.page.class_words import by_shape
from crawler.extract.page.page import Element

PRODUCT, PAGER, NAV, FACET, CRUMBS, FOOT = (1 << bit for bit in range(6))
_CONTEXTS = (
    (FACET, r"facet|filter|refine|layered|narrow|swatch|sorter|sort-?by|toolbar-sorter|\btags?cloud"),
    (PAGER, r"pagination|pager|paging|page-numbers|pages\b|paginate"),
    (CRUMBS, r"breadcrumb|crumbs"),
    (PRODUCT, r"product|prod[-_]|\bitem\b|item[-_]|card|tile|\bpod|artikel|thumbnail|teaser|goods"),
    (FOOT, r"footer|copyright|social|legal"),
    (NAV, r"\bnav|menu|categor|sidebar|departments|collection"),
)  # fmt: skip
_CONTEXT_RULES = [(flag, re.compile(words)) for flag, words in _CONTEXTS]
_CONTEXT_TAGS = {"nav": NAV, "header": NAV, "footer": FOOT}
#: Boxes around a link that are looked at, the link itself among them.
_LEVELS = 5


class Contexts:
    """The flags of the boxes around a page's links."""

    def __init__(self) -> None:
        #: By the levels that are left from a box outwards.
        self._boxes: tuple[dict[Element, int], ...] = ({}, {}, {}, {}, {}, {})

    def of(self, element: Element, levels: int = _LEVELS) -> int:
        """Return the flags of an element's classes and of its ancestors', *levels* in all."""
        words = element.get("class")
        own_flags = _CLASS_CONTEXT[words] if words else 0
        box = element.getparent()
        if box is None:
            return own_flags
        # Cached by box, because the links of a menu share their ancestors.
        boxes = self._boxes[levels]
        if box in boxes:
            return own_flags | boxes[box]
        tag = box.tag
        box_flags = self.of(box, levels - 1) if levels > 1 else 0
        if tag in _CONTEXT_TAGS:
            box_flags |= _CONTEXT_TAGS[tag]
        boxes[box] = box_flags
        return own_flags | box_flags


def _class_context(words: str) -> int:
    context = 0
    for flag, rule in _CONTEXT_RULES:
        if rule.search(words):
            context |= flag
    return context


_CLASS_CONTEXT = by_shape(_class_context)
