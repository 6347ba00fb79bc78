"""Decide whether a product is written, or skipped because its stored row is fresh. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

import attrs

from crawler.stores.rows import ProductRow
from scrapy_seine.attrs_bases import Value

Action = Literal["new", "changed", "refreshed", "unchanged", "stale"]


@attrs.frozen(eq=False, repr=False)
class StoredVersion(Value):
    """The stored row under a product's key."""

    content_hash: bytes
    scraped_at: datetime
    gone: bool
    url: str
    ahead: bool = False
    """scraped_at lies in the future, because a clock was wrong; any page counts as newer."""


def decide(row: ProductRow, stored_version: StoredVersion | None, window: timedelta) -> Action:
    """Return what to do with a row; the page with the newer scraped_at wins.

    An unchanged product is `refreshed` if it was last seen *window* ago (SEINE_FRESH_SECONDS).
    """
    if stored_version is None:
        return "new"
    if stored_version.content_hash != row.content_hash:
        is_newer = stored_version.ahead or row.scraped_at > stored_version.scraped_at
        return "changed" if is_newer else "stale"
    if stored_version.ahead:
        return "refreshed"
    if row.scraped_at <= stored_version.scraped_at:
        return "unchanged"
    is_due = row.scraped_at - stored_version.scraped_at >= window
    return "refreshed" if is_due or stored_version.gone else "unchanged"
