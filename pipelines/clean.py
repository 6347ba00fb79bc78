"""Converts items' values to their types; later pipelines need not expect bad types."""

from __future__ import annotations

import functools
import logging
from datetime import datetime
from typing import Any, Self

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.cleaning.product import clean, from_mapping
from crawler.items import Missing, Product
from crawler.storage import Storage, storage_of
from scrapy_seine import meta as m
from scrapy_seine.engine.lease.entry import current

logger = logging.getLogger(__name__)


class Clean:
    """Cleans products, and converts other items with a url and a name to products.

    Any other item passes unchanged and is not stored.
    """

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
        """Clean one item.

        Raises:
            DropItem: the item cannot be cleaned, and is rejected; or the page shows no product.
        """
        if isinstance(item, Missing):
            self.storage.store_missing(item)
            raise DropItem("the page shows no product", log_level="DEBUG")
        try:
            product = item if isinstance(item, Product) else _product(item)
            if product is None:
                _note_foreign(type(item).__name__)
                return item
            _complete(product)
            clean(product, self._now())
        except Exception as error:  # a page can hold anything; the item is rejected with the reason
            reason = f"cannot be cleaned: {type(error).__name__}: {error}"
            self.storage.reject(item, reason)
            raise DropItem(reason, log_level="DEBUG") from None
        return product

    def _now(self) -> datetime:
        entry = current.get()
        answered_at = None if entry is None else entry.answered_at
        return answered_at or self.storage.inflight.now(entry)


@functools.cache
def _note_foreign(kind: str) -> None:
    logger.warning("items of type %s are no products and are not stored", kind)


def _product(item: Any) -> Product | None:
    if not ItemAdapter.is_item(item):
        return None
    adapter = ItemAdapter(item)
    return from_mapping(adapter) if adapter.get("url") and "name" in adapter else None


def _complete(product: Product) -> None:
    """Fill in the job, the site and the time from the request."""
    entry = current.get()
    if entry is not None:
        meta = entry.request.meta
        product.job_id = product.job_id or meta.get(m.JOB_ID)
        product.site_id = product.site_id or meta.get(m.SITE_ID)
        # The frontier's clock, because workers' clocks must not decide which page is newer.
        product.scraped_at = entry.answered_at or product.scraped_at
