"""The price that only attributes of a page's elements, or the texts of its pictures, tell."""

from __future__ import annotations

from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.money.amounts import find_prices, parse_price
from crawler.extract.money.currencies import currency_of
from crawler.extract.page.page import Page
from crawler.extract.visible_signs import Visible

_MOST_IMAGES = 120
#: How far from the heading a price counts as that no line shows.
_FAR = 50
_PRICE_ATTRIBUTES = (
    lazy_patterns.pattern(
        rb"data-(?:product-|item-|base-|final-|sale-|current-)?price(?:-amount|-value)?"
        rb"=[\"']([\d.,]{1,14})[\"']"
    ),
    lazy_patterns.pattern(
        rb"name=[\"'](?:product_?)?price[\"'](?:\s[\w-]+=[\"'][^\"']{0,80}[\"']){0,2}"
        rb"\svalue=[\"']([\d.,]{1,14})[\"']"
    ),
)
_PICTURE = lazy_patterns.pattern(rb"alt=[\"']([^\"'<>]{0,24}\d[^\"'<>]{0,12})[\"']")
_CURRENCY_ATTRIBUTE = lazy_patterns.pattern(rb"data-currency(?:-code)?=[\"']([A-Za-z]{3})[\"']")


def take_attribute(page: Page, seen: Visible, local: str | None) -> None:
    """The price that the page's attributes tell, where all of them tell the same one."""
    told = {match[1] for rule in _PRICE_ATTRIBUTES for match in rule.finditer(page.raw)}
    told = told or _priced_pictures(page)
    money = parse_price(told.pop().decode(), local) if len(told) == 1 else None
    if money is not None and money.value:
        code = _CURRENCY_ATTRIBUTE.search(page.raw)
        seen.fields["price"] = money.value
        seen.fields["currency"] = money.currency or (
            currency_of(code[1].decode()) if code else None
        )
        seen.price_distance = _FAR
        if seen.buy_buttons and not seen.fields.get("availability"):
            seen.fields["availability"] = "InStock"


def _priced_pictures(page: Page) -> set[bytes]:
    """Texts of pictures that hold an amount: some shops draw their prices."""
    texts = islice((match[1] for match in _PICTURE.finditer(page.raw)), _MOST_IMAGES)
    return {text for text in texts if any(find_prices(text.decode("utf-8", "replace")))}
