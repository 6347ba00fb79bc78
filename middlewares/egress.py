"""Where each address keeps a site's limits by itself: a request is sent at its address' own time.

The last to see a request; the gate, which keeps the sites' own pauses, lets such requests pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from time import monotonic
from typing import Any, Self

from redis.asyncio import Redis
from redis.exceptions import RedisError
from scrapy import Request, signals
from scrapy.crawler import Crawler

from crawler.access.pool import ProxyPool
from crawler.stores.connect import endpoints, redis_client
from middlewares.proxies import AT, PROXY_ID
from scrapy_seine.engine.inflight import inflight_of
from scrapy_seine.frontier.model import Lease
from scrapy_seine.frontier.server_clock import ServerClock
from scrapy_seine.politeness.delay import late_ms

#: Name of our own address, among those of proxies.
DIRECT = "direct"


class Egress:
    """Waits for the time that a request's proxy has for its site; gives a missed one anew."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.stats: Any = crawler.stats
        self.inflight, self.clock = inflight_of(crawler), ServerClock()
        self.fleet = str(crawler.settings.get("SEINE_FLEET", "access"))
        self._redis: Redis | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Take what the crawler has."""
        middleware = cls(crawler)
        crawler.signals.connect(middleware.closed, signals.spider_closed)
        return middleware

    def process_request(self, request: Request) -> Awaitable[None] | None:
        """Let a request pass whose limits are its domain's."""
        entry = self.inflight.entry_of(request)
        if entry is None or not entry.lease.each_ms:
            return None
        return self._wait(request, entry.lease)

    async def _wait(self, request: Request, lease: Lease) -> None:
        """Return when the request may be sent."""
        known = request.meta.pop(AT, None)
        at_ms, at_s = known or await self._another(request, lease, None)
        while True:
            await asyncio.sleep(max(0.0, at_s - monotonic()))
            if (monotonic() - at_s) * 1000 <= late_ms(lease.each_ms):
                return
            self.stats.inc_value("proxies/slots_missed")
            at_ms, at_s = await self._another(request, lease, at_ms)

    async def _another(
        self, request: Request, lease: Lease, missed_ms: int | None
    ) -> tuple[int, float]:
        """Ask for a time, on both clocks; while Redis is away, nothing is sent."""
        address = str(request.meta.get(PROXY_ID) or DIRECT)
        while True:
            asked = monotonic()
            try:
                now_ms, at_ms = await self._pool().pace(
                    lease.domain, address, lease.each_ms, missed_ms
                )
            except (RedisError, OSError):
                self.stats.inc_value("proxies/store_errors")
                await asyncio.sleep(1.0)
                continue
            self.clock.learn(now_ms / 1000, asked, monotonic())
            return at_ms, self.clock.local(at_ms / 1000)

    def _pool(self) -> ProxyPool:
        if self._redis is None:
            url = endpoints(self.crawler.settings, need=("redis",)).redis_url
            self._redis = redis_client(url)
        return ProxyPool(self._redis, self.fleet)

    async def closed(self) -> None:
        """Disconnect."""
        if self._redis is not None:
            await self._redis.aclose()
