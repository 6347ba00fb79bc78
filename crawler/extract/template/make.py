"""One make of a site's pages: what is known of it, and what its newest pages showed."""

from __future__ import annotations

from collections import deque

import attrs

from crawler.extract.template.mending import Mender
from crawler.extract.template.profile import Profile
from scrapy_seine.records import Record

#: Pages whose names and prices are compared, and the fields of which they are.
NEWEST = 12
COMPARED = ("name", "price", "availability")


@attrs.define(eq=False, repr=False)
class Make(Record):
    """What is known of one make: its profile, its newest pages, and what was said of it."""

    profile: Profile = attrs.Factory(Profile)
    newest: dict[str, deque[tuple[str, str]]] = attrs.Factory(
        lambda: {name: deque(maxlen=NEWEST) for name in COMPARED}
    )
    """Of the newest pages: product and value."""
    last_change: str | None = None
    """What changed last, until it is stored."""
    newest_pages: deque[tuple[str, str]] = attrs.Factory(lambda: deque(maxlen=NEWEST))
    """Of the newest pages: product and address."""
    suspects: dict[str, dict[str, str]] = attrs.Factory(lambda: {name: {} for name in COMPARED})
    """Products read with a value before it was noticed that all have it: by field, key and value."""
    reported: set[tuple[str, str]] = attrs.Factory(set)
    """Lasting doubts that were told of."""
    mender: Mender = attrs.Factory(Mender)
    pages_to_reread: list[tuple[str, int]] = attrs.Factory(list)
    """Pages to be read again, because the template is understood since, and its version."""
    replays: int = 0
    stored_products: int = 0
    """Products that were stored before this make was known."""
