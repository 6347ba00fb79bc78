"""Items are brought to their types; nothing raises past here."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any, Self

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.cleaning.product import clean, from_mapping
from crawler.items import Missing, Product
from crawler.writer_bridge import Storage, storage_of
from scrapy_seine import meta as m
from scrapy_seine.engine.lease.entry import current

logger = logging.getLogger(__name__)


class Clean:
    """Cleans products, and makes products of other items that have a url and a name.

    Items that are no products pass through untouched and are not stored.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._foreign: set[type] = set()

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
            DropItem: it cannot even be read, and is in the rejected table; or it is none.
        """
        if isinstance(item, Missing):
            self.storage.missing(item)
            raise DropItem("the page shows no product", log_level="DEBUG")
        try:
            product = item if isinstance(item, Product) else _product(item)
            if product is None:
                self._note(type(item))
                return item
            _complete(product)
            clean(product, self._now())
        except Exception as error:  # a page can hold anything; its reason is kept
            reason = f"cannot be cleaned: {type(error).__name__}: {error}"
            self.storage.reject(item, reason)
            raise DropItem(reason, log_level="DEBUG") from None
        return product

    def _now(self) -> datetime:
        entry = current.get()
        answered_at = None if entry is None else entry.answered_at
        return answered_at or self.storage.inflight.now(entry)

    def _note(self, kind: type) -> None:
        if kind not in self._foreign:
            self._foreign.add(kind)
            logger.warning("items of type %s are no products and are not stored", kind.__name__)


def _product(item: Any) -> Product | None:
    if not ItemAdapter.is_item(item):
        return None
    adapter = ItemAdapter(item)
    return from_mapping(adapter) if adapter.get("url") and "name" in adapter else None


def _complete(product: Product) -> None:
    """What the request knows about the page."""
    entry = current.get()
    if entry is not None:
        meta = entry.request.meta
        product.job_id = product.job_id or meta.get(m.JOB_ID)
        product.site_id = product.site_id or meta.get(m.SITE_ID)
        # Which of two pages is newer must not depend on the clocks of those who read them.
        product.scraped_at = entry.answered_at or product.scraped_at
