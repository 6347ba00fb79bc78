"""Recognise a lone tile: another product's amount in a box with a title, or below a link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from crawler.extract.address_kinds import is_errand, looks_like_product
from crawler.extract.money.amounts import Money, find_prices
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.link_targets import (
    checks_out,
    leads_away,
    link_around,
    maker_led_to,
    shows_several,
)
from crawler.extract.page.page import Element, short_text
from crawler.extract.price.line_amounts import LONGEST_LINE
from crawler.extract.price.words_beside import calls_price
from crawler.extract.stock.availability import buys
from crawler.normal_form import normal_form

#: Lines of a tile between its title and its price.
_TILE_LINES = 10
LONGEST_TILE_PRICE = 40
#: Lines of a tile between the name and the price: the stock, a number, a rating.
_TILE_FACTS = 4
#: Boxes around a tile that hold nothing else.
_MAX_AROUND = 2
#: Boxes around an element, and boxes that are searched for a link.
_MAX_BOXES, _MAX_LINKED = 100, 6
_MIN_NAME = 3
_COLONS = frozenset(":：")
#: "By" before the link of the product's author or maker.
_BY = frozenset({"by", "By", "von", "Von", "par", "Par", "door", "di", "de", "от", "av", "af"})
#: Lines in a tile between its link and its price.
_SKIPPED_FLAGS = _lines.OLD | _lines.HIDDEN | _lines.STOCK
#: Addresses that enlarge a picture, and attributes of a link that only leads to a page.
_ENLARGES = re.compile(
    r"zoom|popup|large|enlarge|gro(?:ss|%c3%9f)|image|im(?:a)?gen|picture|photo|foto|bild|gallery|galeri"
    r"|\.(?:jpe?g|png|gif|webp|avif)\b|^data:"
).search
_PLAIN_ATTRIBUTES = frozenset({"href", "class", "title"})
_SLUG_WORDS = re.compile(r"[a-z\d]+")
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)\b", re.I).search


def is_in_tile(walk: Lines, line: Line) -> bool:
    """Whether a box with a linked heading, or a link itself, holds the price."""
    if line.flags & _lines.LINK and _is_linked(walk, line):
        return True
    main = walk.lines[walk.heading] if walk.heading >= 0 else None
    if main is None or len(line.text) > LONGEST_TILE_PRICE:
        return False
    if line.index < walk.heading:
        return _is_below_product(walk, line)  # in a column before the heading
    if _is_in_titled_box(walk, line, main.element) or _is_below_picture(walk, line, main):
        return True
    title_flags = _lines.HEADING | _lines.LINK
    for place in range(line.index - 1, max(walk.heading, line.index - _TILE_LINES), -1):
        title = walk.lines[place]
        if title.flags & _lines.HEADING:
            is_of_link = title.flags & title_flags == title_flags and title.text != main.text
            return is_of_link and not _share_a_box(main.element, title.element, line.element)
    return False


def _is_linked(walk: Lines, line: Line) -> bool:
    """Whether a link to a page holds picture, name and amount, as a tile does."""
    link = link_around(line.element, _MAX_LINKED)
    if link is None or link is line.element or not leads_away(link) or checks_out(link):
        return False
    name = short_text(link).removesuffix(line.text).strip()
    if len(name) < _MIN_NAME or buys(name) or not _first_inside(walk, link, "img"):
        return False
    return _PICTURE(link.get("href")) is None


def _is_below_product(walk: Lines, line: Line) -> bool:
    """Whether the last line without an amount before a line is a link to a product's page."""
    place = line.index - 1
    while place > 0 and walk.lines[place].flags & (_lines.DIGIT | _lines.LINK) == _lines.DIGIT:
        place -= 1
    line_before = walk.lines[max(place, 0)]
    link = link_around(line_before.element, _MAX_LINKED)
    return link is not None and _leads_to_product(link)


def _leads_to_product(link: Element) -> bool:
    """Whether a link's address, which may be relative to the page's, has the form of a product's."""
    address = (link.get("href") or "")[:LONGEST_LINE]
    return looks_like_product(address if "/" in address else f"/{address}")


def _is_in_titled_box(walk: Lines, line: Line, main: Element) -> bool:
    """Whether a title, one link and the amount fill a box beside the product: "Offers", in a column."""
    place = line.index - 1
    while place > walk.heading and walk.lines[place].flags & _lines.OLD:
        place -= 1  # the price before the reduction
    if place - 1 <= walk.heading or not walk.lines[place].flags & _lines.LINK:
        return False
    title, link = walk.lines[place - 1], walk.lines[place].element
    if title.flags & (_lines.TITLE | _lines.LINK) != _lines.TITLE or not leads_away(link):
        return False
    return not _share_a_box(main, title.element, line.element)


