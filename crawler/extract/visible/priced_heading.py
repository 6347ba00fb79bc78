"""The name of a page whose title says nothing of it: the heading beside the one with the price.

Hand-made shops have one title for all their pages, and write name and price in headings side by side.
"""

from __future__ import annotations

from itertools import islice

from crawler.extract import lazy
from crawler.extract.money.amounts import find_prices
from crawler.extract.page.page import Element, Page, short_text

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MOST_HEADINGS, _MOST_AROUND = 80, 12
_LONGEST_PRICE, _LONGEST_NAME = 40, 200
_WORD = lazy.pattern(r"[^\W\d_]{2}")


def beside_price(page: Page) -> Element | None:
    """The heading next to the only one that holds nothing but a price; None where several do.

    In a listing each tile has such a pair.
    """
    headings = islice(page.root.iter(*_HEADINGS), _MOST_HEADINGS)
    priced = [heading for heading in headings if _is_price(short_text(heading))]
    if len(priced) != 1:
        return None
    before = islice(priced[0].itersiblings(preceding=True), _MOST_AROUND)
    behind = islice(priced[0].itersiblings(), _MOST_AROUND)
    for heading in (*before, *behind):
        if heading.tag in _HEADINGS and _is_name(heading):
            return heading
    return None


def _is_price(text: str) -> bool:
    if len(text) > _LONGEST_PRICE or not any(map(str.isdigit, text)):
        return False
    monies = list(find_prices(text))
    for money in reversed(monies):
        text = text[: money.start] + text[money.end :]
    return bool(monies) and not _WORD.search(text)


def _is_name(heading: Element) -> bool:
    text = short_text(heading)
    linked = next(heading.iter("a"), None) is not None
    return not linked and len(text) <= _LONGEST_NAME and _WORD.search(text) is not None
