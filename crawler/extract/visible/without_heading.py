"""Find name and price on a page without a heading for the product, by the lines before them.

Hand-made pages write a label and a value, or the name right above the price.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice, takewhile, zip_longest
from operator import is_not

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import is_front
from crawler.extract.money import short_currency_words
from crawler.extract.money.amounts import amount, find_prices
from crawler.extract.money.currencies import currency_of
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.link_targets import leads_away, link_around
from crawler.extract.page.page import Element, Page, short_text, squashed
from crawler.extract.page.places import path
from crawler.extract.price.line_amounts import says_now
from crawler.extract.price.words_beside import CALLS_PRICE
from crawler.extract.visible.priced_heading import has_name_class, is_general
from crawler.extract.visible.titles import title_parts
from crawler.extract.visible_signs import Visible
from crawler.extract.words import CachedRule, entry_matcher
from crawler.extract.words.listed_words import WordFinder

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_IS_NAME = entry_matcher("headings", "name_label", 3)
_VALUE = lazy_patterns.pattern(
    r"\W{0,3}(?:[^\W\d_]{1,4}[.:]?\s?)?"
    r"(\d{1,3}(?:[., '’]\d{3}){1,3}(?:[.,]\d{1,2})?|\d{1,9}(?:[.,]\d{1,2})?)"
    r"(?:\s?[^\W\d_]{1,4})?\W{0,3}"
)
#: A number with cents. A whole one may be a size, a count or a year, one with a single digit a rating.
_NUMBER = re.compile(r"\d{1,7}[.,]\d{2}").fullmatch
_WORD = lazy_patterns.pattern(r"[^\W\d_]{2}")
_CODE = lazy_patterns.pattern(r"\b[A-Z]{3}\b|[€£$¥₹₽]|(?<=\d\s)[^\W\d_]{1,4}$")
_IS_LABELLED = re.compile(r"[^\W\d][^:：]{2,18}\s?[:：]\s.*", re.S).fullmatch
#: Characters of a label and of a name, lines from a name to the price, and boxes around a line.
_MAX_LABEL, _MAX_NAME, _MAX_LINES, _MAX_AROUND = 30, 200, 16, 4
#: Headings with the same path on a page with one product.
_MAX_ALIKE = 2
#: Tags of a name on a page without headings, and elements of a cell with more than an amount.
_BOLD_TAGS, _MIN_IN_CELL = frozenset({"b", "strong", "big"}), 2
#: Flags of lines that hold no name; a form called after the cart may hold the heading.
_NO_HEADING_FLAGS = _lines.ELSEWHERE | _lines.HIDDEN | _lines.OLD | _lines.RATING
_NO_NAME_FLAGS = _NO_HEADING_FLAGS | _lines.BUTTON


#: The signs before the owner's name, the bytes behind one, and the least letters of a name.
_COPYRIGHT, _MAX_OWNER, _MIN_OWN = (b"\xc2\xa9", b"&copy;"), 200, 3
_TAG = lazy_patterns.pattern(r"<[^<>]*>")
_BEFORE_OWNER = lazy_patterns.pattern(r"\A(?:&copy;|©)?(?:[\W\d_]|copyright\b|by\b)*")
_BEHIND_OWNER = lazy_patterns.pattern(
    r"\s*(?:\Z|[^\w\s&+'’]|\d|all rights|(?:co|inc|ltd|llc|gmbh|s\.?r\.?l)\b)"
)
_WORDS, _MAX_LINKS = lazy_patterns.pattern(r"[^\W_]{2,}"), 8
#: Classes and ids of a box with the shop's logo, and boxes around a heading in it.
_MAX_LOGO = 2
_IS_LOGO = CachedRule(
    lambda words: (
        re.search(
            r"(?:^|[\s_-])(?:logo|site-?(?:title|name)|navbar-brand)(?![a-z])", words[:200].lower()
        )
        is not None
    )
)


def name_before(walk: Lines, place: int, banner: Element | None = None) -> Element | None:
    """Return the nearest heading before a line, else the nearest box with a class for names.

    The *banner* is no such heading.

    None behind a link to another page, because the link names the product of that page.
    """
    price, named_box = walk.lines[place].element, None
    for line in reversed(walk.lines[max(0, place - _MAX_LINES) : place]):
        boxes = (line.element, *islice(line.element.iterancestors(), _MAX_AROUND))
        heading = next((box for box in boxes[:3] if box.tag in _HEADINGS), None)
        if heading is banner and banner is not None:
            break
        unnamed = _NO_NAME_FLAGS if heading is None else _NO_HEADING_FLAGS
        if line.flags & unnamed or not _may_name(line.text):
            continue
        if any(box.tag == "a" and leads_away(box) for box in boxes):
            break
        if heading is not None and _IS_LABELLED(line.text) and labelled_name(walk):
            return named_box  # a fact in letters of a heading's size
        if heading is not None and price not in heading.iter():
            return None if _is_of_row(walk, heading) else heading
        if (
            named_box is None
            and heading is None
            and (has_name_class(line.element) or _is_large(line.element))
        ):
            named_box = line.element if price not in line.element.iter() else None
    return named_box if named_box is not None else _first_of_box(walk, place)


def heading_below(
    banner: Element | None, walk: Lines, place: int | None, page: Page
) -> Element | None:
    """Return the heading before the price at *place* if the main one is a banner, else the main one.

    A banner says the shop's name as the title does at its end, and has no box in common with the
    price but the page's body. So does one in a box for a logo or with the name of the copyright,
    unless the title begins with it and goes on: the shop of one thing is called like it. One in the
    page's head that the title does not name is a category's.
    """
    if banner is None or place is None:
        return banner
    text = short_text(banner).casefold()
    name, *ends = title_parts(page.title) or ("",)
    if ends and text == ends[-1].casefold():
        around = set(banner.iterancestors())
        boxes = walk.lines[place].element.iterancestors()
        if next((box for box in boxes if box in around), banner).tag != "body":
            return banner
        heading = name_before(walk, place)
    elif ends and text == name.casefold():
        return banner
    elif _is_shops_own(banner, text, page, walk.lines[place].element):
        heading = name_before(walk, place, banner)
        heading = _line_above(walk, place) if heading is None else heading
    elif _is_of_category(banner, text, page):
        heading = _first_in_box(walk.lines[place].element)
    else:
        return banner
    return banner if heading is None else heading


def _is_of_category(banner: Element, text: str, page: Page) -> bool:
    """Whether a heading stands in the page's head with a link to the front page, and no title names it.

    A title may name a product by a part of its heading, or in other order.
    """
    head = next(banner.iterancestors("header"), None)
    above = None if head is None else head.getparent()
    if head is None or above is None or above.tag != "body":
        return False
    if not set(_WORDS.findall(text)).isdisjoint(_WORDS.findall(page.title.casefold())):
        return False
    links = islice(head.iter("a"), _MAX_LINKS)
    return any(is_front(page.resolve(link.get("href") or "")) for link in links)


def _first_in_box(price: Element) -> Element | None:
    """Return the first heading before a price in the smallest box around it that has a picture."""
    for box in islice(price.iterancestors(), _MAX_AROUND):
        if box.tag != "body" and next(box.iter("img"), None) is not None:
            before = takewhile(partial(is_not, price), box.iter(price.tag, *_HEADINGS))
            texts = ((h, short_text(h)) for h in before if h.tag in _HEADINGS)
            return next((h for h, text in texts if _may_name(text) and not _is_section(text)), None)
    return None


def _is_section(text: str) -> bool:
    is_of_others = _lines.begins_other_section(text) is not None
    return is_general(text) or is_of_others or _lines.describes(text) is not None


def _line_above(walk: Lines, place: int) -> Element | None:
    """Return the element of the line right above a price, if both are in one box."""
    line, price = walk.lines[place - 1], walk.lines[place].element
    is_beside = line.element.getparent() is price.getparent()
    is_name = not line.flags & (_NO_NAME_FLAGS | _lines.LINK) and _may_name(line.text)
    return line.element if is_beside and is_name else None


def line_beside(walk: Lines, place: int, page: Page) -> Element | None:
    """Return the only line before a price in the box around it, if no title can name the product.

    The title is missing, or the text of a link to the front page: the shop's name on all pages.
    """
    title = page.title.casefold()
    if title and not any(
        short_text(link, _MAX_NAME).casefold() == title
        and is_front(page.resolve(link.get("href") or ""))
        for link in page.anchors[:_MAX_LINKS]
    ):
        return None
    price, before = walk.lines[place].element, walk.lines[max(0, place - _MAX_LINES) : place]
    for box in islice(price.iterancestors(), _MAX_AROUND):
        texts = [
            line
            for line in before
            if not line.flags & _NO_NAME_FLAGS
            and _may_name(line.text)
            and box in line.element.iterancestors()
        ]
        if texts:
            link = link_around(texts[0].element, 1)
            is_alone = len(texts) == 1 and (link is None or not leads_away(link))
            return texts[0].element if is_alone else None
    return None


def _is_shops_own(banner: Element, text: str, page: Page, price: Element) -> bool:
    """Whether a heading is the shop's name: it stands in a box for a logo, or has the copyright.

    A box that holds the price as well is none for a logo: `<body class="logo-left">`. The copyright
    is that of the whole name: `© Oak Lamp Company` makes `Oak lamp` no shop.
    """
    around = set(price.iterancestors())
    for box in (banner, *islice(banner.iterancestors(), _MAX_LOGO)):
        if box not in around and (words := box.get("class") or box.get("id")) and _IS_LOGO[words]:
            return True
    places = (page.raw.rfind(mark) for mark in _COPYRIGHT)
    return len(text) >= _MIN_OWN and any(
        _owns(text, page.raw[place:][:_MAX_OWNER]) for place in places if place >= 0
    )


def _owns(text: str, copyright_: bytes) -> bool:
    """Whether a text is the owner's whole name behind the sign of a copyright."""
    owner = _TAG.sub("|", copyright_.decode("utf-8", "replace")).casefold()
    behind = _BEFORE_OWNER.sub("", owner, count=1)
    return behind.startswith(text) and _BEHIND_OWNER.match(behind, len(text)) is not None


