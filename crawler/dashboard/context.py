"""The shared state of the handlers: stores, the crawl, and one reading of the fleet for all."""

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

#: Minutes from which the current speed and the troubles are computed.
MINUTES = 15
#: Most seconds for which the points of a range are cached.
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
        partitions = self._partitions or self.config.partitions
        return frontier_of(self.redis, self.config.crawl, partitions).sealed(self.config.secrets)

    async def read_partitions(self) -> None:
        """Read the number of the crawl's partitions, which never changes after its beginning.

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

    async def points(self, plot_range: Range, now_s: float) -> list[Minute]:
        """Return the points of a range's plots, read again twice a step, or every 30 s.

        Raises:
            RedisError: Redis does not answer.
        """
        read_at_s, points = self._points.get(plot_range.name, (0.0, []))
        if not points or not read_at_s <= now_s < read_at_s + min(plot_range.step_s / 2, _POINTS_S):
            points = await read_range(self.redis, self.frontier.keys, plot_range, now_s)
            self._points[plot_range.name] = (now_s, points)
        return points


CONTEXT = web.AppKey("context", Context)
OF_CRAWL = web.RequestKey("of_crawl", Context)
"""The context of another crawl, if the path names one."""


def context_of(request: web.Request) -> Context:
    """Return the context of the request's crawl."""
    return request.get(OF_CRAWL) or request.app[CONTEXT]
