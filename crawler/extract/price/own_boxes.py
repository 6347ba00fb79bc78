"""Divide a line of three amounts and more by its boxes, if each box has an amount and its words.

Words between two amounts may be about either. Where `<b>139 €</b> <i>You save 30 €</i> <i>5 € off with
a code</i>` is one line, the boxes tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import attrs

from crawler.extract.money.amounts import Money
from crawler.extract.page.lines import JOINED, OLD, Line
from crawler.extract.page.page import Element, short_text
from crawler.extract.price.words_beside import holds_word

#: Amounts of a line that is divided, at least and at most, and boxes of it.
MIN_AMOUNTS, _MAX_AMOUNTS, _MAX_BOXES = 3, 8, 16


def by_boxes(line: Line, monies: Sequence[Money]) -> list[tuple[Line, Money]]:
    """Return a line's boxes as lines, each with its amount; none where a box has none or two.

    One box has no words, that of the price. Two without words are the prices before and now.
    """
    if not line.flags & JOINED or line.flags & OLD or len(monies) > _MAX_AMOUNTS:
        return []
    divided: list[tuple[Line, Money]] = []
    begin, remaining = 0, list(monies)
    for element, text in _texts(line):
        if begin >= len(line.text):
            break  # the next box is another line's
        begin = line.text.find(text, begin)
        end = begin + len(text)
        if begin < 0:
            return []
        inside = [money for money in remaining[:2] if money.end <= end]
        if inside and inside[0].start < begin:
            return []
        if len(inside) == 1:
            own = attrs.evolve(inside[0], start=inside[0].start - begin, end=inside[0].end - begin)
            divided.append((attrs.evolve(line, text=text, element=element), own))
            del remaining[0]
        elif inside or holds_word(text):
            return []
        begin = end
    bare = [money for box, money in divided if not _words_beside(box.text, money)]
    return divided if not remaining and len(bare) == 1 else []


def _words_beside(text: str, money: Money) -> bool:
    return holds_word(f"{text[: money.start]} {text[money.end :]}") is not None


def _texts(line: Line) -> Iterator[tuple[Element, str]]:
    """Yield the texts of a line's boxes and between them, with the element of each."""
    first = line.element
    is_whole = len(short_text(first, len(line.text) + 1)) >= len(line.text)
    if is_whole and (own_text := " ".join((first.text or "").split())):
        yield first, own_text
    boxes = first.iterchildren() if is_whole else (first, *islice(first.itersiblings(), _MAX_BOXES))
    for box in islice(boxes, _MAX_BOXES):
        for text in (short_text(box, len(line.text) + 1), " ".join((box.tail or "").split())):
            if text:
                yield box, text
