"""Products go to the writer's thread; the page's lease ends after the commit."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler

from crawler.items import Product
from crawler.storage import Storage, storage_of
from crawler.stores.rows import digest


class Upsert:
    """Opens and closes the storage, and hands products over without waiting."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's storage.

        Raises:
            ConfigError: a setting is wrong.
        """
        return cls(storage_of(crawler))

    async def open_spider(self) -> None:
        """Check the schema and start the writer.

        Raises:
            StoreError: the database does not answer, or its schema is not up to date.
        """
        await self.storage.open()

    async def close_spider(self) -> None:
        """Write what is left."""
        await self.storage.close()

    def process_item(self, item: Any) -> Any:
        """Hand a product over."""
        if isinstance(item, Product):
            kept, content_hash = self.storage.digests
            self.storage.store(item, content_hash if kept is item else digest(item))
        return item
