"""CLOSESPIDER_ITEMCOUNT, _PAGECOUNT and _ERRORCOUNT for a fleet: what all its workers counted.

Each worker sends its own counts when they change, and every two seconds, and gets the fleet's back.
The counts begin with the first worker and end with the last one; a worker that dies counts until
its death. As in Scrapy, pages in flight when the limit is reached are finished, and their items
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
#: Seconds between two looks of a worker that counts nothing.
LOOK_S = 2.0
#: Milliseconds after which a worker that says nothing counts as gone.
LIFE_MS = 30_000


class CloseSpider(closespider.CloseSpider):
    """Closes the spider on Scrapy's conditions; its three counts are the fleet's."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it where one of the conditions is set.

        Raises:
            NotConfigured: none is.
        """
        made = cls(crawler)
        if any(made.close_on[kind] for kind in KINDS):
            crawler.signals.connect(made.begin, signals.spider_opened)
            crawler.signals.connect(made.end, signals.spider_closed)
        return made

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
        """Count with the others from now on."""
        self._task = asyncio.ensure_future(self._keep_telling())

    async def end(self) -> None:
        """Leave; a worker that cannot say so is gone in half a minute."""
        if self._task is not None:
            await cancel([self._task])
            await self._tell(0)

    async def _keep_telling(self) -> None:
        while True:
            self._changed.clear()
            counts = await self._tell(LIFE_MS)
            for kind, count in zip(KINDS, counts, strict=False):
                if 0 < self.close_on[kind] <= count:
                    logger.info("the fleet reached CLOSESPIDER_%s: %d", kind.upper(), count)
                    worker_of(self.crawler).stop(f"closespider_{kind}")
                    return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), LOOK_S)

    async def _tell(self, life_ms: int) -> list[int]:
        """Tell the counts and return the fleet's; none where Redis does not answer."""
        worker = worker_of(self.crawler)
        if worker.member is None:
            return []
        key = Keys(worker.member.frontier.keys.crawl).limits
        lua = load_script("scrapy_seine.engine.ending", "fleet_limits")
        args = [worker.name, life_ms, *(self.counter[kind] for kind in KINDS)]
        try:
            return [int(n) for n in await call(worker.member.redis, lua, [key], args)]
        except (RedisError, OSError) as error:
            logger.debug("the fleet's counts are not known: %s", error)
            return []
