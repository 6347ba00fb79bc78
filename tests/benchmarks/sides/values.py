"""What a scraper of one shop knows about it, written by hand: how it says prices and stock.

Nothing of Seine's is used here, nor in what imports this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urljoin

CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP"}
STOCK = {
    "InStock": ("in stock", "available now", "auf lager"),
    "OutOfStock": ("out of stock", "oos", "sold out", "unavailable", "ausverkauft"),
    "PreOrder": ("pre-order", "preorder", "vorbestellbar"),
}
#: What the shop's tables of facts call things.
LABELS = {
    "SKU": "sku",
    "Item no.": "sku",
    "Product code": "sku",
    "Brand": "brand",
    "Manufacturer": "brand",
    "EAN": "gtin",
    "GTIN": "gtin",
    "Barcode (EAN)": "gtin",
}
#: Links that lead to no product.
DENIED = (r"/cart", r"/admin")
#: The parameters of the shop that change what a page shows.
KEPT = ("page",)


def price(text: str) -> str:
    """The number in a price.

    >>> [price(text) for text in ("1.234,50 €", "$1,234.50", "CHF 1'234.50", "12,00 EUR")]
    ['1234.50', '1234.50', '1234.50', '12.00']
    """
    digits = re.sub(r"[^\d.,]", "", text).strip(".,")
    whole, mark, cents = digits[:-3], digits[-3:-2], digits[-2:]
    if mark in {".", ","}:
        return re.sub(r"\D", "", whole) + "." + cents
    return digits


def currency(text: str) -> str | None:
    """The currency in a price, as an ISO code."""
    found = re.search(r"[A-Z]{3}", text)
    return found[0] if found else next((c for s, c in CURRENCIES.items() if s in text), None)


def stock(text: str) -> str | None:
    """schema.org's word for what the shop says.

    >>> stock("https://schema.org/InStock"), stock("Sold out")
    ('InStock', 'OutOfStock')
    """
    word = text.rsplit("/", 1)[-1]
    if word in STOCK:
        return word
    lowered = text.lower()
    # "unavailable" before "available": the longest list of refusals is asked first
    order = ("OutOfStock", "PreOrder", "InStock")
    return next((name for name in order if any(w in lowered for w in STOCK[name])), None)


def product_node(texts: Iterable[str]) -> dict[str, Any] | None:
    """The product of a page's JSON-LD blocks."""
    for text in texts:
        data = json.loads(text)
        for node in data.get("@graph", [data]):
            if node.get("@type") == "Product":
                return dict(node)
    return None


def from_node(node: dict[str, Any], url: str) -> dict[str, Any]:
    """The fields of a JSON-LD product."""
    offer, brand = node["offers"], node.get("brand")
    offer = offer[0] if isinstance(offer, list) else offer
    rating = node.get("aggregateRating", {})
    return {
        "name": node["name"],
        "sku": node["sku"],
        "gtin": node.get("gtin13"),
        "mpn": node.get("mpn"),
        "brand": brand["name"] if isinstance(brand, dict) else brand,
        "price": f"{float(offer['price']):.2f}",
        "currency": offer["priceCurrency"],
        "availability": stock(offer["availability"]),
        "description": node.get("description"),
        "images": [urljoin(url, image) for image in node.get("image", [])],
        "rating": rating.get("ratingValue"),
        "review_count": rating.get("reviewCount"),
    }


def from_open_graph(meta: Callable[[str], str]) -> dict[str, Any]:
    """The fields that a page's meta elements tell; *meta* gives one's content, or nothing."""
    return {
        "name": meta("og:title"),
        "sku": meta("product:retailer_item_id"),
        "brand": meta("product:brand"),
        "price": meta("product:price:amount"),
        "currency": meta("product:price:currency"),
        "availability": stock(meta("product:availability")),
        "description": meta("og:description"),
        "images": [meta("og:image")],
    }


def from_facts(facts: dict[str, str]) -> dict[str, Any]:
    """The fields that a table of facts has; the others stay attributes."""
    known = {LABELS[label]: value for label, value in facts.items() if label in LABELS}
    others = {label: value for label, value in facts.items() if label not in LABELS}
    return {**known, "attributes": others}
