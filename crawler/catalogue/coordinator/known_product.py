"""A stored product as the coordinator looks at it, to say whether it is crawled again."""

from __future__ import annotations

from datetime import datetime

import attrs

from crawler.catalogue.coordinator.change_rate import Looks
from scrapy_seine.records import Value


@attrs.frozen(eq=False, repr=False)
class Known(Value):
    """A product as the coordinator looks at it, and as a site file's `importance` sees it."""

    url: str
    scraped_at: datetime
    observed_s: float = 0.0
    """Seconds between the looks at it, added up."""
    price_changes: int = 0
    """Looks, not announced by anything, that found another price or availability."""
    price_changed_s: float = 0.0
    """Seconds before each of these looks, added up."""
    etag: str | None = None
    last_modified: str | None = None
    parser: str | None = None
    """Version of the parser that read it; None: unknown."""
    external_id: str = ""
    name: str = ""
    category: str = ""
    brand: str | None = None
    price: float | None = None
    watched: float | None = None
    """Importance by a watch list."""

    @property
    def looks(self) -> Looks:
        """What the looks at it found."""
        calm_s = self.observed_s - self.price_changed_s
        return Looks(self.price_changes, self.price_changed_s, max(0.0, calm_s))
