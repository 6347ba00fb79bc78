"""Facts beside the heading: the maker above it, the number above it or in brackets at its end."""

from __future__ import annotations

import re
from decimal import Decimal

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.money.amounts import find_prices
from crawler.extract.page.page import MAX_TEXT_LENGTH, Element, holds_digit, short_text
from crawler.extract.price.line_amounts import says_old
from crawler.extract.structured.nodes import stands_in
from crawler.extract.visible.fact_labels import label_of, unseparated
from crawler.extract.visible.fact_lines import MAX_BRAND, MAX_CODE, MAX_FACT, PAIR
from crawler.extract.visible.fact_rows import AROUND, boxes_before, last_in
from crawler.extract.visible.fact_values import as_identifier
from crawler.extract.visible.facts import DIVIDED, PARTS, names_maker
from crawler.extract.visible.home_links import leads_home
from crawler.extract.visible.linked_makers import maker_of_link

#: The highest ratio of a regular price to the price.
_MAX_RATIO = 5
#: Boxes that have a line of their own, and how many of them in one box are read.
_BOXES, _MAX_PARTS = frozenset({"div", "p", "li", "ul", "dl", "section"}), 6
_IN_BRACKETS = lazy_patterns.pattern(r"\[(\S{3,30})\]")
#: A measure in brackets, which may end a variant's address: `/500ml`.
_MEASURE = re.compile(r"\d+(?:[.,]\d+)?(?:M?L|CL|[KM]?G|[CM]?M|OZ|LB|W|V|GB|TB|PCS?|PK)")
#: A number in round brackets: years, measures and packs have few figures or small letters.
_MIN_FIGURES = 4
_BRACKETED_AT_END = lazy_patterns.pattern(
    r"\s\((?!(?:1[4-9]|20)\d\d(?:\D(?:19|20)?\d\d)?\))(?=[^\s()]{0,12}\d)([A-Z\d./_-]{4,30})\)$"
)


def old_price_above(heading: Element, price: Decimal, currency: str | None) -> Decimal | None:
    """Return the price before a reduction in the line above a heading: `statt 28,50 €`."""
    for above in boxes_before(heading):
        text = short_text(above, MAX_CODE) if len(above) <= 1 else ""  # no header
        for money in find_prices(text, currency) if holds_digit(text) and says_old(text) else ():
            is_price = price < money.value < _MAX_RATIO * price and money.currency == currency
            is_last = not any(map(str.isalpha, text[money.end :]))  # else of something other
            if is_price and is_last and says_old(text[: money.start]):
                return money.value
    return None


def brand_before(heading: Element, title: str) -> str | None:
    """Return the brand right before a heading, in an element whose class, id or tag is a brand's.

    Or in any element, if the page's *title* has the brand and the heading in a row.
    """
    parent = heading.getparent()
    boxes = (heading.getprevious(), None if parent is None else parent.getprevious())
    for element in map(_sole_box, boxes):
        if element is None:
            continue
        if _is_called_maker(element) or (_is_alone(element) and _is_called_maker(element[0])):
            text = maker_of_link(element, short_text(element))
            if text and len(text) <= MAX_BRAND and ":" not in text and not label_of(text):
                return text
        if brand := _brand_behind_label(element):
            return brand
    above = heading.getprevious()
    if above is not None and above.tag == heading.tag == "h1":
        text = short_text(above)  # the name is in two headings, or the price has its own
        return text if text and next(find_prices(text), None) is None else None
    if above is not None and above.tag in {"a", "span", "div", "p"}:
        text, name = short_text(above), short_text(heading)
        if _is_titled(text, name, title) or _begins_with_maker(name, text):
            return text
    return None


def _is_called_maker(element: Element) -> bool:
    """Whether the class, the id or the tag of an element is a maker's."""
    names = f"{element.tag} {element.get('class') or ''} {element.get('id') or ''}"
    return names_maker(names[:1000].lower().rstrip()) is not None and not leads_home(element)


def _is_alone(element: Element) -> bool:
    """Whether the element has a single one in it, and no text beside that."""
    return len(element) == 1 and not f"{element.text or ''}{element[0].tail or ''}".strip()


