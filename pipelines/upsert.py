"""Queues products for the writer's thread; the page's lease ends after the commit."""

from __future__ import annotations

import logging
from typing import Any, Self

import psycopg2
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, NotConfigured

from crawler.items import Product
from crawler.storage import Storage, storage_of
from crawler.stores.content_hash import digest
from scrapy_seine.engine.ending.shutdown import unless_stopped
from scrapy_seine.engine.starting.one_off import is_one_off
from scrapy_seine.errors import StoreError, StoreUnreachable
from scrapy_seine.sinks.postgres.database import line_of

logger = logging.getLogger(__name__)


class Upsert:
    """Opens and closes the storage, and queues products without waiting."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's storage.

        Raises:
            ConfigError: a setting is wrong.
            NotConfigured: the command fetches a few pages only, and stores nothing.
        """
        if is_one_off(crawler):
            raise NotConfigured
        return cls(storage_of(crawler))

    async def open_spider(self) -> None:
        """Check the schema and start the writer.

        Raises:
            CloseSpider: the database does not answer, its schema is not up to date, or the worker
                is stopped meanwhile.
        """
        try:
            await unless_stopped(self.storage.crawler, self.storage.open())
        except (StoreError, psycopg2.Error) as error:
            logger.error("worker exits: %s", line_of(error))
            reason = "outage" if isinstance(error, StoreUnreachable) else "error"
            raise CloseSpider(reason) from None

    async def close_spider(self) -> None:
        """Write the queued rows."""
        await self.storage.close()

    def process_item(self, item: Any) -> Any:
        """Queue a product."""
        if isinstance(item, Product):
            digested, content_hash = self.storage.digests
            self.storage.store(item, content_hash if digested is item else digest(item))
        return item
