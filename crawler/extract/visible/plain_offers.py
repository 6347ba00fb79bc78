"""Recognise a product's page without buy button: a name, a picture, a line that is the price."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.money.amounts import find_prices
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import Element, Page, holds_digit, short_text
from crawler.extract.page.places import path
from crawler.extract.price.line_amounts import monies_of
from crawler.extract.price.other_amounts import COSTS, POSTAGE, WITH_TAX, says_other
from crawler.extract.price.words_beside import calls_price
from crawler.extract.stock.availability import availability_of_text
from crawler.extract.visible.no_goods import is_for_persons, is_time, leads_below, refers
from crawler.extract.visible_signs import Visible
from crawler.extract.words import any_word, entry_matcher, finder_of

#: Marks of forum software.
_BOARDS = (
    b"viewtopic.php",
    b"showthread.php",
    b"phpbb",
    b"data-xf-",
    b"index.php?topic=",
    b"discourse-",
    b"forum-topic",
)
#: Words for services: entrances, courses, nights, hours, wages.
_SERVICE = any_word("amounts", "service", "wages")
#: A label of the amount for a period: "Day", "Weekend", "Tagesmiete".
_IS_PERIOD = entry_matcher("amounts", "periods", 3)
#: The heading of a part of a test: "Our verdict", "Pros".
_JUDGES = entry_matcher("headings", "verdicts", 3)
#: The head of a column of amounts that are no prices: "Amount", "Spende".
_NAMES_SUMS = entry_matcher("amounts", "sums", 3)
#: Characters of such a label, and of an amount before it.
_MAX_LABEL, _MAX_AMOUNT = 24, 16
#: Words about a dish that a restaurant delivers: "Delivery in 30-40 min".
_MEALS = any_word("amounts", "meals")
#: The unit that a price is for: `the pair`, `/ jar`.
_PACKED = finder_of(
    lambda any_of: rf"^\W{{0,4}}(?:\w{{1,4}}\W)?(?:{any_of('amounts', 'packs')})(?!\w)"
)
#: The end of a sentence; in a line, the price may stand behind sentences about the product.
_SENTENCES = lazy_patterns.pattern(r"[.!?…。;；|•·]\s+|\s[-–—]\s|[。；　]")
_WORD = re.compile(r"[^\W\d_]{2}").search
#: Size, weight or volume of a product: `24 x 36`, `350 g`, `0,7 l`.
MEASURE = re.compile(
    r"\d\s?(?:x|×|х)\s?\d|(?<![\d.,])\d{1,4}(?:[.,]\d{1,2})?\s?"
    r"(?:cm|mm|kg|gr?|ml|cl|dl|l|in(?:ch(?:es)?)?|lbs?|oz|см|мм|кг|г|мл|л|litr\w*|liter|gram\w*"
    r"|k?w|[hk]p|hk|ps|ccm|v|ah|кВт|вт)(?![\w/])",
    re.I,
).search
#: The year in which a product was made, or its number of pages.
_MADE_IN = re.compile(
    r"(?<!\d)1[4-9]\d\d(?!\d)|\d{2,4}\s(?:s|p|pp|pages?|seiten|sivua|stran|str|pagine)\b", re.I
).search
#: Date or time of an event: `12.5.`, `24/06/2025`, `19:30`, `7 pm`.
_DATE_OR_TIME = re.compile(
    r"(?<![\d.,/-])(?:[0-3]?\d[./][01]?\d[./](?:\d{2}(?:\d\d)?)?(?!\d)|[0-2]?\d[:h][0-5]\d(?!\d)"
    r"|[0-2]?\d\s?(?:[ap]\.?m\b|uhr\b|h\b|klo\b))"
    r"|\d\s?月\s?\d{1,2}\s?日",
    re.I,
).search
#: The days of an event: `6.–10. June 2024`.
_DAYS = re.compile(r"(?<!\d)[0-3]?\d\.?\s?[–-]\s?[0-3]?\d\.?\s[^\W\d_]{3,12}\s20\d\d(?!\d)").search
#: Hours of one to three days.
_DAYS_IN_HOURS = ("24", "48", "72")
#: The area of a room or a piece of land.
_AREA = re.compile(
    r"(?<![\d.,])\d{2,5}\s?(?:m2|m²|㎡|平米|qm|sq\.?\s?m|м2|м²|acres?)(?!\w)"
    r"|(?<![\d.,])\d{1,4}(?:[.,]\d{1,2})?\s?(?:ha|hect[aáà]r\w{0,3}|hektar\w{0,3}|га)(?!\w)",
    re.I,
).search
#: Characters of a line with the price.
_MAX_LINE = 120
#: Characters of sentences that make a page an article, and of a line that is a sentence.
_MIN_ARTICLE, _MIN_SENTENCE = 2_000, 80
#: Characters of a sentence with the prices of several things.
_MIN_PRICE_SENTENCE = 60
#: Cells that may have their label in the cell before.
_CELLS = frozenset({"td", "dd"})
#: Lines behind the heading that are read, and amounts that make a list of prices.
_MAX_LINES, _MIN_LIST = 60, 3


def weigh_offer(
    walk: Lines, signs: Visible, local: str | None, heading: Element | None, page: Page
) -> None:
    """Set `of_service`, `price_stands` and `plainly` in *signs* for a page without buy button."""
    price = signs.fields.get("price")
    if not price or signs.price_line is None or heading is None or signs.price_in_prose:
        return
    line = walk.lines[signs.price_line]
    near_lines = [near_line for near_line in walk.product_lines if _is_near(near_line, line)]
    signs.priced_as_service = (
        is_of_period(walk, line, price, local)
        or is_price_of_service(walk, signs)
        or is_for_persons(line)
    )
    signs.of_service = (
        signs.priced_as_service
        or any(map(page.holds, _BOARDS))
        or (signs.asks and sum(map(_is_showtime, near_lines)) > 1)
        or (len(line.text) <= _MAX_LINE and _names_service(line.text))
        or any(_is_about_service(near_line, price, local) for near_line in near_lines)
        or (not MEASURE(short_text(heading)) and any(_AREA(n.text) for n in near_lines))
    )
    signs.in_sums = _is_in_sums(line.element) or _is_in_price_list(walk, signs, line, local)
    signs.judged = any(n.flags & _lines.HEADING and _JUDGES(n.text) for n in walk.product_lines)
    signs.refers = refers(walk, line, page, asks=signs.asks)
    not_own = signs.of_service or signs.refers or signs.judged or line.flags & _lines.LINK
    if len(line.text) <= _MAX_LINE and not (not_own or leads_below(walk, line, page)):
        signs.price_stands = _stands_alone(line, price, local)
        # Without a picture, a button that nobody knows rather books something than sells it.
        own_button = _lines.BUTTON | _OUTSIDE
        is_pressed = any(n.flags & own_button == _lines.BUTTON for n in near_lines)
        is_shown = bool(signs.fields.get("images")) or not is_pressed
        signs.plainly = signs.price_stands and is_shown and _offers_one(walk, signs, local, heading)
    is_sentence = len(line.text) > _MIN_PRICE_SENTENCE and not signs.price_stands
    signs.in_price_sentence = is_sentence and len(monies_of(line, local)) > 1


def _is_about_service(line: Line, price: Decimal, local: str | None) -> bool:
    """Whether a line near the price is about a service; not if it has another amount of its own."""
    if _MEALS(line.text) is not None:
        return True
    if not (_is_of_service(line.text) or _DAYS(line.text)):
        return False
    monies = monies_of(line, local) if line.flags & _lines.DIGIT else ()
    own_amounts = {money.value for money in monies if money.currency}
    return not own_amounts or price in own_amounts


def _is_of_service(text: str) -> bool:
    """Whether a text has words for a service; hours until a product is sent are none."""
    service = _SERVICE(text)
    if service is None or not service[0][:1].isdecimal():
        return service is not None
    is_in_stock = service[0].startswith(_DAYS_IN_HOURS) and availability_of_text(text) == "InStock"
    return not is_in_stock and POSTAGE(text) is None


def _is_showtime(line: Line) -> bool:
    """Whether a link or a button is a time of day alone, as those of a film's screenings are."""
    return bool(line.flags & (_lines.LINK | _lines.BUTTON)) and is_time(line.text)


