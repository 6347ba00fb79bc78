"""Prices in cents: a script or structured data has 1299 where the page shows 12.99."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from crawler.extract.fields import Fields
from crawler.extract.money.amounts import find_prices

_CENTS = 100
#: Names of an amount's text beside its number, and characters of it that are read.
_TEXTS, _MAX_TEXT = ("formatted", "formattedPrice", "formattedValue", "formattedAmount"), 40


def counts_in_cents(node: dict[str, Any]) -> bool:
    """Return whether a script's node has prices in cents, as Shopify's product JSON does."""
    if "public_title" in node:  # a variant in the data for Shopify's analytics
        return isinstance(node.get("price"), int)
    return "variants" in node and ("price_min" in node or "price_varies" in node or (
        "vendor" in node and isinstance(node.get("price"), int)
    ))  # fmt: skip


def as_written(node: dict[str, Any], amount: Decimal) -> Decimal:
    """Return an amount of a script in whole units, where its text beside it has a hundredth of it.

    >>> as_written({"value": 1495, "formatted": "14,95 €"}, Decimal(1495))
    Decimal('14.95')
    >>> as_written({"value": 1495, "formatted": "1.495 €"}, Decimal(1495))
    Decimal('1495')
    """
    text = next((node[name] for name in _TEXTS if isinstance(node.get(name), str)), "")
    shown = next(find_prices(text[:_MAX_TEXT]), None)
    return amount.scaleb(-2) if shown and amount == _CENTS * shown.value else amount


def in_shown_units(offered: dict[str, Fields]) -> None:
    """Take the visible price where structured data has a hundred times that."""
    shown_price = offered.get("text", {}).get("price")
    if not shown_price:
        return
    for source, fields in offered.items():
        if source not in {"text", "state"} and fields.get("price") == _CENTS * shown_price:
            fields["price"] = shown_price


def in_whole_units(offered: dict[str, Fields]) -> None:
    """Divide the prices of a page's scripts by 100 where all other sources have a hundredth.

    And those of structured data where the page shows a hundredth with cents, as no instalment is.
    """
    if offered.get("text", {}).get("price", 0) % 1:
        in_shown_units(offered)
    state = offered.get("state", {})
    if state.get("price") is None:
        return
    other_prices = {
        fields["price"]
        for source, fields in offered.items()
        if source != "state" and "price" in fields
    }
    if len(other_prices) == 1 and state.get("price") == _CENTS * other_prices.pop():
        for name in ("price", "regular_price"):
            if name in state:
                state[name] = state[name].scaleb(-2)


def take_shown_price(fields: Fields, sources: dict[str, str], offered: dict[str, Fields]) -> bool:
    """Take the visible price where structured data has the same price in cents.

    Returns whether it has.
    """
    shown_price, price = offered.get("text", {}).get("price"), fields.get("price")
    if not shown_price or price != shown_price * _CENTS or sources.get("price") == "text":
        return False
    fields["price"] = shown_price
    for source_fields in offered.values():
        if source_fields.get("price") == price:
            source_fields["price"] = shown_price
    return True
