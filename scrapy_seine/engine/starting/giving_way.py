"""A spider's start gives way: to the pages that are read meanwhile, and to Redis.

Scrapy reads `start` without a pause while its downloader is full. A start that awaits nothing, a
million addresses of a file for instance, would then hold the event loop to its end: no page is
read, no lease renewed, no request sent, and the watchdog ends the worker (I11).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import Any

from scrapy_seine.engine.lease.uncaught import unbroken

#: The start may hold the loop so long, s.
_MOST_S = 0.01
_LOOK_S = 0.01


async def giving_way(
    start: AsyncIterator[Any], has_to_wait: Callable[[], bool]
) -> AsyncIterator[Any]:
    """Yield what a spider's start yields, with pauses; what leaves it is an Exception."""
    began = monotonic()
    async for output in unbroken(start):
        yield output
        if monotonic() - began >= _MOST_S:
            await asyncio.sleep(0)
            while has_to_wait():  # noqa: ASYNC110  # it seldom waits
                await asyncio.sleep(_LOOK_S)
            began = monotonic()