def is_of_period(walk: Lines, line: Line, price: Decimal, local: str | None) -> bool:
    """Whether the line before the price is the label of a period, as in a table of rents.

    Or the words behind it are: `28 € / day`.
    """
    if len(line.text) <= _MAX_LABEL + _MAX_AMOUNT:
        ends = (money.end for money in monies_of(line, local) if money.value == price)
        behind = line.text[next(ends, len(line.text)) :]
        if behind and _IS_PERIOD(behind):
            return True
    label = walk.lines[line.index - 1].text if line.index - 1 > walk.heading else ""
    return len(label) <= _MAX_LABEL and _IS_PERIOD(label) is not None


def _is_in_sums(element: Element) -> bool:
    """Whether the head of the price's column calls the amounts below it other ones than prices."""
    cell = next((e for e in (element, *islice(element.iterancestors(), 2)) if e.tag == "td"), None)
    table = None if cell is None else next(cell.iterancestors("table"), None)
    head = None if table is None else next(table.iter("tr"), None)
    if cell is None or head is None or cell.getparent() is head:
        return False
    column = sum(1 for _ in cell.itersiblings(preceding=True))
    above = next(islice(head.iterchildren("th", "td"), column, None), None)
    return above is not None and _NAMES_SUMS(short_text(above, _MAX_LABEL)) is not None


def _is_in_price_list(walk: Lines, signs: Visible, line: Line, local: str | None) -> bool:
    """Whether the page has no picture of its name, and its price is one of a list of named ones.

    A list of quantities or sizes has the prices of one product.
    """
    if signs.pictured or signs.facts:
        return False
    place, amounts = path(line.element), set()
    for entry in walk.product_lines:
        if entry.flags & _lines.DIGIT and path(entry.element) == place:
            money = next(iter(monies_of(entry, local)), None)
            before = walk.lines[entry.index - 1].text if entry.index else ""
            name = before if money is None or not entry.text[: money.start].strip() else entry.text
            if money is not None and _WORD(name) and not MEASURE(name):
                amounts.add(money.value)
    return len(amounts) >= _MIN_LIST