def _is_below_picture(walk: Lines, line: Line, main: Line) -> bool:
    """Whether a picture and a name that link to one product's page stand before an amount in its box."""
    place, first = line.index - 1, max(walk.heading, line.index - 2 - _TILE_FACTS)
    while place > first and _may_be_fact(walk.lines[place]):
        place -= 1
    name = walk.lines[max(place, 0)]
    if place <= walk.heading or not name.flags & _lines.LINK or name.text == main.text:
        return False
    link = link_around(name.element, _MAX_LINKED)
    if link is None or not leads_away(link) or checks_out(link) or _is_choice(link, line.element):
        return False
    if is_errand((link.get("href") or "")[:LONGEST_LINE]):
        return False  # "Recommend it": a page of the product itself
    pictures = (a for a in _links_beside(walk, line, link) if _first_inside(walk, a, "img"))
    if not _leads_to_product(link):
        is_tile = _is_named_by_address(walk, link) or any(
            a is not link and _is_in_row(a, line.element) for a in pictures
        )
        is_tile = is_tile and maker_led_to(link) is None
        return is_tile and not _share_a_box(main.element, link, line.element)
    is_pictured = next(pictures, None) is not None
    return is_pictured and not _share_a_box(main.element, link, line.element)


def _is_choice(link: Element, price: Element) -> bool:
    """Whether a link is one of several pictured ones in a box before an amount: other colours."""
    around = {price, *islice(price.iterancestors(), _MAX_BOXES)}
    box = link
    for parent in islice(link.iterancestors(), _MAX_BOXES):
        if parent in around:
            break
        box = parent
    is_several = box is not link and box.tag != "tr"
    return is_several and shows_several(islice(box.iter("a"), _MAX_LINKED))


def _is_in_row(picture: Element, price: Element) -> bool:
    """Whether the box of a picture and an amount, or one around it, has a like box beside it."""
    around = {price, *islice(price.iterancestors(), _MAX_BOXES)}
    box = next((e for e in islice(picture.iterancestors(), _MAX_BOXES) if e in around), None)
    boxes = () if box is None else (box, *islice(box.iterancestors(), _MAX_AROUND))
    return any(
        beside is not None and beside.tag == box.tag and beside.get("class") == box.get("class")
        for box in boxes
        for beside in (box.getprevious(), box.getnext())
    )


def _may_be_fact(line: Line) -> bool:
    """Whether a line of a tile may be about its product: the price before, a stock, a number."""
    flags = line.flags & (_lines.LINK | _lines.HEADING)
    return not flags and len(line.text) < LONGEST_TILE_PRICE


def _is_named_by_address(walk: Lines, link: Element) -> bool:
    """Whether a link holds a picture and a name of which its address is made: `/red/oak-lamp`."""
    if not _first_inside(walk, link, "img"):
        return False
    slug = (link.get("href") or "")[:LONGEST_LINE].rstrip("/").rpartition("/")[2]
    text = normal_form("NFKD", short_text(link)).casefold()
    words = _SLUG_WORDS.findall(slug.partition("?")[0].partition(".")[0])
    return len(words) > 1 and all(word in text for word in words)


def _share_a_box(main: Element, title: Element, price: Element) -> bool:
    """Whether the smallest box around a title and a price holds the main heading too."""
    around = {price, *islice(price.iterancestors(), _MAX_BOXES)}
    boxes = (title, *islice(title.iterancestors(), _MAX_BOXES))
    box = next((e for e in boxes if e in around), None)
    return box is None or box is main or any(a is box for a in main.iterancestors())


def follows_link(walk: Lines, line: Line) -> bool:
    """Whether a line comes right after a link, as the price in a listing's tile."""
    place = line.index - 1
    while place > 0 and walk.lines[place].flags & _SKIPPED_FLAGS:
        place -= 1
    flags = walk.lines[place].flags
    if place <= walk.heading or not flags & _lines.LINK or flags & _lines.FACT:
        return False
    if flags & _lines.DIGIT and any(find_prices(walk.lines[place].text[:LONGEST_LINE])):
        return False  # another edition with its price
    if walk.heading >= 0 and walk.lines[walk.heading].text.startswith(walk.lines[place].text):
        return False  # the product's maker or its name
    before = walk.lines[place - 1].text if place - 1 > walk.heading else ""
    if before[-1:] in _COLONS or before in _BY:
        return False  # a fact's value behind its label: the cellar, the author; "by" the author
    element = walk.lines[place].element
    return maker_led_to(element) is None and not _leads_nowhere(element)


