"""Rejects products without a URL, name or identifier, or with an absurd price."""

from __future__ import annotations

from decimal import Decimal

from crawler.cleaning.product import URL_LIMIT
from crawler.extract.money.currencies import CODES, ISO_4217
from crawler.items import Product

#: With the lev and the kuna, which pages show beside the euro for years after its introduction.
_KNOWN = ISO_4217 | CODES
#: Currencies in which even a pen costs thousands.
_SMALL = frozenset({"VND", "IDR", "IRR", "KRW", "LAK", "KHR", "UZS", "COP", "PYG", "GNF", "LBP"})
#: The highest plausible price, and that in a small currency.
_LIMIT, _LIMIT_SMALL = Decimal(10) ** 7, Decimal(10) ** 11


def rejection(product: Product) -> str | None:
    """The reason to reject a cleaned product; None for a valid one."""
    if not product.url.startswith(("http://", "https://")):
        return f"url {product.url[:100]!r} is not absolute" if product.url else "no url"
    if len(product.url) > URL_LIMIT:
        return f"url is longer than {URL_LIMIT} characters"
    if not product.name:
        return "no name"
    if not product.site_id or not product.external_id:
        return "nothing identifies it"
    for name in ("price", "regular_price"):
        amount = getattr(product, name)
        if isinstance(amount, Decimal) and (reason := _price_problem(amount, product.currency)):
            return f"{name} {reason}"
    if product.currency is not None and product.currency not in _KNOWN:
        return f"unknown currency {product.currency!r}"
    return None


def _price_problem(amount: Decimal, code: str | None) -> str | None:
    if amount < 0:
        return f"{amount} is negative"
    limit = _LIMIT_SMALL if code in _SMALL else _LIMIT
    return f"{amount:.3e} is absurd" if amount > limit else None
