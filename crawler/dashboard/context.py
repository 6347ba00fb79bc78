"""What the handlers share: stores, the crawl, and one reading of the fleet for all visitors."""

from __future__ import annotations

import asyncio
from time import monotonic

import attrs
from aiohttp import web
from redis.asyncio import Redis

from crawler.dashboard.config import DashboardConfig
from crawler.dashboard.security import Guard
from crawler.reads.database import Database
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.opening import frontier_of, partitions_of
from scrapy_seine.reads.overview import Overview, read_overview

#: Minutes shown in the overview's chart.
MINUTES = 180


@attrs.define(eq=False)
class Context:
    """One dashboard's stores."""

    config: DashboardConfig
    redis: Redis
    database: Database
    guard: Guard
    _overview: Overview | None = None
    _read_at: float = 0.0
    _partitions: int = 0
    _reading: asyncio.Lock = attrs.Factory(asyncio.Lock)

    @property
    def frontier(self) -> Frontier:
        """The crawl's frontier."""
        of = self._partitions or self.config.partitions
        return frontier_of(self.redis, self.config.crawl, of).sealed(self.config.secrets)

    async def know(self) -> None:
        """Learn how the crawl is split, which it is from its beginning on.

        Raises:
            RedisError: Redis does not answer.
        """
        if not self._partitions:
            self._partitions = await partitions_of(self.redis, self.config.crawl)

    async def overview(self, max_age_s: float = 0.0) -> Overview:
        """Return the fleet's state, at most *max_age_s* old.

        Raises:
            RedisError: Redis does not answer.
        """
        async with self._reading:
            if self._overview is None or monotonic() - self._read_at > max_age_s:
                self._overview = await read_overview(self.redis, self.config.crawl, minutes=MINUTES)
                self._read_at = monotonic()
            return self._overview


CONTEXT = web.AppKey("context", Context)


def context_of(request: web.Request) -> Context:
    """Return the context of the request's dashboard."""
    return request.app[CONTEXT]
