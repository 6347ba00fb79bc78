"""What a link stands in, by the classes and tags of the boxes around it: tiles, pagers, menus."""

from __future__ import annotations

import re

from crawler.extract.page.class_words import by_shape

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
CONTEXT_TAGS = {"nav": NAV, "header": NAV, "footer": FOOT}


def _class_context(words: str) -> int:
    context = 0
    for flag, rule in _CONTEXT_RULES:
        if rule.search(words):
            context |= flag
    return context


CLASS_CONTEXT = by_shape(_class_context)
