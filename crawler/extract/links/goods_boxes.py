"""Find the boxes of a shop's goods that have no page of their own, and links that just buy one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Protocol, TypeVar

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import is_errand, looks_like_product, without_origin
from crawler.extract.links.traps import is_trap
from crawler.extract.money.amounts import find_prices
from crawler.extract.page.link_targets import leads_away
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.stock.availability import (
    UNAVAILABLE,
    availability_of_text,
    buys_in_short,
)
from crawler.extract.stock.inputs import is_buy_button

#: Goods that make a shop, titles of a page that are looked at, and elements of a box.
_MIN_GOODS, _MAX_TITLES, _MAX_ELEMENTS = 3, 300, 200
#: Buttons and links of a page that are looked at.
_MAX_PRESSED = 1_000
#: What is pressed to buy.
_PRESSED = ("button", "input", "a")
#: Characters of a name, and of a line that says the stock.
_MAX_TEXT = 200
_LEVELS_OF_CARDS = ("h4", "h5", "h6")
#: Letters of an amount's currency.
_MAX_CODE = 4
#: Classes of a box with a product's name, and boxes that may have one.
_CALLS_PRODUCT = r"(?:product|item|card)[-_]{1,2}(?:title|name)"
_MAY_CALL = re.compile(rf"class=[\"']?(?:[\w-]{{1,40}} ){{0,3}}{_CALLS_PRODUCT}\b".encode()).search
_IS_CALLED = re.compile(rf"(?:^|\s){_CALLS_PRODUCT}(?=\s|$)").search
_TAGS_OF_NAMES, _MAX_NAMED = ("div", "span", "p", "b", "strong"), 3_000
#: Links of a page that are looked at.
_MAX_LINKS = 2_000
_MAY_ACT = re.compile(rb"\.(?:php|aspx?|jsp|cgi)\?[\w-]{1,30}=[\w-]{1,40}[\"']").search
#: A script that is called after what it does to one thing: `buy.php?id=7`.
_ACT = lazy_patterns.pattern(
    r"(?:^|/)([a-z_-]{2,30})\.(?:php|aspx?|jsp|cgi)\?[\w-]{1,30}=[\w-]{1,40}$"
)


class _HasKind(Protocol):
    @property
    def url(self) -> str: ...
    @property
    def kind(self) -> str: ...


_Link = TypeVar("_Link", bound=_HasKind)


def purchases(page: Page) -> list[Element]:
    """Return a page's links that buy a thing by their caption and their script's name."""
    if _MAY_ACT(page.raw) is None:
        return []
    return [link for link in page.anchors[:_MAX_LINKS] if is_purchase(link)]


def without_purchases(links: list[_Link], page: Page) -> list[_Link]:
    """Leave out links that just buy a thing, if the page leads to its things as well.

    The same if it shows all of each in a box of its own.
    """
    if not (found := purchases(page)):
        return links
    bought = {page.resolve(link.get("href") or "") for link in found}
    shown = sum(link.kind == "product" and link.url not in bought for link in links)
    if shown < len(bought) and not goods_boxes(page):
        return links
    return [link for link in links if link.url not in bought]


def is_purchase(link: Element) -> bool:
    """Whether a link buys a thing by its caption and its script's name: `buy.php?id=7`."""
    match = _ACT.search(link.get("href") or "")
    return (
        match is not None
        and buys_in_short(match[1].replace("_", " "))
        and buys_in_short(short_text(link, _MAX_TEXT))
    )


def buttons_of(box: Element) -> list[Element]:
    """Return what buys in a box, or in a page."""
    pressed = islice(box.iter(*_PRESSED), _MAX_PRESSED)
    return [*filter(is_buy_button, pressed)]


def goods_boxes(page: Page) -> list[tuple[Element, Element]]:
    """Return the titles and boxes of a page's goods; none where they are no goods of a shop.

    Where the address is that of one thing, cards by small headings or a class are its related goods.
    """
    if is_trap(page.url) or is_errand(without_origin(page.url)):
        return []
    of_one = looks_like_product(without_origin(page.url))
    for titles in islice(_titles(page), 1 if of_one else None):
        if len(titles) < _MIN_GOODS or _is_price(short_text(titles[0], _MAX_TEXT)):
            continue
        boxes = [pair for pair in _boxes(titles) if _is_goods(pair[1])]
        names = {short_text(title, _MAX_TEXT) for title, _ in boxes}
        if _MIN_GOODS <= len(names) == len(boxes):
            return boxes
    return []


def _titles(page: Page) -> Iterator[list[Element]]:
    """Yield a page's headings of the most frequent level, then those of the levels of cards.

    At last the boxes with a class for a product's name.
    """
    headings = page.headings[:_MAX_TITLES]
    levels = Counter(heading.tag for heading in headings).most_common(1)
    yield [heading for heading in headings if heading.tag == levels[0][0]]
    for level in _LEVELS_OF_CARDS:
        yield [*islice(page.root.iter(level), _MAX_TITLES)]
    if _MAY_CALL(page.raw):
        boxes = islice(page.root.iter(*_TAGS_OF_NAMES), _MAX_NAMED)
        yield [box for box in boxes if _IS_CALLED((box.get("class") or "")[:_MAX_TEXT])]


def _is_price(text: str) -> bool:
    """Whether a title is an amount with its currency."""
    money = next(find_prices(text), None)
    return money is not None and sum(map(str.isalpha, text)) <= _MAX_CODE


def _boxes(titles: list[Element]) -> Iterator[tuple[Element, Element]]:
    """Yield titles, each with the largest box that has no further one."""
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
    links = islice(box.iter("a"), _MAX_ELEMENTS)
    if next(box.iter("img"), None) is None or any(
        leads_away(link) and not is_purchase(link) for link in links
    ):
        return False
    pressed = islice(box.iter(*_PRESSED), _MAX_ELEMENTS)
    if any(map(is_buy_button, pressed)):
        return True
    texts = map(short_text, islice(box.iterdescendants(), _MAX_ELEMENTS))
    return any(availability_of_text(text) in UNAVAILABLE for text in texts if len(text) < _MAX_TEXT)
