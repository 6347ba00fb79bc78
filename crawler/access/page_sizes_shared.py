"""Exchange page sizes with the fleet from time to time: send those of this process, read all."""

from __future__ import annotations

import asyncio

from redis.exceptions import RedisError
from scrapy.crawler import Crawler

from crawler.access.page_sizes import Sizes
from crawler.access.redis_errors import RedisErrors
from crawler.access.shared_state import fleet_name
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.round_trips.timer import Timer

#: Delay of an exchange after the first page of a new kind, and after other pages, s.
SOON_S, LATER_S = 1.0, 20.0


class SharedPageSizes:
    """Runs the exchanges of one process: one at a time, and only if there are new sizes."""

    def __init__(self, crawler: Crawler, sizes: Sizes) -> None:
        self.redis_errors = RedisErrors(crawler, "access/store_errors")
        self.site_limits = worker_of(crawler).site_limits
        self.fleet = fleet_name(crawler.settings)
        self.sizes = sizes
        self._timer = Timer(self._start)
        self._task: asyncio.Task[None] | None = None

    def schedule(self, after_s: float) -> None:
        """Schedule an exchange within *after_s* seconds; without a frontier there is none."""
        if self.site_limits.exchange is None or self._task is not None:
            return
        self._timer.within(after_s)

    def _start(self) -> None:
        self._task = asyncio.ensure_future(self._round_trip())

    async def _round_trip(self) -> None:
        assert self.site_limits.exchange is not None
        try:
            await self.sizes.round_trip(self.site_limits.exchange.frontier.redis, self.fleet)
        except (RedisError, OSError) as error:
            self.redis_errors.note(error, "Page sizes are not shared")
        finally:
            self._task = None

    async def closed(self) -> None:
        """Stop without a last exchange, because little was learned since the one before."""
        self._timer.cancel()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