def _first_of_box(walk: Lines, place: int) -> Element | None:
    """Return the first line of the table cell around a price, if it is in bold.

    Pages without any heading begin the cell beside a picture with the name.
    """
    price = walk.lines[place].element
    around = (price, *islice(price.iterancestors(), _MAX_AROUND))
    cells = (box for box in around if box.tag == "td")
    cell = next((box for box in cells if len(box) > _MIN_IN_CELL), None)
    if cell is None:
        return None
    lines_in_cell = [
        line
        for line in walk.lines[max(0, place - _MAX_LINES) : place]
        if cell in line.element.iterancestors()
    ]
    first_line = lines_in_cell[0] if lines_in_cell else None
    if (
        first_line is None
        or first_line.flags & (_NO_NAME_FLAGS | _lines.LINK)
        or not _may_name(first_line.text)
    ):
        return None
    is_bold = first_line.element.tag in _BOLD_TAGS and squashed(cell.text or "") == ""
    return first_line.element if is_bold and ":" not in first_line.text else None


def _is_large(element: Element) -> bool:
    """Whether the style of an element's own is that of a heading: bold letters in a size given."""
    style = element.get("style") or ""
    return "bold" in style and "font-size" in style


def _is_of_row(walk: Lines, heading: Element) -> bool:
    """Whether several headings have the same path, as in tiles."""
    place = path(heading)
    same_tag = (line.element for line in walk.lines if line.element.tag == heading.tag)
    return sum(path(element) == place for element in same_tag) > _MAX_ALIKE


