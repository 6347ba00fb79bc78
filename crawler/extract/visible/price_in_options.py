"""Read the price of a product that its page shows only in a choice: `1 kg - £34.00`."""

from __future__ import annotations

from itertools import islice

from crawler.extract.money.amounts import Money, find_prices
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.stock.availability import UNAVAILABLE, availability_of_text
from crawler.extract.visible_signs import Visible

_MAX_SELECTS, _MAX_OPTIONS, _MAX_OPTION = 20, 100, 100
#: Distance from the heading, in lines, that a price without a line gets.
_DISTANCE = 50


def take_option(page: Page, signs: Visible, local: str | None) -> None:
    """Take the amount of the first choice in whose list each choice has an amount."""
    for select in islice(page.selects, _MAX_SELECTS):
        money = _amount_of_choice(select, local)
        if money is not None:
            signs.fields["price"], signs.fields["currency"] = money.value, money.currency
            signs.price_distance = _DISTANCE
            signs.fields["availability"] = signs.fields.get("availability") or "InStock"
            return


def _amount_of_choice(select: Element, local: str | None) -> Money | None:
    """Return the amount of the selected choice, else of the first available one."""
    offers: list[tuple[bool, Money]] = []
    for option in islice(select.iter("option"), _MAX_OPTIONS):
        text = short_text(option)[:_MAX_OPTION]
        if option.get("disabled") is not None or not (option.get("value") or text).strip():
            continue
        monies = list(find_prices(text, local))
        if not monies:
            if option.get("value"):
                return None  # the list offers something without a price
            continue
        money = monies[0]
        if money.currency is None or text[: money.start].rstrip().endswith(("+", "-+")):
            return None  # an amount that is added to the price
        if availability_of_text(text) not in UNAVAILABLE:
            offers.append((option.get("selected") is not None, money))
    return max(offers, key=lambda offer: offer[0])[1] if offers else None
