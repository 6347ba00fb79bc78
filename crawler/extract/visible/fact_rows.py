"""Rows of tables that hold facts: a label and its value, or one variant of several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from crawler.extract.page.link_targets import leads_away
from crawler.extract.page.page import Element, short_text
from crawler.extract.price.words_beside import CALLS_PRICE

#: Cells of a row, and rows of a table of variants.
MAX_CELLS, _MAX_VARIANTS = 100, 60
_MIN_HEADS = 3
#: The years of a vehicle which a part fits: `1999-2010`, `2016-`.
_YEARS = re.compile(r"(?:19|20)\d\d\s?[-–—]\s?(?:(?:19|20)\d\d)?").fullmatch
_YEAR = re.compile(r"(?:19|20)\d\d").fullmatch
#: The end of a label that may be of an internal number: `ID`, `Product ID`.
IS_ID = re.compile(r"(?:^|[\s.-])id\Z", re.I).search
#: Labels of numbers that others precede: internal ones, a catalogue's, those of orders by a website.
IS_WEAK = re.compile(
    r"(?:^|[\s.-])id\Z|^internet\b|^[ck]at(?:al|\b)|^кат(?:алож|\b)|(?-i:^(?!SKU|ITEM|PART)[A-Z]{2,4}\s?#\Z)",
    re.I,
).search
#: Tags of a label that may hold its text in a further box.
_LABEL_TAGS = frozenset({"b", "strong", "em", "span", "label", "dt", "th", "td"})
#: Elements of values beside a label.
_VALUE_TAGS = frozenset({"span", "div", "b", "strong", "p", "a"})
#: Blanks, separators and marks of direction around a label or a value.
AROUND = " :：՝.*|/·•\u200b\u200e\u200f\u202a\u202c\ufeff"


def are_variants(heads: Element, values: Element) -> bool:
    """Whether a table has a column of prices, and no row with a link to another page."""
    has_price_column = any(CALLS_PRICE(short_text(head)) for head in heads[:MAX_CELLS])
    rows = islice(values.itersiblings(), _MAX_VARIANTS)
    return has_price_column and not any(
        leads_away(a) for row in (values, *rows) for a in islice(row.iter("a"), 1)
    )


def row_pair(row: Element) -> tuple[str, str] | None:
    """Return a row's label and value, None if it has not two cells with text."""
    if row.tag == "dt":
        value = row.getnext()
        if value is None or value.tag != "dd":
            return None
        pair = short_text(row), short_text(value)
    else:
        cells = [cell for cell in row[:MAX_CELLS] if cell.tag in {"th", "td"}]
        if len(cells) == 3 and not short_text(cells[1]).strip(AROUND):
            del cells[1]  # the sign between label and value has a cell of its own
        if len(cells) != 2:
            return None
        pair = short_text(cells[0]), short_text(cells[1])
    return pair if pair[0] and pair[1] else None


def pairs_below_heads(row: Element) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a table with a row of labels and one row of values below it.

    Not those of a vehicle that a part fits, whose make is not the part's maker; nor the internal
    number of the first of several rows, which a list of goods has as well.
    """
    if row.tag != "tr" or len(row) < _MIN_HEADS or not row[0].tag == row[1].tag == "th":
        return
    values = row.getnext()
    if (
        values is None
        and row.getparent().tag == "thead"
        and (body := row.getparent().getnext()) is not None
    ):
        values = body[0] if len(body) else None
    if values is None or len(values) != len(row):
        return
    several = values.getnext() is not None
    if several and not are_variants(row, values):
        return
    if _YEAR(short_text(values[0])) or any(_YEARS(short_text(v)) for v in values[:MAX_CELLS]):
        return
    for label, value in zip(row[:MAX_CELLS], values[:MAX_CELLS], strict=True):
        if value.tag == "td" and not (several and IS_ID(short_text(label).strip(AROUND))):
            yield short_text(label), short_text(value)


def logo_behind(label: Element) -> str | None:
    """Return the text of the picture behind a label in its box; None if no picture is there."""
    value = label.getnext()
    if value is None and (box := label.getparent()) is not None and box.tag in _LABEL_TAGS:
        value = box.getnext()
    image = None if value is None or short_text(value) else next(value.iter("img"), None)
    return None if image is None else (image.get("alt") or image.get("title") or "").strip()


def is_empty_behind(label: Element) -> bool:
    """Whether the box for the value behind a label is there and empty: `<b>Brand</b><b></b>`."""
    box = label.getnext()
    if box is None or box.tag not in _VALUE_TAGS or (box.tail or "").strip():
        return False
    return not short_text(box) and next(box.iter("img"), None) is None


def boxes_before(heading: Element) -> list[Element]:
    """Return the boxes before a heading: the two before it, and that before its own box."""
    parent = heading.getparent()
    if parent is not None and parent.tag == "td":
        parent = parent.getparent()  # a layout table may have the number in the row above
    above, beside = heading.getprevious(), None if parent is None else parent.getprevious()
    if above is None and beside is None and (outer := parent.getparent()) is not None:
        beside = outer.getprevious()
    farther = None if above is None else above.getprevious()
    return [box for box in (above, farther, beside) if box is not None]


def last_in(box: Element) -> Element:
    """Return the last element without further ones in a box, as the last of the breadcrumbs."""
    while len(box):
        box = box[-1]
    return box