def _may_name(text: str) -> bool:
    if not 3 <= len(text) <= _MAX_NAME or text[-1] in ":：" or is_general(text):
        return False
    return _WORD.search(text) is not None and next(find_prices(text), None) is None


def labelled_name(walk: Lines) -> tuple[str, Element] | None:
    """Return the one value behind a label for the name, and its element: `Title: red lamp`."""
    names = {
        text: line.element for line, text, _ in _labelled_values(walk, _IS_NAME) if _may_name(text)
    }
    return next(iter(names.items())) if len(names) == 1 else None


def take_labelled(walk: Lines, signs: Visible, local: str | None) -> bool:
    """Take the number behind a label for the price, if there is only one; return whether it did.

    Of several, take the one whose label names the current price; another is the regular price.
    Without its currency's code it is read as a number of the *local* currency.
    """
    labelled = [
        (line, match[1], label)
        for line, text, label in _labelled_values(walk, CALLS_PRICE)
        if (match := _VALUE.fullmatch(text))
    ]
    current = [row for row in labelled if says_now(row[2])] or labelled
    if len({value for _, value, _ in current}) != 1:
        return False
    line, value, _ = current[0]
    label = walk.lines[line.index - 1].text if line.index else ""
    words = _CODE.findall(f"{label} {line.text}")
    codes = (currency_of(word) or short_currency_words.currency_of_word(word) for word in words)
    currency = next(filter(None, codes), None)
    price = amount(value, currency or local)
    if price:
        signs.fields["price"], signs.price_marked = price, True
        signs.price_is_loose = signs.price_in_prose = False
        earlier = [row[1] for row in labelled if row not in current]
        before = {regular for each in earlier if (regular := amount(each, currency or local))}
        signs.fields["regular_price"] = before.pop() if len(before) == 1 else None
        signs.price_distance, signs.price_line = line.index - max(walk.heading, 0), line.index
        signs.fields["currency"] = currency
        signs.paths["price"] = path(line.element)
        if signs.buy_buttons and not signs.fields.get("availability"):
            signs.fields["availability"] = "InStock"
    return bool(price)


