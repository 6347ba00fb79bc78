"""A worker's heartbeat, which renews its leases, and its subscription to the crawl's events."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
import uuid
from collections.abc import Awaitable, Callable, Collection
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import attrs
import orjson
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from scrapy_seine.engine.ending.close_spider import MESSAGE
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.frontier.clearing import CLEARED
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Lease
from scrapy_seine.frontier.round_trips.exchange import Exchange
from scrapy_seine.frontier.signed_with import SIGNS
from scrapy_seine.lenient_parsing import word
from scrapy_seine.printable import redact

logger = logging.getLogger(__name__)
#: URLs in a heartbeat, of the requests that the worker is working on.
_NAMED = 5
_LONGEST_URL = 300
#: A message reaches all idle workers at once, so they spread their lease requests over this time,
#: s.
SPREAD_S = 0.02
_LOADED = time.monotonic()


def worker_name() -> str:
    """Make a unique name for this worker that shows where it runs."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"


def process_age_s() -> float:
    """Seconds since this process began; if unknown, since this module was loaded."""
    try:
        ticks = float(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return time.monotonic() - _LOADED


def memory_bytes() -> int:
    """Resident memory of this process; 0 if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


@cache
def own_version() -> str:
    """Installed version, or `dev` if the package is not installed."""
    try:
        return version("scrapy-seine")
    except PackageNotFoundError:
        return "dev"


@attrs.define(eq=False, repr=False)
class Heartbeat:
    """Keeps one worker registered in the fleet, and its leases alive, while its loops run."""

    worker: str
    redis: Redis
    frontier: Frontier
    exchange: Exchange
    inflight: InFlightTable
    stats: Any
    lease_s: float
    forget: Callable[[], None]
    """Called when cached seen URLs may be outdated."""
    started: float = attrs.Factory(time.time)
    last_info: bytes = b"{}"
    """The description in the last heartbeat."""
    drain: Callable[[], None] = lambda: None
    """Called when an operator asks this worker to drain."""
    _last_beat: tuple[float, float] = attrs.Factory(lambda: (time.monotonic(), time.process_time()))
    """Time of the last heartbeat, and the CPU seconds until then."""
    _answered_at: float = attrs.Factory(time.monotonic)
    """Time of the last heartbeat that Redis answered."""
    mail: Callable[[Collection[str]], None] = lambda cancelled: None
    """Called with the cancelled jobs when another worker may have handed a lease over."""
    cleared: Callable[[str], None] = lambda domain: None
    """Called when somebody dropped all requests of a domain, or of the crawl ('')."""
    missed: Callable[[], None] = lambda: None
    """Called where this worker may have missed such a message, or others took it for dead."""
    _dropped: int | None = None
    """How many requests of the crawl were dropped when it subscribed last; None: it did not."""
    waits: Callable[[], str] = lambda: ""
    """Describes a page that has not ended for long, and what it waits for; '' if there is none."""
    look_for_end: Callable[[], Awaitable[None]] | None = None
    """Ends this worker if the crawl's own code ended the crawl."""
    starting: int = 0
    """The run whose start requests this worker still makes; 0: none."""
    cancelled: frozenset[str] = frozenset()
    """Jobs whose requests are dropped when they are leased."""

    async def keep_beating(self) -> None:
        """Beat three times in the life of a lease, until cancelled."""
        while True:
            await asyncio.sleep(self.lease_s / 3)
            await self.beat_if_possible()
            self.mail(self.cancelled)

    async def beat(self) -> None:
        """Renew every lease in one call; leases that were lost are dropped.

        All calls of a beat are made at once: if Redis takes seconds to answer, sequential calls
        would take longer than the life of a lease.

        Raises:
            RedisError: Redis does not answer.
        """
        leases: list[Lease] = [*self.inflight.leases, *self.exchange.buffered]
        ttl_ms = int(self.lease_s * 1000)
        self.last_info = self._info()
        reply, _ = await asyncio.gather(
            self.frontier.beat(self.worker, leases, ttl_ms=ttl_ms, info=self.last_info),
            self.frontier.tend(),
        )
        self.stats.inc_value("seine/redis_round_trips")
        if reply.lost:
            self.stats.inc_value("seine/leases_lost", len(reply.lost))
            self.exchange.drop(reply.lost)
        if time.monotonic() - self._answered_at > self.lease_s:
            self.missed()  # others took this worker for dead, and ended what it keeps
        self._answered_at = time.monotonic()
        self.exchange.learn_fleet(reply.workers, reply.undone)
        if reply.cancelled is None:
            await self._read_cancelled()
        else:
            self.cancelled = reply.cancelled
        if reply.to_sweep:
            await self.frontier.sweep()

    async def beat_if_possible(self) -> None:
        """Send an extra heartbeat; if Redis does not answer, the next one follows in time."""
        try:
            await self.beat()
        except (RedisError, OSError) as error:
            if not self.exchange.refusals.log_refusal(error, "This worker's leases may expire"):
                logger.debug("the heartbeat was not sent: %s", error)

    async def _read_cancelled(self) -> None:
        key, names = self.frontier.keys.cancelled, set[bytes]()
        try:
            names = await self.redis.smembers(key)  # type: ignore[assignment]
        except ResponseError as error:
            self.exchange.refusals.log_refusal(
                ResponseError(f"{key}: {error}"), "No job is cancelled"
            )
        self.cancelled = frozenset(map(word, names))

    def _cpu(self) -> float:
        """Share of one core used since the last beat."""
        (last_beat_at, cpu_s), self._last_beat = (
            self._last_beat,
            (time.monotonic(), time.process_time()),
        )
        return round(
            (self._last_beat[1] - cpu_s) / max(self._last_beat[0] - last_beat_at, 0.001), 3
        )

    def _info(self) -> bytes:
        return orjson.dumps(
            {
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "project": self.exchange.config.project,
                "started": round(self.started, 1),
                "pages": self.stats.get_value("seine/dequeued", 0) - len(self.inflight),
                "items": self.stats.get_value("item_scraped_count", 0),
                "active": len(self.inflight),
                "lanes": self.exchange.config.lanes,
                "buffered": len(self.exchange.buffered),
                "starting": self.starting,
                "waits": self.waits(),
                "version": own_version(),
                "unpacks": True,
                SIGNS: self.frontier.seal.name,
                "cpu": self._cpu(),
                "memory": memory_bytes(),
                "urls": [redact(url)[:_LONGEST_URL] for url in self.inflight.urls(_NAMED)],
            }
        )

    async def listen(self) -> None:
        """Receive wake-ups and commands on the crawl's Redis channels, until cancelled."""
        while True:
            try:
                async with self.redis.pubsub(ignore_subscribe_messages=True) as channel:
                    await channel.subscribe(*self.frontier.channels)
                    # Messages published before this subscription were missed.
                    self.forget()
                    self.exchange.schedule_round_trip(self._share_s())
                    await self._look_for_end()
                    await self._look_if_cleared()
                    async for message in channel.listen():
                        if message["data"] == b"cancel":
                            await self._read_cancelled()
                            self.mail(self.cancelled)
                        elif message["data"] == MESSAGE:
                            await self._look_for_end()
                            continue
                        self._received(message["data"])
            except (RedisError, OSError) as error:
                self.exchange.refusals.log_refusal(error, "No command reaches this worker at once")
                await asyncio.sleep(1)

    async def _look_for_end(self) -> None:
        if self.look_for_end is not None:
            await self.look_for_end()

    async def _look_if_cleared(self) -> None:
        former = self._dropped
        self._dropped = (await self.frontier.counts()).totals.get("cleared", 0)
        if former not in {None, self._dropped}:
            self.missed()

    def _received(self, message: bytes) -> None:
        if message == b"pause":
            self.exchange.release_buffered()
        elif message == b"forget":
            self.forget()
        elif message.startswith((b"local ", b"drain ")):
            command, _, worker = word(message).partition(" ")
            if worker == self.worker:
                self.mail(self.cancelled) if command == "local" else self._leave()
        elif message.startswith(CLEARED.encode()):
            self.cleared(word(message).partition(" ")[2])
        elif message.startswith(b"block "):
            self.exchange.release_buffered(word(message[6:]))
        elif message.startswith(b"ready "):
            if self.worker in word(message).split(" "):
                self.exchange.schedule_round_trip()
        elif len(self.exchange.buffered) <= self.exchange.config.read_ahead // 2:
            self.exchange.schedule_round_trip(self._share_s())

    def _share_s(self) -> float:
        return SPREAD_S * (hash((self.worker, time.monotonic())) % 1000) / 1000

    def _leave(self) -> None:
        logger.info("worker drains, because an operator asked for it")
        self.drain()

    async def sign_off(self) -> None:
        """Unregister; a worker that cannot reach Redis is removed after a time."""
        try:
            await self.frontier.sign_off(self.worker)
        except (RedisError, OSError) as error:
            logger.warning("the worker could not sign off: %s", error)
