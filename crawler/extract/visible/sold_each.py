"""Read a page of two or three boxes alike, each with a button that buys: a list, or one thing's packs.

The first box's price stands near the heading, is bought by a button and may be in stock, as a
product's price is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from crawler.extract.address_kinds import looks_like_product, without_origin
from crawler.extract.money.amounts import find_prices
from crawler.extract.page.lines import Lines
from crawler.extract.page.page import Element, Page, holds_digit, short_text
from crawler.extract.stock.inputs import is_buy_button
from crawler.extract.visible.priced_heading import is_of_frame
from crawler.extract.visible.titles import title_parts
from crawler.extract.visible_signs import Visible

#: Boxes around a price, further boxes beside its own, and elements that are looked at.
_MAX_AROUND, _MAX_BESIDE, _MAX_ELEMENTS = 6, 20, 500
_PRESSED = ("button", "input", "a")
_MAX_TEXT, _MAX_TEXTS = 200, 40
_OTHERS = "each of its boxes sells something else"


def sold_in_boxes(walk: Lines, signs: Visible, page: Page, heading: Element | None) -> str | None:
    """Return the reason why a list of few boxes is no product; set another pack's price as a rival.

    Packs of one thing share a word with each other or the heading, or are counted or measured; or
    the page has a product's address, or a picture beside them. Where the page's title names what one
    box sells, the other boxes sell what goes with it.
    """
    if signs.price_line is None or signs.buy_buttons == 1 or not signs.sells_one:
        return None
    element = walk.lines[signs.price_line].element
    boxes = _boxes_alike(element)
    if len(boxes) < 2:
        return None
    inside = sum(1 for box in boxes for _ in _buttons(box))
    if inside != len(boxes) or inside != sum(1 for _ in _buttons(page.root)):
        return None
    local = signs.fields["currency"]
    prices = [next(find_prices(" ".join(_texts(box)), local), None) for box in boxes]
    titles = [_title(box, local) for box in boxes]
    if not all(prices) or len(set(titles)) < len(titles):
        return None
    if any(title.casefold() in map(str.casefold, title_parts(page.title)[:1]) for title in titles):
        return None
    if heading is not None and not any(box in heading.iterancestors() for box in boxes):
        titles.append(short_text(heading, _MAX_TEXT))
    address = without_origin(page.url)
    if _are_packs(titles) or looks_like_product(address) or _is_pictured(page, boxes):
        price = signs.fields["price"]
        other = (money.value for money in prices if money and money.value != price)
        signs.price_rival = next(other, signs.price_rival)
        return None
    return _OTHERS


def _boxes_alike(element: Element) -> list[Element]:
    """Return the box around a price that has boxes of its form beside it, with these boxes.

    Each has one button that buys; the smallest such box around the price counts.
    """
    for box in islice(element.iterancestors(), _MAX_AROUND):
        buttons = [*islice(_buttons(box), 2)]
        if len(buttons) > 1:
            break
        if box.tag == "tr" and next(_table(box).iter("th"), None) is not None:
            break  # its columns have names: `variant_rows` reads it
        parent, form = box.getparent(), _form(box)
        if buttons and parent is not None:
            alike = [
                other
                for other in islice(parent, _MAX_BESIDE)
                if _form(other) == form and next(_buttons(other), None) is not None
            ]
            if len(alike) > 1:
                return alike
    return []


def _table(row: Element) -> Element:
    return next(row.iterancestors("table"), row)


def _form(box: Element) -> tuple[object, ...]:
    return (box.tag, box.get("class"), *(child.tag for child in islice(box, _MAX_BESIDE)))


def _buttons(box: Element) -> Iterator[Element]:
    """Yield what buys in a box."""
    pressed = islice(box.iter(*_PRESSED), _MAX_ELEMENTS)
    return filter(is_buy_button, pressed)


def _texts(box: Element) -> Iterator[str]:
    return (text.strip()[:_MAX_TEXT] for text in islice(box.itertext(), _MAX_TEXTS))


def _title(box: Element, local: str | None) -> str:
    """Return the first text of a box, without a label before it and an amount."""
    text = next(filter(None, _texts(box)), "")
    money = next(find_prices(text, local), None)
    return (text if money is None else text[: money.start]).rpartition(": ")[2].strip()


def _are_packs(titles: list[str]) -> bool:
    words = [word for title in titles for word in set(title.casefold().split())]
    return len(set(words)) < len(words) or any(map(holds_digit, titles)) or "" in titles


def _is_pictured(page: Page, boxes: list[Element]) -> bool:
    """Whether the page has a picture beside its boxes, and not in its frame."""
    return any(
        not is_of_frame(picture) and not any(box in boxes for box in picture.iterancestors())
        for picture in islice(page.root.iter("img"), _MAX_ELEMENTS)
    )
