"""Recognise the amount of a lone offer for another product, in a small box at the page's side."""

from __future__ import annotations

import re
from itertools import islice

from crawler.extract.address_kinds import is_errand, is_front, looks_like_product
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.link_targets import checks_out, leads_away, maker_led_to, shows_several
from crawler.extract.page.page import Element, short_text
from crawler.extract.price.line_amounts import LONGEST_LINE
from crawler.extract.stock.availability import buys

#: Addresses of the product's own pictures, and of pages that enlarge them.
_SHOWS_PICTURE = re.compile(
    r"\.(?:jpe?g|png|gif|webp|avif)\b|zoom|popup|enlarge|image|photo|bild", re.I
).search
#: Boxes around an amount that are searched for links, boxes around the heading, and links of a box.
_MAX_AROUND, _MAX_BOXES, _MAX_LINKS = 6, 100, 4
#: Characters of a box with one offer, and of a product's name.
_MAX_OFFER_LENGTH, _MIN_NAME = 200, 3
#: The first links of boxes that were looked at, and whether a box is as small as one offer.
Boxes = dict[Element, tuple[list[Element], bool]]


def is_side_offer(walk: Lines, line: Line, boxes: Boxes) -> bool:
    """Whether a small box holds an amount and the link to another product, but not the heading.

    Shops repeat such a box on all pages, beside terms and carts as well. After the heading the box
    needs a linked picture too, because a product's own links may stand above its price. *boxes* are
    kept for the page's other amounts, because a wide box may hold thousands of them.
    """
    if walk.heading < 0:
        return False
    main = walk.lines[walk.heading]
    around_main = {main.element, *islice(main.element.iterancestors(), _MAX_BOXES)}
    for box in (line.element, *islice(line.element.iterancestors(), _MAX_AROUND)):
        if box in around_main:
            return False
        if box not in boxes:
            links = [*islice(box.iter("a"), _MAX_LINKS)]
            boxes[box] = links, bool(links and _is_small(box))
        links, is_small = boxes[box]
        if links:
            needs_picture = line.index > walk.heading
            return is_small and _name_another(links, main.text, needs_picture)
    return False


def _is_small(box: Element) -> bool:
    return len(short_text(box, _MAX_OFFER_LENGTH + 1)) <= _MAX_OFFER_LENGTH


def _name_another(links: list[Element], main: str, needs_picture: bool) -> bool:
    """Whether links lead to one page and have the name of a product other than *main*."""
    address = (links[0].get("href") or "")[:LONGEST_LINE]
    leads_to_page = leads_away(links[0]) and not checks_out(links[0]) and not is_front(address)
    if (
        not leads_to_page
        or shows_several(links)
        or maker_led_to(links[0]) is not None
        or _SHOWS_PICTURE(address)
    ):
        return False
    same_links = [link for link in links if link.get("href") == links[0].get("href")]
    texts = map(short_text, same_links)
    name = next((text for text in texts if len(text) >= _MIN_NAME), "")
    if not name or buys(name) or main.startswith(name) or name.startswith(main):
        return False
    if not needs_picture:
        return not is_errand(address)
    picture = next((image for link in same_links for image in link.iter("img")), None)
    return picture is not None and (looks_like_product(address) or picture.get("alt") == name)
