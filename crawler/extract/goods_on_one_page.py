"""Read the goods of a page that shows all of a shop's goods, each in a box without a page of its own.

A small shop has one page, whose boxes have a name, a price and a button that buys; its menu leads to
places of the page. Each box is read as the page of a product.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from itertools import islice

from lxml import etree

from crawler.extract.address_kinds import is_errand, without_origin
from crawler.extract.default_parser import Found, extract
from crawler.extract.links.choice import find_links
from crawler.extract.links.traps import is_trap
from crawler.extract.money.amounts import find_prices
from crawler.extract.page.lines import DIGIT, read_all
from crawler.extract.page.link_targets import leads_away
from crawler.extract.page.page import Element, Page, parse, short_text
from crawler.extract.stock.availability import UNAVAILABLE, availability_of_text, buys
from crawler.extract.visible.plain_offers import is_of_period

#: Goods for which a page's product is taken back; one thing is often sold in three packs.
_MIN_WITHDRAWN = 4
#: Goods that make a shop, titles of a page that are looked at, and elements of a box.
_MIN_GOODS, _MAX_TITLES, _MAX_ELEMENTS = 3, 300, 200
#: Buttons and links of a page that are looked at, and points that no sign outweighs.
_MAX_PRESSED, _NEVER = 1_000, 100
#: What is pressed to buy.
_PRESSED = ("button", "input", "a")
#: Characters of a name, and of a line that says the stock.
_MAX_TEXT = 200
#: A box's name that counts the boxes of its page, as another page does: `item-3`.
_COUNTS = re.compile(r"(?:^|\D)\d{1,2}$").search


def goods_of(page: Page, found: Found) -> list[Found]:
    """Return the products of the boxes of a page; none where a link leads to a product.

    Each box has a title of its own, a picture, and a button that buys or words that say it is sold out. No
    link of a box leads to another page, as those of a listing's tiles do. A cart shows goods of the
    shop again, and what has a price for a period is a plan.
    """
    if found.kind == "product" or page.tile_amounts:
        return []
    boxes = _goods_boxes(page)
    if not boxes or _leads_to_products(page):
        return []
    read = [_read(title, box, page) for title, box in boxes]
    products = [product for product in read if product.kind == "product"]
    return [] if any(map(_is_of_period, products)) else products


def withdraw_first(page: Page, found: Found) -> None:
    """Take back the product of a page that has only read the first of the goods in its boxes.

    A category's page whose goods have no page of their own has the category's name, and the price
    and the number of the first box. What sells something beside the boxes or shows the price there is
    a product's page, and so is one with boxes of sizes.
    """
    if found.kind != "product" or found.verdict.listing <= 0:
        return
    if {found.sources.get("name"), found.sources.get("price", "text")} != {"text"}:
        return
    boxes = _goods_boxes(page)
    names = [short_text(title, _MAX_TEXT) for title, _ in boxes]
    if len(boxes) < _MIN_WITHDRAWN or found.fields.get("name") in names:
        return
    if all(name[:1].isdigit() for name in names) or page.tile_amounts or _leads_to_products(page):
        return
    inside = {pressed for _, box in boxes for pressed in _buttons(box)}
    if any(button not in inside for button in _buttons(page.root)):
        return
    if _shows_beside(page, found.fields.get("price"), {box for _, box in boxes}):
        return
    found.verdict.add("product", -_NEVER, "it shows goods in boxes, and sells nothing beside them")
    found.fields.clear()
    found.sources.clear()
    page.shows_product, page.number = False, None


def _leads_to_products(page: Page) -> bool:
    return any(link.kind == "product" for link in find_links(page))


def _shows_beside(page: Page, price: Decimal | None, boxes: set[Element]) -> bool:
    """Whether a page shows an amount beside boxes as well."""
    return price is not None and any(
        boxes.isdisjoint((line.element, *line.element.iterancestors()))
        for line in read_all(page, None).lines
        if line.flags & DIGIT
        and any(money.value == price for money in find_prices(line.text[:_MAX_TEXT]))
    )


def _buttons(box: Element) -> list[Element]:
    """Return what buys in a box, or in a page."""
    pressed = islice(box.iter(*_PRESSED), _MAX_PRESSED)
    return [each for each in pressed if buys(short_text(each) or each.get("value") or "")]


def _goods_boxes(page: Page) -> list[tuple[Element, Element]]:
    """Return the titles and boxes of a page's goods; none where they are no goods of a shop."""
    if len(page.headings) < _MIN_GOODS or is_trap(page.url) or is_errand(without_origin(page.url)):
        return []
    boxes = [pair for pair in _boxes(page) if _is_goods(pair[1])]
    names = {short_text(title, _MAX_TEXT) for title, _ in boxes}
    return boxes if _MIN_GOODS <= len(names) == len(boxes) else []


def _boxes(page: Page) -> Iterator[tuple[Element, Element]]:
    """Yield titles of the most frequent level, each with the largest box that has no further one."""
    levels = Counter(heading.tag for heading in page.headings[:_MAX_TITLES])
    level = levels.most_common(1)[0][0]
    titles = [heading for heading in page.headings[:_MAX_TITLES] if heading.tag == level]
    around = [set(title.iterancestors()) for title in titles]
    for place, title in enumerate(titles):
        others: set[Element] = set()
        others.update(*around[max(0, place - 1) : place], *around[place + 1 : place + 2])
        box = None
        for outer in title.iterancestors():
            if outer in others:
                break
            box = outer
        if box is not None:
            yield title, box


def _is_goods(box: Element) -> bool:
    """Whether a box is that of a thing to buy, which has no page of its own.

    It has a picture, because boxes without one are plans, tickets and courses.
    """
    if next(box.iter("img"), None) is None or any(
        map(leads_away, islice(box.iter("a"), _MAX_ELEMENTS))
    ):
        return False
    pressed = islice(box.iter(*_PRESSED), _MAX_ELEMENTS)
    if any(buys(short_text(element) or element.get("value") or "") for element in pressed):
        return True
    texts = map(short_text, islice(box.iterdescendants(), _MAX_ELEMENTS))
    return any(availability_of_text(text) in UNAVAILABLE for text in texts if len(text) < _MAX_TEXT)


def _read(title: Element, box: Element, page: Page) -> Found:
    """Read a box as the page of its product, at the box's place in the page or by its name."""
    level, title.tag = title.tag, "h1"
    own = deepcopy(box)
    title.tag, own.tail = level, None
    name, called = short_text(title, _MAX_TEXT), box.get("id") or ""
    place = "-".join(name.casefold().split()) if not called or _COUNTS(called) else called
    markup = etree.tostring(own, encoding="unicode", method="html")
    html = f'<html lang="{page.lang}"><body>{markup}</body></html>'
    product = extract(parse(html, f"{page.url.partition('#')[0]}#{place}"))
    if product.kind == "product" and product.sources.get("external_id") in {None, "url"}:
        product.fields["external_id"], product.sources["external_id"] = place, "url"
    return product


def _is_of_period(product: Found) -> bool:
    """Whether a box's price is that of a period: `9 € / month`."""
    price, walk = product.fields.get("price"), read_all(product.page, None)
    return price is not None and any(
        is_of_period(walk, line, price, None)
        for line in walk.lines
        if any(money.value == price for money in find_prices(line.text[:_MAX_TEXT]))
    )
