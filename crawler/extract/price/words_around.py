"""The words about an amount: beside it in its line, in the cell before it, or a remark below it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.money.amounts import Money
from crawler.extract.page.lines import DIGIT, HIDDEN, OLD, Line, Lines
from crawler.extract.page.page import holds_digit
from crawler.extract.price.alone import MAX_REMARK
from crawler.extract.price.line_amounts import says_old
from crawler.extract.price.other_amounts import WITHOUT_TAX, names_lowest
from crawler.extract.price.words_beside import calls_price, holds_word

#: Characters beside an amount that may say whether the tax is included.
_MAX_WORDS_BESIDE = 14
#: Characters beside an amount that may name what it is, and the end of the amount before it.
_MAX_NAMED, _LAST_FIGURE = 40, re.compile(r"\d(?!\d?\s?%)")
#: A label behind another amount, and the characters of a label with a figure.
_LABEL_AT_END, _MAX_LABEL = lazy_patterns.pattern(r"([^\W\d_][^\d:]{2,38}):\s*$"), 120
#: Boxes around a label that may be those of the amount before it as well.
_MAX_BOXES = 2
#: Words that may call an amount the price, and the ratio of the price to an amount far below it.
_MAX_WORDS, _MIN_RATIO = 2, 2
_COLONS = frozenset(":：")
_BRACKETS = frozenset("([（")
#: Brackets and figures, but a rate's, end the words about an amount: `12 € inkl. 8.1% MwSt`.
_WORDS_END = lazy_patterns.pattern(r"[(（/]|(?<![\d.,])\d(?!\d?(?:[.,]\d)?\s?%)|[)）](?=\s*\S)")
#: A remark in brackets is about the amount right before it: `6,700円(税抜) 7,370円(税込)`.
_REMARK_BEHIND = re.compile(r"[(（]((?:[^()（）\d]|\d{1,2}\s?%){1,30})[)）]").match
_REMARK_BEFORE = re.compile(r"\d\s?[^\s\d()（）]{0,3}\s?[(（][^()（）]{1,30}[)）]\s?\Z").search


def label_before(walk: Lines, line: Line) -> str:
    """Return the text of the line before, if it may be the label of an amount; else ''."""
    place = line.index - 1
    while place > 0 and walk.lines[place].flags & HIDDEN:
        place -= 1
    if place == walk.heading or place < 0:
        return ""  # a product's name may be "Regular fit jeans"
    label, text = walk.lines[place], walk.lines[place].text
    if not label.flags & DIGIT:
        is_label = len(text) < _MAX_NAMED and not _labels_amount_before(walk.lines, label, line)
        return text if is_label else ""
    if text[-1:] == ":" and len(text) <= _MAX_LABEL and names_lowest(text):
        return text  # "Lowest price of 30 days:": the figure is no amount
    tail = _LABEL_AT_END.search(text)  # the label may stand behind the amount before
    return tail[1] if tail else ""


def _labels_amount_before(lines: Sequence[Line], label: Line, line: Line) -> bool:
    """Whether a label shares a box with the amount before it, and that box does not hold *line*.

    Or the amount before it is struck, and it says so: "189 / regular price / 149 / sale price".
    """
    before = lines[label.index - 1] if label.index else label
    if not before.flags & DIGIT or label.text[-1:] in _COLONS:
        return False
    if before.flags & OLD and says_old(label.text):
        return True
    boxes = {label.element, *islice(label.element.iterancestors(), _MAX_BOXES)}
    box = next((box for box in before.element.iterancestors() if box in boxes), None)
    return box is not None and box not in line.element.iterancestors()


def words_around(line: Line, money: Money, lines: Sequence[Line]) -> str:
    """Return the words beside an amount, up to the next amount or a bracket; else those below it.

    Below, only a remark in brackets or "without tax" counts, because other words may be about
    something else.
    """
    text = line.text
    if not any(map(str.isalpha, text[: money.start] + text[money.end :])):
        if label := label_in_row(line, lines):
            return label
        below = lines[line.index + 1].text if line.index + 1 < len(lines) else ""
        is_remark = below[:1] in _BRACKETS or _says_net(below)
        return below if is_remark and len(below) <= MAX_REMARK else ""
    before, behind = text[: money.start][-_MAX_WORDS_BESIDE:], text[money.end :].lstrip()
    if _REMARK_BEFORE(before):
        before = ""
    if remark := _REMARK_BEHIND(behind):
        return f"{_WORDS_END.split(before)[-1]} {remark[1]}"
    # Behind an amount alone, all words are about it: `12 € belum termasuk PPN`.
    is_remark = not before.strip() and len(behind) <= MAX_REMARK
    behind = behind if is_remark else behind[:_MAX_WORDS_BESIDE]
    return f"{_WORDS_END.split(before)[-1]} {_WORDS_END.split(behind)[0]}"


def _says_net(text: str) -> bool:
    """Whether a text without a figure begins with words for a price without tax: `excl. VAT | each`.

    "incl. VAT" below two amounts is about both, of which one may be the price before a reduction.
    """
    remark = None if holds_digit(text) else WITHOUT_TAX(text)
    return remark is not None and remark.start() == 0


def label_in_row(line: Line, lines: Sequence[Line]) -> str:
    """Return the text of the cell before an amount's cell in a row or in a list of terms; else ''."""
    label = lines[line.index - 1] if 0 < line.index <= len(lines) else line
    if label is line:
        return ""
    if line.element.tag == "dd":
        return label.text if label.element.tag == "dt" else ""
    return label.text if share_row(label, line) else ""


def share_row(first: Line, second: Line) -> bool:
    """Whether two lines stand in one row of a table."""
    rows = [
        next((box for box in islice(line.element.iterancestors(), 3) if box.tag == "tr"), None)
        for line in (first, second)
    ]
    return rows[0] is not None and rows[0] is rows[1]


def is_labelled_otherwise(line: Line, lines: Sequence[Line]) -> bool:
    """Whether the cell before an amount's cell labels it, and not as a price."""
    label = label_in_row(line, lines)
    return holds_word(label) is not None and not calls_price(label.strip(" :："))


def are_told_apart(
    pair: tuple[Line, Line], values: tuple[Decimal, Decimal], lines: Sequence[Line]
) -> bool:
    """Whether the label of one of two amounts makes it another one than a reduced price."""
    labelled = [place for place, line in enumerate(pair) if is_labelled_otherwise(line, lines)]
    if len(labelled) != 1:
        return bool(labelled) and not share_row(*pair)
    if share_row(*pair):
        return False
    place = labelled[0]
    return not may_be_price(values[place], values[1 - place], label_in_row(pair[place], lines))


def may_be_price(amount: Decimal, other: Decimal, words: str) -> bool:
    """Whether one or two words may call an amount the price beside another one: `Black Friday`.

    No list has all of them. A deposit is far lower than the price, and a condition has more words.
    """
    return amount * _MIN_RATIO > other and 0 < len(words.split()) <= _MAX_WORDS


def words_beside(line: Line, money: Money) -> str:
    """Return the words before an amount in its line, else those behind it; '' without any."""
    before = _LAST_FIGURE.split(line.text[: money.start][-_MAX_NAMED:])[-1]
    behind = line.text[money.end :][:_MAX_NAMED]
    return next(filter(holds_word, (before, behind)), "")


def label_above(line: Line, lines: Sequence[Line]) -> str:
    """Return the beginning of the line before, if it has no figure; else ''."""
    line_above = lines[line.index - 1] if 0 < line.index <= len(lines) else line
    return "" if line_above.flags & DIGIT else line_above.text[:_MAX_NAMED]
