"""Where each address keeps a site's limits by itself: a request is sent at its address' own time.

The last middleware to see a request. It waits for most of the time that is left; the gate asks it
once more with the connection at hand, because a connection through a proxy takes as long as it
takes, and a busy process longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from time import monotonic
from typing import Any, Self

import attrs
from redis.asyncio import Redis
from redis.exceptions import RedisError
from scrapy import Request, signals
from scrapy.crawler import Crawler

from crawler.access.proxies.pool import ProxyPool, Slot
from crawler.access.shared_state import fleet_name
from crawler.stores.postgres_endpoint import endpoints, redis_client
from middlewares.proxies import AT, PROXY_ID
from scrapy_seine.engine.download.send_gate import NotNow
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.model import Lease
from scrapy_seine.frontier.round_trips.lateness import late_ms
from scrapy_seine.frontier.round_trips.server_clock import ServerClock

#: Name of our own address, among those of proxies.
DIRECT = "direct"
#: How long before its time a request goes to its connection, s.
LEAD_S = 0.1


class Egress:
    """Waits for the time that a request's proxy has for its site; gives a missed one anew."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.stats: Any = crawler.stats
        self.gate, self.clock = worker_of(crawler).gate, ServerClock()
        self.gate.addresses = self
        self.fleet = fleet_name(crawler.settings)
        self._redis: Redis | None = None
        self._notes: set[asyncio.Task[None]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Take what the crawler has."""
        middleware = cls(crawler)
        crawler.signals.connect(middleware.closed, signals.spider_closed)
        return middleware

    def process_request(self, request: Request) -> Awaitable[None] | None:
        """Let a request pass whose limits are its domain's."""
        entry = self.gate.entry_of(request)
        if entry is None or not entry.lease.each_ms:
            return None
        return self._wait(request, entry.lease)

    async def _wait(self, request: Request, lease: Lease) -> None:
        """Return shortly before the request may be sent; while Redis is away, nothing is sent."""
        while (slot := _slot_of(request)) is None or slot.spent:
            try:
                await self._another(request, lease, None)
            except (RedisError, OSError):
                self.stats.inc_value("proxies/store_errors")
                await asyncio.sleep(1.0)
        await asyncio.sleep(max(0.0, slot.at_s - monotonic() - LEAD_S))

    def due_in(self, request: Request, lease: Lease) -> float | None:
        """Seconds until the request's address may ask, 0 for now; None: it needs another time."""
        slot = _slot_of(request)
        if slot is None or slot.spent:
            return None
        past_s = monotonic() - slot.at_s
        return None if past_s * 1000 > late_ms(lease.each_ms) else max(0.0, -past_s)

    async def reserve(self, request: Request, lease: Lease) -> None:
        """Get another time of the address.

        Raises:
            NotNow: Redis does not answer.
        """
        slot = _slot_of(request)
        missed_ms = None if slot is None or slot.spent else slot.at_ms
        self.stats.inc_value("proxies/slots_missed")
        try:
            await self._another(request, lease, missed_ms)
        except (RedisError, OSError) as error:
            self.stats.inc_value("proxies/store_errors")
            raise NotNow("its address may not ask now") from error

    async def _another(self, request: Request, lease: Lease, missed_ms: int | None) -> None:
        asked, address = monotonic(), _address_of(request)
        now_ms, at_ms = await self._pool().pace(lease.domain, address, lease.each_ms, missed_ms)
        self.clock.learn(now_ms / 1000, asked, monotonic())
        request.meta[AT] = Slot(at_ms, self.clock.local(at_ms / 1000))

    def spend(self, request: Request) -> None:
        """The request leaves now: what is sent again needs another time."""
        if (slot := _slot_of(request)) is not None:
            request.meta[AT] = attrs.evolve(slot, spent=True)

    def left(self, request: Request, lease: Lease) -> None:
        """Have the address' next time count from now, where that is later than was reserved.

        A request from before the fleet knew of the addresses leaves at its domain's time, which the
        address does not know.
        """
        slot = _slot_of(request)
        if slot is None:
            return
        if not lease.each_ms or (monotonic() - slot.at_s) * 1000 > late_ms(lease.each_ms):
            note = asyncio.ensure_future(self._note(lease.domain, _address_of(request)))
            self._notes.add(note)
            note.add_done_callback(self._notes.discard)

    async def _note(self, domain: str, address: str) -> None:
        try:
            await self._pool().pace(domain, address, 0)
        except (RedisError, OSError):
            self.stats.inc_value("proxies/store_errors")

    def _pool(self) -> ProxyPool:
        if self._redis is None:
            url = endpoints(self.crawler.settings, need=("redis",)).redis_url
            self._redis = redis_client(url)
        return ProxyPool(self._redis, self.fleet)

    async def closed(self) -> None:
        """Disconnect."""
        await asyncio.gather(*self._notes)
        if self._redis is not None:
            await self._redis.aclose()


def _address_of(request: Request) -> str:
    return str(request.meta.get(PROXY_ID) or DIRECT)


def _slot_of(request: Request) -> Slot | None:
    slot: Slot | None = request.meta.get(AT)
    return slot
