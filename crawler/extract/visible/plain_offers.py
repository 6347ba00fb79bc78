"""Pages that offer one thing in plain words: a name, its picture, a line that is the price."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.money.amounts import find_prices
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import Element, holds_digit, short_text
from crawler.extract.price.line_amounts import monies_of
from crawler.extract.price.other_amounts import COSTS, POSTAGE, WITH_TAX, says_other
from crawler.extract.price.words_beside import calls_price
from crawler.extract.visible_signs import Visible
from crawler.extract.words import any_word, finder_of

#: What the pages of boards hold, on which people talk.
_BOARDS = (
    b"viewtopic.php",
    b"showthread.php",
    b"phpbb",
    b"data-xf-",
    b"index.php?topic=",
    b"discourse-",
)
#: What is paid for and is no thing: entrances, courses, nights, hours.
_SERVICE = any_word("amounts", "service")
#: How much one gets for a price: `the pair`, `/ jar`.
_PACKED = finder_of(
    lambda any_of: rf"^\W{{0,4}}(?:\w{{1,4}}\W)?(?:{any_of('amounts', 'packs')})(?!\w)"
)
#: Where a sentence ends; the price may stand behind what is told of the thing in its line.
_SENTENCES = lazy_patterns.pattern(r"[.!?…。;；|•·]\s+|\s[-–—]\s|[。；　]")
_WORD = re.compile(r"[^\W\d_]{2}").search
#: How large, heavy or much a thing is: `24 x 36`, `350 g`, `0,7 l`, `12"`.
_MEASURE = re.compile(
    r"\d\s?(?:x|×|х)\s?\d|(?<![\d.,])\d{1,4}(?:[.,]\d{1,2})?\s?"
    r"(?:cm|mm|kg|gr?|ml|cl|dl|l|in(?:ch(?:es)?)?|lbs?|oz|см|мм|кг|г|мл|л|litr\w*|liter|gram\w*)(?![\w/])",
    re.I,
).search
#: When a thing was made, and how many pages it has.
_MADE_IN = re.compile(
    r"(?<!\d)1[4-9]\d\d(?!\d)|\d{2,4}\s(?:s|p|pp|pages?|seiten|sivua|stran|str|pagine)\b", re.I
).search
#: What tells when something takes place, and not what a thing is: `12.5.`, `24/06/2025`, `19:30`, `7 pm`.
_WHEN = re.compile(
    r"(?<![\d.,/-])(?:[0-3]?\d[./][01]?\d[./](?:\d{2}(?:\d\d)?)?(?!\d)|[0-2]?\d[:h][0-5]\d(?!\d)"
    r"|[0-2]?\d\s?(?:[ap]\.?m\b|uhr\b|h\b|klo\b))"
    r"|\d\s?月\s?\d{1,2}\s?日",
    re.I,
).search
#: How large a room or a piece of land is.
_IS_ROOM = re.compile(r"(?<![\d.,])\d{2,5}\s?(?:m2|m²|qm|sq\.?\s?m|м2|м²)(?!\w)", re.I).search
#: Characters of a line with the price.
_LONGEST = 120
#: Characters of sentences from which on a page is an article, and what is a sentence.
_ARTICLE, _SENTENCE = 2_000, 80
#: Boxes whose neighbour before may be their label.
_CELLS = frozenset({"td", "dd"})
#: Lines behind the heading that are looked at.
_MOST_LINES = 60


def weigh_offer(
    read: Lines, seen: Visible, local: str | None, heading: Element | None, raw: bytes
) -> None:
    """Note whether a page without a button that buys names, shows and prices one thing plainly."""
    price = seen.fields.get("price")
    if not price or seen.price_line is None or heading is None or seen.price_in_prose:
        return
    line = read.lines[seen.price_line]
    seen.of_service = (
        any(map(raw.__contains__, _BOARDS))
        or (len(line.text) <= _LONGEST and _is_no_thing(line.text))
        or any(_SERVICE(n.text) or _IS_ROOM(n.text) for n in read.own if _is_near(n, line))
    )
    if len(line.text) <= _LONGEST and not (seen.of_service or line.flags & _lines.LINK):
        seen.price_stands = _stands_alone(line, price, local)
        seen.plainly = seen.price_stands and _offers_one(read, seen, local, heading)


def _offers_one(read: Lines, seen: Visible, local: str | None, heading: Element) -> bool:
    """Whether a page is about one thing: it shows or measures it, and speaks of no other amounts."""
    line, price = read.lines[seen.price_line or 0], seen.fields["price"]
    name = short_text(heading)
    if _is_no_thing(name) or says_other(name.lower()):
        return False
    here = [n for n in read.lines[max(read.heading, 0) :] if not n.flags & _AWAY][:_MOST_LINES]
    if any(_is_no_thing(n.text) for n in here if n.index != line.index and _is_near(n, line)):
        return False
    prose = sum(len(n.text) for n in here if len(n.text) > _SENTENCE)
    if prose > _ARTICLE or _has_others(here, seen, local, line):
        return False
    return (
        bool(seen.fields.get("availability") or "regular_price" in seen.fields)
        or _is_of_things(line.text, price, local)
        or any(_tells_thing(n.text) for n in here if n.flags & _lines.DIGIT)
    )


def _tells_thing(text: str) -> bool:
    """Whether a text with figures measures a thing, dates it or says what it costs to send it."""
    if _MEASURE(text) or _MADE_IN(text):
        return True
    return len(text) <= _LONGEST and POSTAGE(text) is not None


def _is_of_things(text: str, price: Decimal, local: str | None) -> bool:
    """Whether words behind a price are about what is sent or packed: postage, tax, a jar, a pair."""
    line_ends = (m.end for m in find_prices(text, local) if m.value == price)
    behind = text[next(line_ends, 0) :]
    return (
        _PACKED(behind) is not None or POSTAGE(behind) is not None or WITH_TAX(behind) is not None
    )


_AWAY = _lines.ELSEWHERE | _lines.HIDDEN | _lines.BEYOND | _lines.CARD


def _is_near(one: Line, line: Line) -> bool:
    return abs(one.index - line.index) <= 6 and len(one.text) <= _LONGEST


def _stands_alone(line: Line, price: Decimal, local: str | None) -> bool:
    """Whether a line or a sentence is nothing but a price, what calls it one, and remarks behind it."""
    monies = monies_of(line, local)
    own = next((money for money in monies if money.value == price), None)
    if own is None:
        return False
    before = _SENTENCES.split(line.text[: own.start])[-1].strip()
    if monies[0] is not own and monies[0].end > own.start - 12:
        before = line.text[monies[0].end : own.start].strip()
    if before and _WORD(before) and not calls_price(before):
        return False
    return bool(before) or not _is_labelled_otherwise(line.element)


def _is_labelled_otherwise(element: Element) -> bool:
    """Whether the cell before an amount's says that it is no price: a way to send things."""
    cell = next(
        (e for e in (element, *islice(element.iterancestors(), 2)) if e.tag in _CELLS), None
    )
    label = None if cell is None else cell.getprevious()
    text = "" if label is None else short_text(label, _LONGEST)
    return bool(text) and _WORD(text) is not None and not calls_price(text) and not COSTS(text)


def _is_no_thing(text: str) -> bool:
    """Whether a text speaks of a date, or of what one takes part in."""
    return _SERVICE(text) is not None or (holds_digit(text) and _WHEN(text) is not None)


def _has_others(here: list[Line], seen: Visible, local: str | None, own: Line) -> bool:
    """Whether further amounts stand on the page, which are no postage and not the price before."""
    known = {seen.fields["price"], seen.fields.get("regular_price")}
    for line in here:
        if not line.flags & _lines.DIGIT or line is own:
            continue
        others = [m for m in monies_of(line, local) if m.value not in known and m.currency]
        if others and not says_other(line.text.lower()) and not line.flags & _lines.OLD:
            return True
    return False
