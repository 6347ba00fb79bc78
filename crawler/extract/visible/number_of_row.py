"""Tell the number of a page's own product from that of a listing's row, which links to its page."""

from __future__ import annotations

from itertools import islice, takewhile

from crawler.extract.address_kinds import looks_like_product, without_origin
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.link_targets import leads_away
from crawler.extract.page.page import Element, short_text
from crawler.extract.visible_signs import Visible

#: Boxes of a row from its number outwards and links in one, numbers, and elements around many rows.
_MAX_BOXES, _MAX_NUMBERS = 4, 6
_AROUND_ROWS = frozenset({"table", "tbody", "ul", "ol", "form", "main", "body"})


def is_number_of_row(walk: Lines, signs: Visible, url: str) -> bool:
    """Whether the page's number is that of a row which links to the page of another product.

    The link is a product's and has the number in its address, or a second number stands in another
    row with another link. Sold products have no price, so that their rows are no tiles.
    """
    number = signs.fields.get("sku")
    others = {value for field, value in signs.further_facts[:_MAX_NUMBERS] if field == "sku"}
    if not number or ("price" in signs.fields and not others) or number in without_origin(url):
        return False
    line = _line_with(walk, number)
    maker = str(signs.fields.get("brand") or "")
    link = None if line is None else _link_in_row(line, maker)
    if line is None or link is None:
        return False
    if signs.price_line is not None and signs.price_line < line.index:
        return False  # below the product's own price, its accessories have numbers
    address = without_origin(link.get("href"))
    if number in address and looks_like_product(address):
        return True
    lines = filter(None, (_line_with(walk, other) for other in others - {number}))
    links = (_link_in_row(line, maker) for line in lines)
    return any(other is not None and other.get("href") != link.get("href") for other in links)


def _line_with(walk: Lines, number: str) -> Line | None:
    return next((line for line in walk.product_lines if number in line.text), None)


def _link_in_row(line: Line, maker: str) -> Element | None:
    """Return the first link with a text in a line's row, which is not the product's maker."""
    boxes = (line.element, *islice(line.element.iterancestors(), _MAX_BOXES))
    for box in takewhile(lambda box: box.tag not in _AROUND_ROWS, boxes):
        links = islice(box.iter("a"), _MAX_BOXES)
        named = (a for a in links if leads_away(a) and short_text(a) not in {"", maker})
        link = next(named, None)
        if link is not None:
            return link
    return None
