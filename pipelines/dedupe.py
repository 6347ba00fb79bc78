"""The same page of the same product twice in a job is stored once."""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.items import Product
from crawler.stores.content_hash import digest
from crawler.writer_bridge import Storage, storage_of

#: Pages remembered, some 300 bytes each.
_MOST = 10_000


class Dedupe:
    """Hashes what a visitor sees, and drops what this process stored already.

    Only a repeat with the same address is dropped: another address is news. And only within the
    freshness window, so that a product stays fresh in a process that never ends. The first one's
    lease stays open until it is stored, so a repeat may be dropped before that.
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
        """Pass on what is new.

        Raises:
            DropItem: this process has it already, or it cannot be hashed.
        """
        if not isinstance(item, Product):
            return item
        try:
            content_hash = digest(item)
        except (TypeError, ValueError) as error:
            self.storage.reject(item, f"cannot be stored: {error}")
            raise DropItem(str(error), log_level="DEBUG") from None
        self.storage.digests = (item, content_hash)
        # A number instead of the texts: what is dropped has the same digest as well.
        key = hash((item.site_id, item.external_id, item.url, item.job_id))
        if self._failures != self.storage.failures:
            # Something was not stored after all; its page will come again and must be let through.
            self._failures = self.storage.failures
            self._seen.clear()
        now = monotonic()
        before = self._seen.get(key)
        # A value that was doubtful is stored when a second look at its page is not.
        told = content_hash, frozenset(item.doubts)  # of nothing, it is one for all products
        if before is not None and before[:2] == told and now - before[2] < self.window_s:
            raise DropItem("seen already", log_level="DEBUG")
        self._seen[key] = *told, now
        if len(self._seen) > _MOST:
            self._seen.popitem(last=False)
        return item
