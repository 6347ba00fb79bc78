"""A stored product with the columns by which the coordinator decides when it is re-crawled."""

from __future__ import annotations

from datetime import datetime

import attrs

from crawler.catalogue.coordinator.change_rate import Looks
from scrapy_seine.attrs_bases import Value


@attrs.frozen(eq=False, repr=False)
class KnownProduct(Value):
    """A stored product, for the coordinator and for a site file's `importance`."""

    url: str
    scraped_at: datetime
    """When its page was last looked at, also if that showed no product then."""
    observed_s: float = 0.0
    """Total of the intervals between the looks at the product, in seconds."""
    price_changes: int = 0
    """Looks without an announcement that found another price or availability."""
    price_changed_s: float = 0.0
    """Total of the intervals before these looks, in seconds."""
    etag: str | None = None
    last_modified: str | None = None
    parser: str | None = None
    """Version of the parser that read the page; None: unknown."""
    external_id: str = ""
    name: str = ""
    category: str = ""
    brand: str | None = None
    price: float | None = None
    watched: float | None = None
    """Importance by a watch list."""
    unread_at: datetime | None = None
    """When it was asked for since, and nothing came: an error, or a page that cannot be read."""

    @property
    def looks(self) -> Looks:
        """The results of the looks at the product."""
        calm_s = self.observed_s - self.price_changed_s
        return Looks(self.price_changes, self.price_changed_s, max(0.0, calm_s))
