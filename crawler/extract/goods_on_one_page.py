"""Read the goods of a page that shows all of a shop's goods, each in a box without a page of its own.

A small shop has one page, whose boxes have a name, a price and a button that buys; its menu leads to
places of the page. Each box is read as the page of a product.
"""

from __future__ import annotations

import re
from copy import deepcopy
from decimal import Decimal

from lxml import etree

from crawler.extract.address_kinds import looks_like_product, without_origin
from crawler.extract.default_parser import Found, extract
from crawler.extract.links.choice import find_links
from crawler.extract.links.goods_boxes import buttons_of, goods_boxes, purchases
from crawler.extract.money.amounts import find_prices
from crawler.extract.page.lines import DIGIT, read_all
from crawler.extract.page.page import Element, Page, parse, short_text
from crawler.extract.visible.plain_offers import is_of_period

#: Goods for which a page's product is taken back; one thing is often sold in three packs.
_MIN_WITHDRAWN = 4
#: Points that no sign outweighs.
_NEVER = 100
#: Characters of a name, and of a line that says the stock.
_MAX_TEXT = 200
#: A box's name that counts the boxes of its page, as another page does: `item-3`.
_COUNTS = re.compile(r"(?:^|\D)\d{1,2}$").search


def goods_of(page: Page, found: Found) -> list[Found]:
    """Return the products of the boxes of a page; none where a link leads to a product.

    Each box has a title of its own, a picture, and a button that buys or words that say it is sold
    out. No link of a box leads to another page but to buy, as those of a listing's tiles do. A cart
    shows goods of the shop again, and what has a price for a period is a plan.
    """
    if found.kind == "product" or (page.tile_amounts and not purchases(page)):
        return []
    boxes = goods_boxes(page)
    if not boxes or _leads_to_products(page):
        return []
    read = [_read(title, box, page) for title, box in boxes]
    products = [product for product in read if product.kind == "product"]
    return [] if any(map(_is_of_period, products)) else products


def withdraw_first(page: Page, found: Found) -> None:
    """Take back the product of a page that has only read the first of the goods in its boxes.

    A category's page whose goods have no page of their own has the category's name, and the price
    and the number of the first box; or it has no name but the boxes'. What sells something beside
    the boxes or shows the price there is a product's page, and so is one with boxes of sizes.
    """
    if found.kind != "product" or found.verdict.listing <= 0:
        return
    if {found.sources.get("name"), found.sources.get("price", "text")} != {"text"}:
        return
    boxes = goods_boxes(page)
    names = [short_text(title, _MAX_TEXT) for title, _ in boxes]
    if len(boxes) < _MIN_WITHDRAWN:
        return
    if found.fields.get("name") in names and (
        looks_like_product(without_origin(page.url)) or not _are_alike([box for _, box in boxes])
    ):
        return
    if all(name[:1].isdigit() for name in names) or page.tile_amounts or _leads_to_products(page):
        return
    inside = {pressed for _, box in boxes for pressed in buttons_of(box)}
    if any(button not in inside for button in buttons_of(page.root)):
        return
    if _shows_beside(page, found.fields.get("price"), {box for _, box in boxes}):
        return
    found.verdict.add("product", -_NEVER, "it shows goods in boxes, and sells nothing beside them")
    found.fields.clear()
    found.sources.clear()
    page.shows_product, page.number = False, None


def _are_alike(boxes: list[Element]) -> bool:
    """Whether boxes stand side by side in one form; that of a page's product has more in it."""
    forms = {(box.getparent(), box.tag, box.get("class"), *(c.tag for c in box)) for box in boxes}
    return len(forms) == 1


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
        product.fields["external_id"], product.sources["external_id"] = place, "box"
    return product


def _is_of_period(product: Found) -> bool:
    """Whether a box's price is that of a period: `9 € / month`."""
    price, walk = product.fields.get("price"), read_all(product.page, None)
    return price is not None and any(
        is_of_period(walk, line, price, None)
        for line in walk.lines
        if any(money.value == price for money in find_prices(line.text[:_MAX_TEXT]))
    )