def is_price_of_service(walk: Lines, signs: Visible) -> bool:
    """Whether the line with the price names an entrance, a course or an hour."""
    line = None if signs.price_line is None else walk.lines[signs.price_line]
    return line is not None and len(line.text) <= _MAX_LINE and _is_of_service(line.text)


def orders_service(walk: Lines, signs: Visible) -> bool:
    """Whether the only buttons say "order" beside a price per month or hour, or beside a dish.

    A button with a whole phrase sells products by subscription too: "Add to cart".
    """
    if signs.buys_in_words:
        return False
    near_lines = walk.lines[max(walk.heading, 0) :][:_MAX_LINES]
    if is_price_of_service(walk, signs) or any(_MEALS(line.text) for line in near_lines):
        return True
    price = signs.fields.get("price")
    if signs.price_line is None or price is None:
        return False
    return is_of_period(walk, walk.lines[signs.price_line], price, None)


def _offers_one(walk: Lines, signs: Visible, local: str | None, heading: Element) -> bool:
    """Whether a page is about one product: shown or measured, and without other amounts."""
    price_line, price = walk.lines[signs.price_line or 0], signs.fields["price"]
    name = short_text(heading)
    if _names_service(name) or says_other(name.lower()):
        return False
    lines = [line for line in walk.lines[max(walk.heading, 0) :] if not line.flags & _OUTSIDE][
        :_MAX_LINES
    ]
    if any(
        _names_service(line.text)
        for line in lines
        if line.index != price_line.index and _is_near(line, price_line)
    ):
        return False
    prose_length = sum(len(line.text) for line in lines if len(line.text) > _MIN_SENTENCE)
    if prose_length > _MIN_ARTICLE or _has_other_amounts(lines, signs, local, price_line):
        return False
    return (
        bool(signs.fields.get("availability") or "regular_price" in signs.fields)
        or _names_goods(price_line.text, price, local)
        or any(describes_goods(line.text) for line in lines if line.flags & _lines.DIGIT)
    )


def describes_goods(text: str) -> bool:
    """Whether a text with figures has a product's measure, its year or its postage."""
    if MEASURE(text) or _MADE_IN(text):
        return True
    return len(text) <= _MAX_LINE and POSTAGE(text) is not None


def _names_goods(text: str, price: Decimal, local: str | None) -> bool:
    """Whether words behind a price are about goods: postage, tax, a jar, a pair."""
    line_ends = (money.end for money in find_prices(text, local) if money.value == price)
    behind = text[next(line_ends, 0) :]
    return (
        _PACKED(behind) is not None or POSTAGE(behind) is not None or WITH_TAX(behind) is not None
    )


_OUTSIDE = _lines.ELSEWHERE | _lines.HIDDEN | _lines.BEYOND | _lines.CARD


def _is_near(line: Line, price_line: Line) -> bool:
    return abs(line.index - price_line.index) <= 6 and len(line.text) <= _MAX_LINE


def _stands_alone(line: Line, price: Decimal, local: str | None) -> bool:
    """Whether a line or sentence is just the price, with its label before and remarks behind it."""
    monies = monies_of(line, local)
    price_money = next((money for money in monies if money.value == price), None)
    if price_money is None:
        return False
    before = _SENTENCES.split(line.text[: price_money.start])[-1].strip()
    if monies[0] is not price_money and monies[0].end > price_money.start - 12:
        before = line.text[monies[0].end : price_money.start].strip()
    if before and _WORD(before) and not calls_price(before):
        return False
    return bool(before) or not _is_labelled_otherwise(line.element)


def _is_labelled_otherwise(element: Element) -> bool:
    """Whether the cell before labels the amount as something else: a way of delivery."""
    cell = next(
        (e for e in (element, *islice(element.iterancestors(), 2)) if e.tag in _CELLS), None
    )
    label = None if cell is None else cell.getprevious()
    text = "" if label is None else short_text(label, _MAX_LINE)
    return bool(text) and _WORD(text) is not None and not calls_price(text) and not COSTS(text)


def _names_service(text: str) -> bool:
    """Whether a text names a date or a service."""
    return _is_of_service(text) or (holds_digit(text) and _DATE_OR_TIME(text) is not None)


def _has_other_amounts(
    lines: list[Line], signs: Visible, local: str | None, price_line: Line
) -> bool:
    """Whether the page shows further amounts than the price, the regular price and postage."""
    known_amounts = {signs.fields["price"], signs.fields.get("regular_price")}
    for line in lines:
        if not line.flags & _lines.DIGIT or line is price_line:
            continue
        other_monies = [
            money
            for money in monies_of(line, local)
            if money.value not in known_amounts and money.currency
        ]
        if other_monies and not says_other(line.text.lower()) and not line.flags & _lines.OLD:
            return True
    return False
