"""A spider's start gives way: to the pages that are read meanwhile, and to Redis.

Scrapy reads `start` without a pause while its downloader is full. A start that awaits nothing, a
million addresses of a file for instance, would then hold the event loop to its end: no page is
read, no lease renewed, no request sent, and the watchdog ends the worker (I11).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy_seine.engine.lease.uncaught import unbroken

if TYPE_CHECKING:
    from scrapy_seine.engine.worker import Worker

#: The start may hold the loop so long, s.
_MOST_S = 0.01
#: So many of its requests wait at most for their run, or for Redis.
_MOST_UNSENT = 2000
_LOOK_S = 0.01


async def giving_way(start: AsyncIterator[Any], worker: Worker) -> AsyncIterator[Any]:
    """Yield what a spider's start yields, with pauses; what leaves it is an Exception.

    A worker that closes reads no further: what `start` would yield then, the next one yields.
    """
    began = monotonic()
    async for output in unbroken(start):
        yield output
        if monotonic() - began >= _MOST_S:
            await asyncio.sleep(0)
            while worker.closing or _unsent(worker) > _MOST_UNSENT:  # noqa: ASYNC110  # as seldom
                await asyncio.sleep(_LOOK_S)
            began = monotonic()


def _unsent(worker: Worker) -> int:
    """How many requests of the start are here alone; some stay, because they cannot be stored."""
    if (member := worker.member) is None:
        return 0
    return len(member.starts.waiting) + len(member.exchange.endings.pushes) + len(member.local)
