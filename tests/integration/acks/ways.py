"""Whose code passes a page's outputs on: ours, or Scrapy's where a middleware rewrites them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

#: Spider middlewares that each way has besides.
WAYS: dict[str, dict[str, int]] = {
    "looks": {},
    "rewrites": {"tests.integration.acks.ways.Rewrites": 30},
}


class Rewrites:
    """Handles the outputs as a whole, so that Scrapy's own code has to drive them."""

    async def process_spider_output(self, response: Any, result: Any) -> AsyncIterator[Any]:
        async for output in result:
            yield output