def is_below_others(walk: Lines, line: Line) -> bool:
    """Whether a line stands below a heading that is not the main one."""
    between = walk.lines[walk.heading + 2 : line.index]  # right behind it is its subtitle
    main = walk.lines[walk.heading].text  # some designs repeat it as a link, for their quick views
    return any(line.flags & _lines.HEADING and line.text != main for line in between)


def is_behind_link(walk: Lines, line: Line, money: Money) -> bool:
    """Whether what stands right before an amount links to another product: `Next: Red lamp $15`.

    The link may be the whole line, or the one before in the box whose text the amount is.
    """
    name, linked = line.text[: money.start].strip(), line
    if not name and line.index:
        linked = walk.lines[line.index - 1]
        name = linked.text if linked.element.getparent() is line.element else ""
    if not linked.flags & _lines.LINK or len(name) < _MIN_NAME or buys(name) or calls_price(name):
        return False
    link = link_around(linked.element, _MAX_AROUND)
    main = walk.lines[walk.heading].text if walk.heading >= 0 else name
    if link is None or _overlaps(name.casefold(), main.casefold()):
        return False
    if not leads_away(link) or checks_out(link):
        return False
    return _leads_to_product(link) and maker_led_to(link) is None


def is_named_otherwise(walk: Lines, line: Line) -> bool:
    """Whether a picture and a name, other than the page's, link to one page right before an amount.

    A link that enlarges the product's own picture has no name of another product. A row of a list
    has no picture: the name's cell and the amount's.
    """
    place = line.index - 1
    while place > walk.heading and walk.lines[place].flags & _SKIPPED_FLAGS:
        place -= 1
    main, name = walk.lines[max(walk.heading, 0)], walk.lines[max(place, 0)]
    link = link_around(name.element, _MAX_LINKED)
    if walk.heading < 0 or link is None or not leads_away(link) or len(name.text) < _MIN_NAME:
        return False
    if _share_a_box(main.element, link, line.element) or not _PLAIN_ATTRIBUTES.issuperset(
        link.keys()
    ):
        return False
    target, title = link.get("href") or "", main.text.casefold()
    pictures = [
        p for a in _links_beside(walk, line, link) for p in _first_inside(walk, a, "img")[:1]
    ]
    texts = (name.text, *(p.get("alt") or "" for p in pictures))
    is_own = any(text and _overlaps(text.casefold(), title) for text in texts)
    is_shown = pictures or _is_cell_beside(link, line.element)
    return bool(is_shown) and not (is_own or _ENLARGES(target.lower()))


def _is_cell_beside(link: Element, price: Element) -> bool:
    """Whether a link is in the first cell of a table row, and an amount in another cell of it."""
    cells = [
        next((box for box in (e, *islice(e.iterancestors(), _MAX_LINKED)) if box.tag == "td"), None)
        for e in (link, price)
    ]
    name_cell, price_cell = cells
    if name_cell is None or price_cell is None or name_cell is price_cell:
        return False
    return name_cell.getprevious() is None and name_cell.getparent() is price_cell.getparent()


def _overlaps(text: str, title: str) -> bool:
    """Whether a name is a part of the page's, or begins with it; a category's is within a name."""
    return text in title or text.startswith(title)


def _first_inside(walk: Lines, box: Element, tag: str) -> list[Element]:
    """Return the first elements with a tag in a box, itself included.

    They are searched once, because a box that has none may hold thousands of amounts.
    """
    found = walk.inside.get((box, tag))
    if found is None:
        found = walk.inside[box, tag] = [*islice(box.iter(tag), _MAX_LINKED)]
    return found


def _links_beside(walk: Lines, line: Line, link: Element) -> Iterator[Element]:
    """Yield the links with the address of *link* in the boxes around a line."""
    target = link.get("href")
    for box in islice(line.element.iterancestors(), _MAX_LINKED):
        yield from (a for a in _first_inside(walk, box, "a") if a.get("href") == target)


def _leads_nowhere(element: Element) -> bool:
    """Whether a link runs a script instead of leading to a page: `javascript:print()`."""
    link = link_around(element, _MAX_LINKED)
    return link is not None and not leads_away(link)
