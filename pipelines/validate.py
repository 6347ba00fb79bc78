"""Products that cannot be kept go to the rejected table, with the reason."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.cleaning.product import problem
from crawler.engine.storage import Storage, storage_of
from crawler.items import Product


class Validate:
    """Checks required fields and ranges."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's storage.

        Raises:
            ConfigError: a setting is wrong.
        """
        return cls(storage_of(crawler))

    def process_item(self, item: Any) -> Any:
        """Pass a good item on.

        Raises:
            DropItem: with the reason that the rejected table holds.
        """
        if isinstance(item, Product) and (reason := problem(item)):
            self.storage.reject(item, reason)
            raise DropItem(reason, log_level="DEBUG")
        return item
