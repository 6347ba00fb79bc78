"""The price of a product whose page shows it only in a choice: `1 kg - £34.00`."""

from __future__ import annotations

from itertools import islice

from crawler.extract.money.amounts import Money, find_prices
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.stock.availability import availability_of_text
from crawler.extract.stock.shown import NOT_TO_BE_HAD
from crawler.extract.visible_signs import Visible

_MOST_SELECTS, _MOST_OPTIONS, _LONGEST = 20, 100, 100
#: Lines from the heading as which a price counts that no line shows.
_FAR = 50


def take_option(page: Page, seen: Visible, local: str | None) -> None:
    """Take the amount of the first thing that can be chosen, where each choice has one."""
    for select in islice(page.selects, _MOST_SELECTS):
        money = _chosen(select, local)
        if money is not None:
            seen.fields["price"], seen.fields["currency"] = money.value, money.currency
            seen.price_distance = _FAR
            seen.fields["availability"] = seen.fields.get("availability") or "InStock"
            return


def _chosen(select: Element, local: str | None) -> Money | None:
    """The amount of the choice that is made, else of the first that can be had."""
    found: list[tuple[bool, Money]] = []
    for option in islice(select.iter("option"), _MOST_OPTIONS):
        text = short_text(option)[:_LONGEST]
        if option.get("disabled") is not None or not (option.get("value") or text).strip():
            continue
        monies = list(find_prices(text, local))
        if not monies:
            if option.get("value"):
                return None  # a choice of something else
            continue
        money = monies[0]
        if money.currency is None or text[: money.start].rstrip().endswith(("+", "-+")):
            return None  # what comes to the price
        if availability_of_text(text) not in NOT_TO_BE_HAD:
            found.append((option.get("selected") is not None, money))
    return max(found, key=lambda one: one[0])[1] if found else None
