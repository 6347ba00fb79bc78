"""Scrapy's item pipelines, without a coroutine for a pipeline that returns no awaitable.

Scrapy makes a coroutine of what each pipeline returns, and the full name of each for a warning that
is hardly ever given.
"""

from __future__ import annotations

from inspect import isawaitable
from typing import Any

from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred

from scrapy_seine.engine.fastpath import scrapy_internals


class Pipelines(ItemPipelineManager):
    """Passes each item through the pipelines, as Scrapy's own does."""

    async def process_item_async(self, item: Any) -> Any:
        """Return what the last pipeline makes of an item.

        Raises:
            DropItem: a pipeline drops it.
        """
        if not scrapy_internals.available("pipelines"):
            return await super().process_item_async(item)
        old = scrapy_internals.with_spider(self)
        for method in self.methods["process_item"]:
            assert method is not None
            made = method(item, scrapy_internals.spider_of(self)) if method in old else method(item)
            if made is not item and (isawaitable(made) or isinstance(made, Deferred)):
                made = await scrapy_internals.awaitable(made, global_object_name(method))
            item = made
        return item