def _sole_box(element: Element | None) -> Element | None:
    """Return the only box in an element without a class and text of its own, else the element."""
    if element is None or element.get("class") or element.tag == "a" or not _is_alone(element):
        return element
    return element if leads_home(element[0]) else element[0]


def _brand_behind_label(element: Element) -> str | None:
    """Return the brand in a short text right above a heading, or in a line of it: `Brand: Acme`."""
    match = PAIR.match(short_text(element, MAX_FACT))
    if match is None:
        return None
    if len(element) > 1 and (lines := _parts(element)):
        return next(filter(None, map(_brand_behind_label, lines)), None)
    if label_of(match[1] or match[3]) != "brand":
        return None
    brand = PARTS.split(match[2] or match[4])[0].strip(AROUND)
    return brand if len(brand) <= MAX_BRAND and ":" not in brand else None


def _is_titled(maker: str, name: str, title: str) -> bool:
    """Whether a page's title begins with the maker and, behind it, the product's name."""
    title_start = f"{maker} {name}".casefold()
    return 0 < len(maker) <= MAX_BRAND and title.casefold().startswith(title_start)


def _begins_with_maker(name: str, text: str) -> bool:
    """Whether the text above a product's name is its first words: `Acme` above `Acme lamp 12`."""
    return 1 < len(text) <= MAX_BRAND and name.startswith(f"{text} ")


def number_in_heading(heading: Element, url: str, fields: Fields) -> str | None:
    """Return the number in round brackets at a heading's end or below, which the address has too.

    It is the maker's where the address also has the number under the shop's own label.
    """
    text, below = short_text(heading, MAX_TEXT_LENGTH), heading.getnext()
    if below is not None and (below.text or "")[:1] == "(":
        text = f" {short_text(below, MAX_CODE)}"
    if not text.endswith(")"):
        return None
    bracketed, labelled = _BRACKETED_AT_END.search(text), fields.get("sku")
    if bracketed is None or not _is_addressed(url.casefold(), bracketed[1].casefold()):
        return None
    is_addressed = labelled and stands_in(url.casefold(), labelled.casefold())
    return None if is_addressed else bracketed[1]


def _is_addressed(url: str, number: str) -> bool:
    """Whether an address has a number; one with few figures has to be its last part."""
    if sum(map(str.isdigit, number)) < _MIN_FIGURES:
        if _MEASURE.fullmatch(number.upper()):
            return False
        return url.partition("?")[0].rstrip("/").rpartition("/")[2] == number
    return stands_in(url, number)


def number_beside(heading: Element) -> str | None:
    """Return the number in brackets at a heading's end, or behind its label before the heading."""
    last_text = short_text(heading[-1], MAX_FACT) if len(heading) else ""
    if bracketed := _IN_BRACKETS.fullmatch(last_text):
        return as_identifier(bracketed[1]) or None
    for box in boxes_before(heading):
        text = short_text(box, MAX_FACT)
        number = _labelled_number(text) if text else None
        if len(box) and (number is None or len(box) > 1) and DIVIDED(text):
            number = _number_in_parts(box) or number
        if number is not None:
            return number
    return None


def _number_in_parts(box: Element) -> str | None:
    """Return the number in a line of a box with several ones, else in the box's last element."""
    parts = _parts(box)
    numbers = (_labelled_number(short_text(part, MAX_FACT)) for part in parts)
    return (
        next(filter(None, numbers), None)
        if parts
        else _labelled_number(short_text(last_in(box), MAX_FACT))
    )


def _parts(box: Element) -> list[Element]:
    """Return the boxes with a line of their own in a box; none where the box is one line."""
    inner = [child for child in box[:_MAX_PARTS] if child.tag in _BOXES]
    if len(inner) == 1 == len(box):
        return _parts(inner[0])
    if len(inner) < 2:
        return []
    return [part for child in inner for part in _parts(child) or (child,)]


def _labelled_number(text: str) -> str | None:
    """Return the number of a text that is just a label and the product's number."""
    match = PAIR.match(text) if DIVIDED(text) else None
    if match and label_of(match[1] or match[3]) == "sku":
        return as_identifier((match[2] or match[4]).strip(f"#{AROUND}")) or None
    fact = unseparated(text) if text and match is None else None
    return as_identifier(fact[1].strip(AROUND)) or None if fact and fact[0] == "sku" else None
