"""Paces requests by exit address, where each address keeps a site's limits (SEINE_LIMIT_PER).

The last middleware before the download. It waits until shortly before a request's time; the send
gate checks the time again once the connection is open, because connecting through a proxy takes an
unknown time, and more in a busy process.
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
from crawler.access.redis_errors import RedisErrors
from crawler.access.shared_state import fleet_name
from crawler.stores.store_endpoints import endpoints, redis_client
from middlewares.proxies import AT, PROXY_ID
from scrapy_seine.engine.download.send_gate import NotNow
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.model import Lease
from scrapy_seine.frontier.round_trips.lateness import late_ms
from scrapy_seine.frontier.round_trips.server_clock import ServerClock
from scrapy_seine.urls import domain

#: Name of this machine's own address, beside those of proxies.
DIRECT = "direct"
#: How long before its time a request starts to connect, s.
LEAD_S = 0.1
#: Domains whose limits are known for downloads of the project's own code, at most.
_MOST_DOMAINS = 10_000


class Egress:
    """Waits for the slot of a request's proxy at its site; reserves another if it is missed."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.stats: Any = crawler.stats
        self.redis_errors = RedisErrors(crawler, "proxies/store_errors")
        self.gate, self.clock = worker_of(crawler).gate, ServerClock()
        self.gate.addresses = self
        self.fleet = fleet_name(crawler.settings)
        self._redis: Redis | None = None
        self._notes: set[asyncio.Task[None]] = set()
        #: By domain: the last lease whose limits hold for each address.
        self._leases: dict[str, Lease] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware for a crawler."""
        middleware = cls(crawler)
        crawler.signals.connect(middleware.closed, signals.spider_closed)
        return middleware

    def process_request(self, request: Request) -> Awaitable[None] | None:
        """Wait for the request's slot; a request with its domain's limits passes."""
        entry = self.gate.entry_of(request)
        if entry is None:  # the project's own code downloads it; no send gate looks at its slot
            known = self._leases.get(domain(request.url))
            return self._wait(request, known, lead_s=0.0) if known is not None else None
        if not entry.lease.each_ms:
            return None
        self._leases[domain(request.url)] = entry.lease
        if len(self._leases) > _MOST_DOMAINS:
            del self._leases[next(iter(self._leases))]
        return self._wait(request, entry.lease)

    async def _wait(self, request: Request, lease: Lease, lead_s: float = LEAD_S) -> None:
        """Return *lead_s* before the request may be sent; without Redis, nothing is sent."""
        while (slot := _slot_of(request)) is None or slot.is_spent:
            try:
                await self._reserve_slot(request, lease, None)
            except (RedisError, OSError) as error:
                self.redis_errors.note(error, f"The requests to {lease.domain} wait")
                await asyncio.sleep(1.0)
        await asyncio.sleep(max(0.0, slot.at_s - monotonic() - lead_s))

    def due_in(self, request: Request, lease: Lease) -> float | None:
        """Seconds until the request may be sent, 0: now; None: its slot is missed or spent."""
        slot = _slot_of(request)
        if slot is None or slot.is_spent:
            return None
        past_s = monotonic() - slot.at_s
        return None if past_s * 1000 > late_ms(lease.each_ms) else max(0.0, -past_s)

    async def reserve(self, request: Request, lease: Lease) -> None:
        """Reserve another slot of the address.

        Raises:
            NotNow: Redis does not answer.
        """
        slot = _slot_of(request)
        missed_ms = None if slot is None or slot.is_spent else slot.at_ms
        self.stats.inc_value("proxies/slots_missed")
        try:
            await self._reserve_slot(request, lease, missed_ms)
        except (RedisError, OSError) as error:
            self.redis_errors.note(error, f"The requests to {lease.domain} wait")
            raise NotNow("its address may not ask now") from error

    async def _reserve_slot(self, request: Request, lease: Lease, missed_ms: int | None) -> None:
        sent_at, address = monotonic(), _address_of(request)
        now_ms, at_ms = await self._pool().pace(lease.domain, address, lease.each_ms, missed_ms)
        self.clock.learn(now_ms / 1000, sent_at, monotonic())
        request.meta[AT] = Slot(at_ms, self.clock.local(at_ms / 1000))

    def spend(self, request: Request) -> None:
        """Mark the slot as used, because the request is sent now; a resend needs another."""
        if (slot := _slot_of(request)) is not None:
            request.meta[AT] = attrs.evolve(slot, is_spent=True)

    def record_sent(self, request: Request, lease: Lease, *, ago_s: float = 0.0) -> None:
        """Count the address' next slot from now, where the request was sent later than its slot.

        So it is for a request without a slot of its address, which is sent at its domain's time
        because it was leased before the limits were kept by address.
        """
        slot = _slot_of(request)
        if slot is None:
            return
        if not lease.each_ms or (monotonic() - ago_s - slot.at_s) * 1000 > late_ms(lease.each_ms):
            note = asyncio.ensure_future(self._count_sent(lease.domain, _address_of(request)))
            self._notes.add(note)
            note.add_done_callback(self._notes.discard)

    async def _count_sent(self, domain: str, address: str) -> None:
        try:
            await self._pool().pace(domain, address, 0)
        except (RedisError, OSError) as error:
            self.redis_errors.note(error, "A pause after a request may be too short")

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
