"""Scrapy's item pipelines, without a coroutine for pipelines that return no awaitable.

Scrapy makes a coroutine of each pipeline's result, and the full name of each pipeline for a warning
that is hardly ever logged.
"""

from __future__ import annotations

from inspect import isawaitable
from typing import Any

from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred

from scrapy_seine.engine.fastpath import scrapy_internals


class Pipelines(ItemPipelineManager):
    """Passes each item through the pipelines, as Scrapy's own manager does."""

    async def process_item_async(self, item: Any) -> Any:
        """Return the last pipeline's result for an item.

        Raises:
            DropItem: a pipeline drops it.
        """
        if not scrapy_internals.available("pipelines"):
            return await super().process_item_async(item)
        with_spider = scrapy_internals.with_spider(self)
        for method in self.methods["process_item"]:
            assert method is not None
            result = (
                method(item, scrapy_internals.spider_of(self))
                if method in with_spider
                else method(item)
            )
            if result is not item and (isawaitable(result) or isinstance(result, Deferred)):
                result = await scrapy_internals.awaitable(result, global_object_name(method))
            item = result
        return item
