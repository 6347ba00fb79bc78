"""Product: a crawl's result, with the field names of schema.org and zyte-common-items."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import attrs


def _now() -> datetime:
    return datetime.now(UTC)


@attrs.frozen
class Missing:
    """A known product's page shows no product: yielded by the spider, recorded, not an item."""

    url: str
    """The product's own address."""
    site_id: str
    may_pass: bool = False
    """Whether that may pass, because no redirect for good leads away from the address."""
    is_blank: bool = False
    """Whether its page has no text, so that it says nothing of the product."""


@attrs.define(kw_only=True)
class Product:
    """One product as one page shows it.

    Parsers fill what they find, in any common format; the clean pipeline brings values to the
    types given here, and the validate pipeline rejects what still does not fit.
    """

    url: str
    """Address of the page, absolute and normalised."""
    name: str | None = None
    """Name as shown to a customer."""
    external_id: str | None = None
    """What identifies the product within its site: sku, product id, gtin, or the URL's own part."""
    site_id: str | None = None
    """The site's short name (its site file's, else its registered domain)."""
    sku: str | None = None
    """The shop's stock keeping unit."""
    gtin: str | None = None
    """GTIN-8, -12, -13 or -14 (EAN, UPC, ISBN-13), digits only."""
    mpn: str | None = None
    """The manufacturer's part number."""
    brand: str | None = None
    """Brand name."""
    price: Decimal | str | None = None
    """What a customer pays now, without the currency."""
    regular_price: Decimal | str | None = None
    """The price before a reduction, where one is shown."""
    currency: str | None = None
    """ISO 4217 code."""
    availability: str | None = None
    """schema.org ItemAvailability without its prefix: InStock, OutOfStock, PreOrder …"""
    description: str | None = None
    """Plain text."""
    images: list[str] = attrs.Factory(list)
    """Absolute image URLs, the main one first."""
    breadcrumbs: list[str] = attrs.Factory(list)
    """Names of the categories above the product, outermost first."""
    rating: float | str | None = None
    """Average rating as shown."""
    review_count: int | str | None = None
    """Number of reviews or ratings."""
    canonical_url: str | None = None
    """The page's own canonical link, absolute."""
    attributes: dict[str, str] = attrs.Factory(dict)
    """Further name/value pairs the page shows (colour, size, material …)."""
    variants: list[dict[str, Any]] = attrs.Factory(list)
    """Variants of the same product, each a mapping with the fields above."""
    sources: dict[str, str] = attrs.Factory(dict)
    """Where each field came from: json-ld, microdata, opengraph, state, text, repaired, site."""
    confidence: dict[str, float] = attrs.Factory(dict)
    """For each field that is held against the site's template: how likely it is right, 0 to 1."""
    doubts: dict[str, list[str]] = attrs.Factory(dict)
    """Fields that contradict what the site did so far: the kind of the doubt, and the reason."""
    job_id: str | None = None
    """The job whose request found it."""
    scraped_at: datetime = attrs.Factory(_now)
    """When the page was answered, UTC, by the frontier's clock."""
