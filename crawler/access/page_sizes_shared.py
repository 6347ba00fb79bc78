"""What a process learned of page sizes goes to the fleet at times, and the fleet's comes back."""

from __future__ import annotations

import asyncio

from redis.exceptions import RedisError
from scrapy.crawler import Crawler

from crawler.access.page_sizes import Sizes
from scrapy_seine.frontier.timer import Alarm
from scrapy_seine.politeness.site_limits import manners_of

#: Seconds until an exchange where a kind of page was met for the first time, and else.
SOON_S, LATER_S = 1.0, 20.0


class Sharing:
    """Makes the exchanges of one process: one at a time, and none while there is no news."""

    def __init__(self, crawler: Crawler, sizes: Sizes) -> None:
        self.stats = crawler.stats
        self.manners = manners_of(crawler)
        self.fleet = str(crawler.settings.get("SEINE_FLEET", "access"))
        self.sizes = sizes
        self._alarm = Alarm(self._start)
        self._task: asyncio.Task[None] | None = None

    def soon(self, after_s: float) -> None:
        """Let an exchange happen within *after_s* seconds; nothing happens without a frontier."""
        if self.manners.pump is None or self._task is not None:
            return
        self._alarm.within(after_s)

    def _start(self) -> None:
        self._task = asyncio.ensure_future(self._exchange())

    async def _exchange(self) -> None:
        assert self.manners.pump is not None
        try:
            await self.sizes.exchange(self.manners.pump.frontier.redis, self.fleet)
        except (RedisError, OSError):
            if self.stats is not None:
                self.stats.inc_value("access/store_errors")
        finally:
            self._task = None

    async def closed(self) -> None:
        """Stop; what was learned since the last exchange is little."""
        self._alarm.cancel()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
