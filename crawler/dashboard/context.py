"""What the handlers share: stores, the crawl, and one reading of the fleet for all visitors."""

from __future__ import annotations

import asyncio
from time import monotonic

import attrs
from aiohttp import web
from redis.asyncio import Redis

from crawler.dashboard.config import DashboardConfig
from crawler.dashboard.fleet_samples import History
from crawler.dashboard.overview_plots import Range, read_range
from crawler.dashboard.security import Guard
from crawler.reads.database import Database
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.opening import frontier_of, partitions_of
from scrapy_seine.reads.outcome_history import Minute
from scrapy_seine.reads.overview import Overview, read_overview

#: Minutes that the present speed and what is wrong are read from.
MINUTES = 15
#: Seconds that the points of a long range are kept.
_POINTS_S = 30.0


@attrs.define(eq=False)
class Context:
    """One dashboard's stores."""

    config: DashboardConfig
    redis: Redis
    database: Database
    guard: Guard
    history: History = attrs.Factory(History)
    _overview: Overview | None = None
    _read_at: float = 0.0
    _partitions: int = 0
    _points: dict[str, tuple[float, list[Minute]]] = attrs.Factory(dict)
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
                self.history.note(self._overview)
            return self._overview

    async def points(self, chosen: Range, now_s: float) -> list[Minute]:
        """Return what the plots of a range show, read anew twice a step, or every 30 s.

        Raises:
            RedisError: Redis does not answer.
        """
        at, points = self._points.get(chosen.name, (0.0, []))
        if not points or not at <= now_s < at + min(chosen.step_s / 2, _POINTS_S):
            points = await read_range(self.redis, self.frontier.keys, chosen, now_s)
            self._points[chosen.name] = (now_s, points)
        return points


CONTEXT = web.AppKey("context", Context)
OF_CRAWL = web.RequestKey("of_crawl", Context)
"""The context of another crawl, where the path names one."""


def context_of(request: web.Request) -> Context:
    """Return the context of the crawl that a request is about."""
    return request.get(OF_CRAWL) or request.app[CONTEXT]
