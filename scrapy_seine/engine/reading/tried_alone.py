"""Tries requests alone that several workers died with, because only then a death shows the culprit.

A worker that is killed from outside (for memory, by a machine's end) dies with some thirty leases.
All of them return; after half of SEINE_MAX_DELIVERIES such deaths a request starts only when Scrapy
has no other, and no other starts beside it. Redis records it before (`isolate`), so that a worker
that takes a dead worker's leases back can see which request it was. A request that ends well is no
suspect any longer; one that kills its workers is buried after as many deaths as if it had caused
each of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from redis.exceptions import RedisError

from scrapy_seine.config import FrontierConfig
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Lease
from scrapy_seine.frontier.worker_deaths import shared_deaths

logger = logging.getLogger(__name__)
#: Pause after an error of Redis, s.
AGAIN_S = 0.5


class Suspects:
    """Decides for one worker which lease may start."""

    def __init__(
        self,
        frontier: Frontier,
        inflight: InFlightTable,
        config: FrontierConfig,
        wake: Callable[[], None],
        count: Callable[[str], None],
    ) -> None:
        self._frontier, self._inflight = frontier, inflight
        self._suspect_deaths = shared_deaths(config.max_deliveries)
        self._wake, self._count = wake, count
        self._marked: Lease | None = None
        """The lease that Redis has recorded as tried alone by this worker."""
        self._recording: asyncio.Task[None] | None = None

    def admits(self, lease: Lease) -> bool:
        """Whether a lease may start now; if not yet, the engine is woken when it may.

        Scrapy asks again by itself whenever it has finished a request.
        """
        marked, suspect = self._marked, lease.deliveries >= self._suspect_deaths
        if marked is None and not suspect:
            return True
        if marked is not None and marked.token == lease.token:
            return not self._inflight.scrapy_holds_any
        if marked is not None and self._inflight.has(marked.token):
            return False
        if not (suspect and self._inflight.scrapy_holds_any) and self._recording is None:
            self._recording = asyncio.ensure_future(self._record(lease if suspect else None))
        return False

    async def _record(self, lease: Lease | None) -> None:
        """Record in Redis that a lease starts alone, and that the previous one is over.

        The previous one may still wait for its items to be durable, and must not be blamed for the
        next one's death.
        """
        try:
            if self._marked is not None:
                await self._frontier.isolate(self._marked, begins=False)
                self._marked = None
            if lease is not None:
                await self._begin(lease)
        except (RedisError, OSError):
            await asyncio.sleep(AGAIN_S)
        finally:
            self._recording = None
        self._wake()

    async def _begin(self, lease: Lease) -> None:
        if await self._frontier.isolate(lease, begins=True):
            self._count("tried_alone")
            line = "a request is tried alone, because %d workers stopped while they held it"
            logger.info(line, lease.deliveries)
        self._marked = lease  # a lost lease ends as lost
