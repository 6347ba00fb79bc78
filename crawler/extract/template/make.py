"""One make of a site's pages: its profile, and its newest pages."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import attrs

from crawler.extract.template.mass_changes import amount
from crawler.extract.template.place_search import Mender
from crawler.extract.template.profile import Profile
from crawler.extract.template.stock_runs import address_of
from scrapy_seine.attrs_bases import Record

#: Newest pages that are compared, and the fields that are compared.
NEWEST = 12
COMPARED = ("name", "price")


@attrs.define(eq=False, repr=False)
class Make(Record):
    """A cluster of pages of one template: its profile, its newest pages, and reported doubts."""

    profile: Profile = attrs.Factory(Profile)
    newest: dict[str, deque[tuple[str, str]]] = attrs.Factory(
        lambda: {name: deque(maxlen=NEWEST) for name in COMPARED}
    )
    """By field: product key and value of the newest pages."""
    last_change: str | None = None
    """The last change, until it is stored."""
    newest_pages: deque[tuple[str, str]] = attrs.Factory(lambda: deque(maxlen=NEWEST))
    """Product key and address of the newest pages."""
    suspects: dict[str, dict[str, str]] = attrs.Factory(lambda: {name: {} for name in COMPARED})
    """Products read with a value before its repetition was noticed: by field, key and value."""
    reported: set[tuple[str, str]] = attrs.Factory(set)
    """Fields and kinds of doubts that were reported."""
    mender: Mender = attrs.Factory(Mender)
    pages_to_reread: list[tuple[str, int]] = attrs.Factory(list)
    """Pages to read again by a newer version of the template, and that version."""
    replays: list[int] = attrs.Factory(list)
    """Numbers of the make's pages at which its newest pages were read again, the newest last."""
    worded: dict[str, tuple[Decimal, str]] = attrs.Factory(dict)
    """Newest pages with a doubtful price behind new words, that price, and the words."""
    shared_numbers: set[str] = attrs.Factory(set)
    """Numbers that structured data have for product after product."""
    stored_products: int = 0
    """Products that were stored before this make appeared."""

    def note_words(self, url: str, price: Decimal, words: str) -> None:
        """Keep a page whose price stands behind new words."""
        if len(self.worded) >= NEWEST:
            self.worded.pop(next(iter(self.worded)))
        self.worded[address_of(url)] = price, words

    def recall_words(self, url: str, stored: Mapping[str, Any] | None) -> None:
        """Believe all prices behind new words if one of them is stored already."""
        price, words = self.worded.pop(url, (None, ""))
        if price is not None and stored is not None and amount(stored.get("price")) == price:
            self.profile.note_words(words)
