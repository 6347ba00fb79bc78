"""Prices that count in cents: a script or structured data says 1299 where the page shows 12.99."""

from __future__ import annotations

from typing import Any

from crawler.extract.fields import Fields

_CENTS = 100


def counts_in_cents(node: dict[str, Any]) -> bool:
    """Whether a script's node counts in the currency's smallest unit, as Shopify's product JSON does."""
    if "public_title" in node:  # a variant in what its analytics read
        return isinstance(node.get("price"), int)
    return "variants" in node and ("price_min" in node or "price_varies" in node or (
        "vendor" in node and isinstance(node.get("price"), int)
    ))  # fmt: skip


def in_whole_units(offered: dict[str, Fields]) -> None:
    """Divide the prices of a page's scripts by 100 where all other sources show that they count in cents."""
    held = offered.get("state", {})
    if held.get("price") is None:
        return
    others = {
        fields["price"] for s, fields in offered.items() if s != "state" and "price" in fields
    }
    if len(others) == 1 and held.get("price") == _CENTS * others.pop():
        for name in ("price", "regular_price"):
            if name in held:
                held[name] = held[name].scaleb(-2)


def take_shown_price(fields: Fields, sources: dict[str, str], offered: dict[str, Fields]) -> bool:
    """Take the price that the page shows where structured data tells the same figures as cents.

    Returns whether it does.
    """
    shown, price = offered.get("text", {}).get("price"), fields.get("price")
    if not shown or price != shown * _CENTS or sources.get("price") == "text":
        return False
    fields["price"] = shown
    for told in offered.values():
        if told.get("price") == price:
            told["price"] = shown
    return True
