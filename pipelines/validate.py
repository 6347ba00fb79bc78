"""Rejects bad products, with the reason."""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.cleaning.rejection import rejection
from crawler.items import Product
from crawler.storage import Storage, storage_of


class Validate:
    """Checks required fields and ranges, then the rules of the site's own file."""

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
        """Pass a valid item on.

        Raises:
            DropItem: the product is rejected; the table has the same reason.
        """
        if isinstance(item, Product) and (reason := rejection(item) or self._site_problem(item)):
            self.storage.reject(item, reason)
            raise DropItem(reason, log_level="DEBUG")
        return item

    def _site_problem(self, product: Product) -> str | None:
        """The site file's reason to reject a product."""
        site_of = getattr(self.storage.spider, "site_of", None)
        if site_of is None:
            return None
        try:
            reason: str | None = site_of(product.url).problem(product)
        except Exception as error:  # a site file's error rejects the product
            return f"the site's rules failed: {type(error).__name__}: {error}"
        return reason