def take_headed_number(walk: Lines, buys: int, signs: Visible, local: str | None) -> bool:
    """Take the only number that is a heading of its own between the name and the line that *buys*.

    A hand-made page of one thing writes `<h2>19.99</h2>`. Returns whether it did.
    """
    found = [
        line
        for line in walk.lines[walk.heading + 1 : buys]
        if line.element.tag in _HEADINGS
        and _NUMBER(line.text)
        and not line.flags & _NO_HEADING_FLAGS
        and not _is_counted(line.element)
    ]
    price = amount(found[0].text, local) if len(found) == 1 else None
    if not price:
        return False
    line = found[0]
    signs.fields["price"], signs.fields["currency"] = price, None
    signs.price_distance, signs.price_line = line.index - max(walk.heading, 0), line.index
    signs.paths["price"] = path(line.element)
    if not signs.fields.get("availability"):
        signs.fields["availability"] = "InStock"
    return True


def _is_counted(number: Element) -> bool:
    """Whether a number stands beside a button or a field, as that of the pieces to buy does."""
    beside = (number.getprevious(), number.getnext())
    return any(box is not None and box.tag in {"button", "input"} for box in beside)


def _labelled_values(walk: Lines, is_label: WordFinder) -> Iterator[tuple[Line, str, str]]:
    """Yield (line, value, label) for a label and its value in one line, or in one row."""
    lines = walk.product_lines
    for line, following in zip_longest(lines, lines[1:]):
        text = line.text
        label, sign, value = text.partition(":" if ":" in text else "：")
        if len(label) > _MAX_LABEL or not is_label(label):
            continue
        if sign and value.strip():
            yield line, value.strip(), label
        elif following is not None and _row(line.element) is _row(following.element):
            yield following, following.text, label


def _row(element: Element) -> Element:
    """Return the row of a table or list around an element, else the box around it."""
    for box in islice(element.iterancestors(), _MAX_AROUND):
        if box.tag in {"tr", "li", "dl"}:
            return box
    return element.getparent()
