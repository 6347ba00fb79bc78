"""Name and price of a page without a heading that names a thing: by what stands before them.

Hand-made pages write a label and a value, or the name right above the price.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, zip_longest

from crawler.extract import lazy_patterns
from crawler.extract.money import short_currency_words
from crawler.extract.money.amounts import amount, find_prices
from crawler.extract.money.currencies import currency_of
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import Element, squashed
from crawler.extract.page.places import leads_away, path
from crawler.extract.price.line_amounts import says_now
from crawler.extract.price.words_beside import CALLS_PRICE
from crawler.extract.visible.priced_heading import is_called_name, is_general
from crawler.extract.visible_signs import Visible
from crawler.extract.words import whole_of
from crawler.extract.words.listed_words import Listed

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_IS_NAME = whole_of(lambda any_of: rf"\W{{0,3}}(?:{any_of('headings', 'name_label')})\W{{0,3}}")
_VALUE = lazy_patterns.pattern(
    r"\W{0,3}(?:[^\W\d_]{1,4}[.:]?\s?)?"
    r"(\d{1,3}(?:[., '’]\d{3}){1,3}(?:[.,]\d{1,2})?|\d{1,9}(?:[.,]\d{1,2})?)"
    r"(?:\s?[^\W\d_]{1,4})?\W{0,3}"
)
_WORD = lazy_patterns.pattern(r"[^\W\d_]{2}")
_CODE = lazy_patterns.pattern(r"\b[A-Z]{3}\b|[€£$¥₹₽]|(?<=\d\s)[^\W\d_]{1,4}$")
_IS_LABELLED = re.compile(r"[^\W\d][^:：]{2,18}\s?[:：]\s.*", re.S).fullmatch
#: Characters of a label and of a name, lines from a name to the price, and boxes around a line.
_LONGEST_LABEL, _LONGEST_NAME, _BESIDE, _MOST_AROUND = 30, 200, 16, 4
#: Headings of one make on a page that shows one thing.
_MOST_ALIKE = 2
#: Letters of a name in a page without headings, and boxes of a cell that holds more than an amount.
_BOLD, _FEWEST_IN_CELL = frozenset({"b", "strong", "big"}), 2
_APART = _lines.ELSEWHERE | _lines.HIDDEN | _lines.OLD | _lines.BUTTON


def name_before(read: Lines, place: int) -> Element | None:
    """The nearest heading before a line, else the nearest box there that is called a name.

    None behind a link to another page, because it names what that page shows.
    """
    price, called = read.lines[place].element, None
    for line in reversed(read.lines[max(0, place - _BESIDE) : place]):
        boxes = (line.element, *islice(line.element.iterancestors(), _MOST_AROUND))
        heading = next((box for box in boxes[:3] if box.tag in _HEADINGS), None)
        if line.flags & _APART or not _may_name(line.text):
            continue
        if any(box.tag == "a" and leads_away(box) for box in boxes):
            break
        if heading is not None and _IS_LABELLED(line.text) and labelled_name(read):
            return called  # a fact in letters of a heading's size
        if heading is not None and price not in heading.iter():
            return None if _is_of_row(read, heading) else heading
        if called is None and heading is None and is_called_name(line.element):
            called = line.element if price not in line.element.iter() else None
    return called if called is not None else _first_of_box(read, place)


def _first_of_box(read: Lines, place: int) -> Element | None:
    """The first line of the cell around a price, where it stands in bold and nothing else does.

    Pages without any heading begin the cell beside a picture with the name.
    """
    price = read.lines[place].element
    around = (price, *islice(price.iterancestors(), _MOST_AROUND))
    cells = (box for box in around if box.tag == "td")
    cell = next((c for c in cells if len(c) > _FEWEST_IN_CELL), None)
    if cell is None:
        return None
    inside = [
        n for n in read.lines[max(0, place - _BESIDE) : place] if cell in n.element.iterancestors()
    ]
    first = inside[0] if inside else None
    if first is None or first.flags & (_APART | _lines.LINK) or not _may_name(first.text):
        return None
    bold = first.element.tag in _BOLD and squashed(cell.text or "") == ""
    return first.element if bold and ":" not in first.text else None


def _is_of_row(read: Lines, heading: Element) -> bool:
    """Whether several headings stand in boxes of the same make, as in tiles."""
    place = path(heading)
    alike = (n.element for n in read.lines if n.element.tag == heading.tag)
    return sum(path(element) == place for element in alike) > _MOST_ALIKE


def _may_name(text: str) -> bool:
    if not 3 <= len(text) <= _LONGEST_NAME or text[-1] in ":：" or is_general(text):
        return False
    return _WORD.search(text) is not None and next(find_prices(text), None) is None


def labelled_name(read: Lines) -> tuple[str, Element] | None:
    """The one value of a label that asks for a name, and where it stands: `Title: red lamp`."""
    told = {text: line.element for line, text, _ in _values(read, _IS_NAME) if _may_name(text)}
    return next(iter(told.items())) if len(told) == 1 else None


def take_labelled(read: Lines, seen: Visible) -> None:
    """Take the number behind a label for the price, where it is the only one.

    Of several the one whose label says that it is asked now, and the higher one was before.
    """
    told = [
        (line, found[1], label)
        for line, text, label in _values(read, CALLS_PRICE)
        if (found := _VALUE.fullmatch(text))
    ]
    now = [one for one in told if says_now(one[2])] or told
    if len({value for _, value, _ in now}) != 1:
        return
    line, value, _ = now[0]
    price = amount(value)
    if price:
        seen.fields["price"], seen.price_marked = price, True
        seen.price_is_loose = seen.price_in_prose = False
        before = {other for one in told if one not in now and (other := amount(one[1]))}
        seen.fields["regular_price"] = before.pop() if len(before) == 1 else None
        seen.price_distance, seen.price_line = line.index - max(read.heading, 0), line.index
        label = read.lines[line.index - 1].text if line.index else ""
        words = _CODE.findall(f"{label} {line.text}")
        codes = (currency_of(word) or short_currency_words.currency_of_word(word) for word in words)
        seen.fields["currency"] = next(filter(None, codes), None)
        seen.paths["price"] = path(line.element)
        if seen.buy_buttons and not seen.fields.get("availability"):
            seen.fields["availability"] = "InStock"


def _values(read: Lines, is_label: Listed) -> Iterator[tuple[Line, str, str]]:
    """The lines with a label, or below one in the same row, what it labels, and the label."""
    lines = read.own
    for line, following in zip_longest(lines, lines[1:]):
        text = line.text
        label, sign, value = text.partition(":" if ":" in text else "：")
        if len(label) > _LONGEST_LABEL or not is_label(label):
            continue
        if sign and value.strip():
            yield line, value.strip(), label
        elif following is not None and _row(line.element) is _row(following.element):
            yield following, following.text, label


def _row(element: Element) -> Element:
    """The row of a table that holds an element, else the box around the one that it is in."""
    for box in islice(element.iterancestors(), _MOST_AROUND):
        if box.tag in {"tr", "li", "dl"}:
            return box
    return element.getparent()
