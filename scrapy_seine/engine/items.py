"""Scrapy's item pipelines, which wait only where a pipeline promises something.

Scrapy makes a coroutine of what each pipeline returns, and the full name of each for a warning that
is hardly ever given.
"""

from __future__ import annotations

from inspect import isawaitable
from typing import Any

from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred


class Pipelines(ItemPipelineManager):
    """Passes each item through the pipelines, as Scrapy's own does."""

    async def process_item_async(self, item: Any) -> Any:
        """Return what the last pipeline makes of an item.

        Raises:
            DropItem: a pipeline drops it.
        """
        for method in self.methods["process_item"]:
            assert method is not None
            old_style = method in self._mw_methods_requiring_spider
            made = method(item, self._spider) if old_style else method(item)
            if made is not item and (isawaitable(made) or isinstance(made, Deferred)):
                made = await ensure_awaitable(made, _warn=global_object_name(method))
            item = made
        return item
