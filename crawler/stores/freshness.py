"""Whether a product is written, or left alone because the table has it and it is fresh. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

import attrs

from crawler.stores.rows import ProductRow
from scrapy_seine.records import Value

Action = Literal["new", "changed", "refreshed", "unchanged", "stale"]


@attrs.frozen(eq=False, repr=False)
class Known(Value):
    """What the table holds under a product's key."""

    content_hash: bytes
    scraped_at: datetime
    gone: bool
    url: str
    ahead: bool = False
    """Its time lies in the future: a clock was wrong, and any page is newer."""


def decide(row: ProductRow, known: Known | None, window: timedelta) -> Action:
    """Say what to do with a row; the newer page wins, judged by scraped_at.

    An unchanged product is `refreshed` when it was last seen *window* ago (SEINE_FRESH_SECONDS).
    """
    if known is None:
        return "new"
    if known.content_hash != row.content_hash:
        newer = known.ahead or row.scraped_at > known.scraped_at
        return "changed" if newer else "stale"
    if known.ahead:
        return "refreshed"
    if row.scraped_at <= known.scraped_at:
        return "unchanged"
    stale = row.scraped_at - known.scraped_at >= window
    return "refreshed" if stale or known.gone else "unchanged"
