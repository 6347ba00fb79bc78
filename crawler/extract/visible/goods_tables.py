"""Recognise tables that list a shop's goods, a row each: their names stand in a column of their own."""

from __future__ import annotations

import re
from itertools import islice

from crawler.extract.page.page import Element, holds_digit, short_text
from crawler.extract.visible_signs import Visible
from crawler.extract.words import entry_matcher

#: The head of a column of names: "Product", "Item name".
_NAMES_GOODS = entry_matcher("headings", "goods_column", 3)
#: A word of letters alone, which the numbers in a column "Item" lack.
_WORD = re.compile(
    r"(?<![\w-])[^\W\d_]{3,}(?![\w-])|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}"
).search
_WORDS = re.compile(r"\w{4,}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2,}").findall
_MIN_COLUMNS, _MAX_COLUMNS, _MAX_ROWS, _MAX_HEAD = 3, 20, 60, 40


def is_in_goods_table(element: Element, signs: Visible) -> bool:
    """Whether a price stands in a table of goods with several names, none of them the page's.

    A table of a product's variants has a column of sizes, or names like that of the page.
    """
    cell = element if element.tag == "td" else element.getparent()
    if cell is None or cell.tag != "td":
        return False
    table = next(cell.iterancestors("table"), None)
    head = None if table is None else next(table.iter("tr"), None)
    if table is None or head is None or len(head) < _MIN_COLUMNS:
        return False
    columns = enumerate(head[:_MAX_COLUMNS])
    named = next((i for i, box in columns if _NAMES_GOODS(short_text(box, _MAX_HEAD))), None)
    priced = sum(1 for _ in cell.itersiblings(preceding=True))
    if named is None or named == priced or priced >= len(head):
        return False
    rows = [row for row in islice(table.iter("tr"), 1, _MAX_ROWS) if len(row) == len(head)]
    texts = (short_text(row[named]) for row in rows if holds_digit(short_text(row[priced])))
    names = {text.lower() for text in texts if _WORD(text)}
    page_words = (signs.fields.get("name") or "").lower()
    return len(names) > 1 and not any(word in page_words for name in names for word in _WORDS(name))
