"""Prices and availability in the formats of real shops, chosen by the product's number."""

from __future__ import annotations

from decimal import Decimal

_WORDS = {
    "InStock": ("In stock", "Available now", "In Stock (14 available)", "Auf Lager"),
    "OutOfStock": ("Out of stock", "Sold out", "Currently unavailable", "Ausverkauft"),
    "PreOrder": ("Pre-order", "Available for pre-order", "Pre-order now", "Vorbestellbar"),
}


def price_text(price: Decimal, currency: str, style: int = 0) -> str:
    """Write a price as a shop of that currency might; *style* picks the format.

    >>> price_text(Decimal("1234.50"), "EUR", 0), price_text(Decimal("1234.50"), "CHF")
    ('1.234,50 €', "CHF 1'234.50")
    >>> price_text(Decimal("1234.50"), "USD", 1)
    'USD 1,234.50'
    """
    english = f"{price:,.2f}"
    continental = english.replace(",", " ").replace(".", ",").replace(" ", ".")
    formats = {
        "EUR": (f"{continental} €", f"€{english}", f"{continental} EUR"),
        "USD": (f"${english}", f"USD {english}", f"${english} USD"),
        "GBP": (f"£{english}", f"£ {english}", f"{english} GBP"),
        "CHF": (f"CHF {english.replace(',', chr(39))}", f"{english} CHF", f"CHF {price:.2f}"),
    }[currency]
    return formats[style % len(formats)]


def availability_text(availability: str, style: int = 0) -> str:
    """Write an availability in words.

    >>> availability_text("OutOfStock", 1)
    'Sold out'
    """
    words = _WORDS[availability]
    return words[style % len(words)]
