"""CLOSESPIDER_ITEMCOUNT, _PAGECOUNT and _ERRORCOUNT for a fleet: the sums over all workers.

Each worker sends its own counts when they change, and every two seconds, and receives the fleet's.
The counts begin with the first worker and end with the last one; a dead worker's counts stay until
it is removed. As in Scrapy, pages in flight when the limit is reached are finished, and their items
count.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from redis.exceptions import RedisError
from scrapy import signals
from scrapy.extensions import closespider

from scrapy_seine.engine.ending.shutdown import cancel
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.lua_scripts import call, load_script

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)
KINDS = ("itemcount", "pagecount", "errorcount")
#: Longest pause between two exchanges of counts, s.
LOOK_S = 2.0
#: A worker that sends nothing for so long is removed, ms.
LIFE_MS = 30_000


class CloseSpider(closespider.CloseSpider):
    """Closes the spider on Scrapy's conditions; its three counts are the fleet's."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it if one of the conditions is set.

        Raises:
            NotConfigured: none is set.
        """
        extension = cls(crawler)
        if any(extension.close_on[kind] for kind in KINDS):
            crawler.signals.connect(extension.begin, signals.spider_opened)
            crawler.signals.connect(extension.end, signals.spider_closed)
        return extension

    def item_scraped(self, item: Any, spider: Any) -> None:
        """Count an item."""
        super().item_scraped(item, spider)
        self._changed.set()

    def page_count(self, response: Response, request: Any, spider: Any) -> None:
        """Count a page."""
        super().page_count(response, request, spider)
        self._changed.set()

    def error_count(self, failure: Failure, response: Response, spider: Any) -> None:
        """Count a callback that failed."""
        super().error_count(failure, response, spider)
        self._changed.set()

    def begin(self) -> None:
        """Start to exchange counts."""
        self._task = asyncio.ensure_future(self._run())

    async def end(self) -> None:
        """Leave the fleet's count; if Redis does not answer, that happens in half a minute."""
        if self._task is not None:
            await cancel([self._task])
            await self._exchange_counts(0)

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            counts = await self._exchange_counts(LIFE_MS)
            for kind, count in zip(KINDS, counts, strict=False):
                if 0 < self.close_on[kind] <= count:
                    logger.info("the fleet reached CLOSESPIDER_%s: %d", kind.upper(), count)
                    worker_of(self.crawler).stop(f"closespider_{kind}")
                    return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), LOOK_S)

    async def _exchange_counts(self, life_ms: int) -> list[int]:
        """Send this worker's counts and return the fleet's; [] if Redis does not answer."""
        worker = worker_of(self.crawler)
        if worker.member is None:
            return []
        key = Keys(worker.member.frontier.keys.crawl).limits
        lua = load_script("scrapy_seine.engine.ending", "fleet_limits")
        args = [worker.name, life_ms, *(self.counter[kind] for kind in KINDS)]
        try:
            return [int(n) for n in await call(worker.member.redis, lua, [key], args)]
        except (RedisError, OSError) as error:
            meanwhile = "CLOSESPIDER_… does not count what other workers did"
            if not worker.member.exchange.refusals.log_refusal(error, meanwhile):
                logger.debug("the fleet's counts are not known: %s", error)
            return []
