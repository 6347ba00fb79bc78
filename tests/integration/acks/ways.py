"""Whose code reads a page: ours, Scrapy's where a middleware rewrites outputs, or all Scrapy's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

#: Spider middlewares that each way has besides.
WAYS: dict[str, dict[str, int]] = {
    "looks": {},
    "stock": {},
    "rewrites": {"tests.integration.acks.ways.Rewrites": 30},
}


class Rewrites:
    """Handles the outputs as a whole, so that Scrapy's own code has to drive them."""

    async def process_spider_output(self, response: Any, result: Any) -> AsyncIterator[Any]:
        async for output in result:
            yield output
