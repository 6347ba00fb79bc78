"""`CloseSpider`: the project's own code ends a crawl; one worker records it, all end.

A callback, an errback or a pipeline that raises `CloseSpider`, or that calls `close_spider` of the
engine, ends the crawl, not only the worker that parsed the page. The reason is stored with the
crawl's run, and is the `finish_reason` of each worker. A worker that was starting at that time ends
with them; a worker that starts later continues with what the frontier has.

What Scrapy's extensions count in each process (`closespider_…`) and what ends a single worker
(memory, a signal, an outage) does not end the crawl.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import attrs
from redis.exceptions import RedisError, ResponseError

from scrapy_seine.engine.lease.error_text import printable
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.runs import close_run, last_close
from scrapy_seine.printable import redact

logger = logging.getLogger(__name__)
#: How long a worker that ends tries to notify the others, s.
PUBLISH_TIMEOUT_S = 3.0
#: Message on the crawl's channel.
MESSAGE = b"close"


def is_counted_here(reason: str) -> bool:
    """Whether a reason is from Scrapy's extension, which counts in one process.

    >>> is_counted_here("closespider_pagecount_no_item"), is_counted_here("had enough")
    (True, False)
    """
    return reason.startswith("closespider_")


@attrs.define(eq=False, repr=False)
class CrawlEnd:
    """Ends the crawl for the fleet by the project's code, and ends this worker if another did."""

    frontier: Frontier
    crawl: str
    age_s: Callable[[], float]
    """How long ago this worker was asked for, s: a close before that does not end it."""
    stop: Callable[[str], None]
    """Closes the spider with a reason."""
    _since_ms: float | None = attrs.field(default=None, init=False)
    _is_ours: bool = attrs.field(default=False, init=False)

    async def announce(self, reason: str) -> None:
        """End the crawl for all workers; never raises, because this worker ends in any case."""
        self._is_ours = True
        text = printable(redact(str(reason)))
        logger.info(
            "the spider ends crawl %r for all workers: %s. What is left stays in the frontier, and "
            "the next start goes on with it; `scrapy seine frontier clear` drops it",
            *(self.crawl, text),
        )
        try:
            await asyncio.wait_for(self._publish(text), PUBLISH_TIMEOUT_S)
        except (RedisError, OSError, TimeoutError) as error:
            logger.warning("the other workers of crawl %r go on: %s", self.crawl, error)

    async def _publish(self, reason: str) -> None:
        await close_run(self.frontier, reason)
        client: Any = self.frontier.redis
        await client.publish(self.frontier.keys.wake, MESSAGE)

    async def stop_if_closed(self) -> None:
        """End this worker if another one closed the crawl since this one was asked for.

        Raises:
            RedisError: Redis does not answer; a refusal is logged.
        """
        if self._is_ours:
            return
        try:
            closed, now_ms = await last_close(self.frontier)
        except ResponseError as error:
            logger.warning(
                "an end of crawl %r that others ask for is missed: %s", self.crawl, error
            )
            return
        if self._since_ms is None:
            self._since_ms = now_ms - 1000 * self.age_s()
        if closed is not None and closed.at_ms >= self._since_ms:
            logger.info("another worker's spider ended crawl %r: %s", self.crawl, closed.reason)
            self.stop(closed.reason)
