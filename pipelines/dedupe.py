"""Drops a product that the same job has stored from the same URL already."""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.items import Product
from crawler.storage import Storage, storage_of
from crawler.stores.content_hash import digest

#: Pages remembered, at most, some 300 bytes each.
_MOST = 10_000


class Dedupe:
    """Hashes a product's visible values, and drops products that this process stored already.

    Only a repeat at the same URL is dropped, because another URL is news; and only within the
    freshness window, so that a product stays fresh in a process that never ends. A repeat may be
    dropped before the first one is stored, because that one's lease stays open until then.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.window_s = storage.config.fresh_s
        self._seen: OrderedDict[int, tuple[bytes, frozenset[str], float]] = OrderedDict()
        self._failures = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's storage.

        Raises:
            ConfigError: a setting is wrong.
        """
        return cls(storage_of(crawler))

    def process_item(self, item: Any) -> Any:
        """Pass new products on.

        Raises:
            DropItem: this process has the product already, or it cannot be hashed.
        """
        if not isinstance(item, Product):
            return item
        try:
            content_hash = digest(item)
        except (TypeError, ValueError) as error:
            self.storage.reject(item, f"cannot be stored: {error}")
            raise DropItem(str(error), log_level="DEBUG") from None
        self.storage.digests = (item, content_hash)
        # A hash of the texts is enough, because a dropped product has the same digest as well.
        key = hash((item.site_id, item.external_id, item.url, item.job_id))
        if self._failures != self.storage.failures:
            # A row was not stored; its page is retried, and its product must pass.
            self._failures = self.storage.failures
            self._seen.clear()
        now_s = monotonic()
        stored = self._seen.get(key)
        # With the doubts, because a value that was doubtful before must be stored once it is not.
        content = content_hash, frozenset(item.doubts)  # frozenset() is one object for all
        if stored is not None and stored[:2] == content and now_s - stored[2] < self.window_s:
            raise DropItem("seen already", log_level="DEBUG")
        self._seen[key] = *content, now_s
        if len(self._seen) > _MOST:
            self._seen.popitem(last=False)
        return item
