"""Extension: counts how requests end, by domain, and writes them to Redis every few seconds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Self

from redis.asyncio import Redis
from redis.exceptions import RedisError
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from scrapy_seine.config import FrontierConfig, number
from scrapy_seine.endpoints import endpoints, redis_client
from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.reads.outcome_history import record

logger = logging.getLogger(__name__)


class OutcomeReporter:
    """Counts events of Scrapy and of the in-flight table, and sends the counts to Redis."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.stats: Any = crawler.stats
        self.tally = worker_of(crawler).outcomes
        config = FrontierConfig.from_settings(crawler.settings, crawler.spidercls.name)
        self.keys = Keys(config.crawl, config.partitions)
        self.interval_s = number(crawler.settings, "SEINE_TALLY_SECONDS", 10, low=0.1)
        self._items_reported = 0
        self._responses_reported = (0, 0.0)
        """Reported responses, and their total time, s."""
        self._task: asyncio.Task[None] | None = None
        self._redis: Redis | None = None
        self._reporting = asyncio.Lock()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect the signals of one crawler."""
        self = cls(crawler)
        worker_of(crawler).inflight.watch(self._on_lease_end)
        connect: Callable[..., Any] = crawler.signals.connect
        connect(self._response, signals.response_received)
        connect(self._on_opened, signals.spider_opened)
        connect(self._on_closed, signals.spider_closed)
        return self

    def _on_lease_end(self, entry: InFlight) -> None:
        self.tally.count_end(entry.lease.domain, entry.outcome)

    def _response(self, response: Response, request: Request) -> None:
        latency = request.meta.get("download_latency")
        if latency is not None:
            self.tally.seconds.observe(latency)

    def _on_opened(self) -> None:
        self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self.interval_s)
            await self.report()

    async def report(self) -> None:
        """Send the counts; counts that cannot be sent wait for the next time."""
        async with self._reporting:
            await self._report()

    async def _report(self) -> None:
        counts = self.tally.take()
        items = self.stats.get_value("item_scraped_count", 0)
        if not counts and items == self._items_reported:
            return
        if self._redis is None:
            self._redis = redis_client(self._redis_url())
        answers, took_s = sum(self.tally.seconds.counts), self.tally.seconds.total
        try:
            # By Redis' clock, as readers look for them: this machine's may be wrong (I6).
            now_s, _ = await self._redis.time()
            refused = await record(
                self._redis,
                self.keys,
                counts,
                items - self._items_reported,
                now_s,
                answers=answers - self._responses_reported[0],
                took_s=took_s - self._responses_reported[1],
            )
        except (RedisError, OSError) as error:
            if not self._log_refusal(error, "The counts of outcomes wait"):
                logger.debug("outcome counts were not sent: %s", error)
            self.tally.put_back(counts)
            return
        for refusal in refused:
            self._log_refusal(refusal, "The counts of outcomes in that key are lost")
        self._items_reported, self._responses_reported = items, (answers, took_s)

    def _log_refusal(self, error: Exception, meanwhile: str) -> bool:
        member = worker_of(self.crawler).member
        return member is not None and member.exchange.refusals.log_refusal(error, meanwhile)

    def _redis_url(self) -> str:
        return endpoints(self.crawler.settings, need=("redis",)).redis_url

    async def _on_closed(self) -> None:
        if self._task is not None:
            async with self._reporting:  # do not cancel a running report
                self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.report()
        if self._redis is not None:
            await self._redis.aclose()
