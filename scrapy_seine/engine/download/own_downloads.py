"""Downloads of a project's own code: files and images of a pipeline, `engine.download_async`.

Scrapy sends them through the slots of their sites, as it does pages. The frontier knows nothing of
them, so that they have no lease; each gets its send time from there all the same, because a site's
pause holds for whatever the fleet asks of it (I5). At one site a worker has as many of them under
way as CONCURRENT_REQUESTS_PER_DOMAIN says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

from redis.exceptions import RedisError
from scrapy import Request
from scrapy.http import Response

from scrapy_seine.engine.download.send_gate import NotNow, SendGate
from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.frontier.model import Lease
from scrapy_seine.frontier.round_trips.exchange import Exchange
from scrapy_seine.politeness.download_slots import waits_at
from scrapy_seine.urls import slot

#: No send time further away than this is taken, ms, because a worker that dies keeps it for nobody.
MOST_AHEAD_MS = 5000
#: Pause after which a site without a near send time, or Redis without an answer, is asked again, s.
AGAIN_S = 1.0


class OwnDownloads:
    """Sends what has no lease at the times that the frontier gives."""

    def __init__(self, gate: SendGate, at_once: int, wake: Callable[[], None]) -> None:
        self._gate = gate
        self._at_once = at_once
        self._wake = wake
        """Makes the engine look for requests, because those that wait take no place of theirs."""
        self.waiting = 0
        """Requests whose time has not come, perhaps for an hour, because their site is blocked."""
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def note(self, request: Request) -> None:
        """Remember a request that has no lease, its page's neither."""
        if self._gate.entry_of(request) is None:
            self._gate.own.add(request)

    def is_one(self, request: Request) -> bool:
        """Whether a request has no lease and goes to a site."""
        return (
            request in self._gate.own
            and self._gate.site_limits.exchange is not None
            and request.url.startswith("http")
        )

    async def download(
        self, request: Request, spider: Any, send: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """Send a request in a slot of its site; one that misses its slot gets another."""
        exchange = self._gate.site_limits.exchange
        assert exchange is not None
        site = waits_at(request, slot(request.url))
        turn = self._turns.setdefault(site, asyncio.Semaphore(self._at_once))
        with self._waiting_here():
            await turn.acquire()
        try:
            while True:
                with self._waiting_here():
                    lease = await self._next_time(exchange, site, spider)
                with self._gate.without_lease(request, InFlight(request, lease)):
                    try:
                        return await send(request)
                    except NotNow:
                        continue
        finally:
            turn.release()

    @contextmanager
    def _waiting_here(self) -> Iterator[None]:
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1

    async def _next_time(self, exchange: Exchange, site: str, spider: Any) -> Lease:
        """Wait until a site may be asked, and return the lease with that time."""
        limits = self._gate.site_limits
        none = exchange.frontier.beside(site)
        while True:
            try:
                await limits.send_limits_of_seeds([site], spider)
            except (RedisError, OSError):
                await asyncio.sleep(AGAIN_S)
                continue
            lease = await limits.reserve(none, patience_ms=MOST_AHEAD_MS)
            if lease is not None:
                break
            self._wake()
            await asyncio.sleep(AGAIN_S)
        if due_s := limits.due_in(lease):
            await asyncio.sleep(due_s)
        return lease
