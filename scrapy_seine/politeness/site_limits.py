"""Sends site limits that a worker learns to the frontier, and so to the fleet.

Middlewares exist before the scheduler, and know sites; the scheduler's exchange knows Redis. This
object connects the two. Redis is not called at once: limits are sent with the next round trip,
before the leases that it requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
from redis.exceptions import RedisError

from scrapy_seine.frontier.model import Latency, Lease
from scrapy_seine.frontier.round_trips.lateness import late_ms
from scrapy_seine.politeness.project_pace import Pace, slot_of_project

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_seine.frontier.round_trips.exchange import Exchange

logger = logging.getLogger(__name__)
#: How long a request waits in this worker for its next slot, at most, ms.
PATIENCE_MS = 1000
#: Latency records are collected for this time before they are sent, s.
LATENCY_BATCH_S = 0.25
#: For how long a number of addresses is valid, ms.
SPREAD_MS = 60_000
T = TypeVar("T")


def batched(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Split into lists of at most *size*."""
    iterator = iter(values)
    while part := list(islice(iterator, size)):
        yield part


class SiteLimits:
    """The limits of sites, sent to the frontier of one crawler."""

    def __init__(self) -> None:
        self.exchange: Exchange | None = None
        self.pace: Pace | None = None
        """How pauses follow sites' latencies; None: they do not."""
        self.confirms_pause: Callable[[Request, float], Awaitable[bool]] | None = None
        """Whether the pause (s) that an answer names is the site's own; None: it always is."""
        self._latencies: dict[str, Latency] = {}
        self._delays: dict[str, int] = {}
        self._lanes: dict[str, str] = {}
        self._sites: set[str] = set()
        self._slots: Mapping[str, Any] = {}

    def connect(
        self, exchange: Exchange, pace: Pace | None, slots: Mapping[str, Any] | None = None
    ) -> None:
        """Send limits of sites by this exchange from now on; *slots* is DOWNLOAD_SLOTS."""
        self.exchange, self.pace, self._slots = exchange, pace, slots or {}

    def block(self, domain: str, wait_s: float, *, limit_s: float = 0.0) -> None:
        """Block *domain* for all workers for *wait_s*.

        With *limit_s* a block that closely follows the last one is twice as long, up to that.
        """
        if self.exchange is not None:
            self.exchange.set_limit("block_until", domain, int(wait_s * 1000), int(limit_s * 1000))
            self.exchange.release_buffered(domain)

    def set_lane(self, domain: str, lane: str) -> None:
        """Let only workers that have *lane* lease from *domain*; '' = any worker."""
        if self.exchange is not None and self._lanes.get(domain) != lane:
            self._lanes[domain] = lane
            self.exchange.set_limit("set_lane", domain, lane)
            if lane and lane not in self.exchange.config.lanes:
                self.exchange.release_buffered(domain)

    def set_spread(self, domain: str, addresses: int) -> None:
        """Apply a domain's limits to each of *addresses* addresses; call it regularly."""
        if self.exchange is not None:
            self.exchange.set_limit("set_spread", domain, max(1, addresses), SPREAD_MS)

    def resend(self) -> None:
        """Send the limits of sites to the frontier again, because it forgot them."""
        self._sites.clear()
        lanes, self._lanes = self._lanes, {}
        for domain, lane in lanes.items():
            self.set_lane(domain, lane)
        if self.exchange is not None:
            for domain, delay_ms in self._delays.items():
                self.exchange.set_limit("set_delay", domain, "", "", "", delay_ms)

    def limits_of_new_site(self, domain: str, spider: Any) -> tuple[int | None, int | None] | None:
        """Return pause (ms) and concurrency of a domain's site file, at its first request."""
        if domain in self._sites:
            return None
        self._sites.add(domain)
        limits_of = getattr(spider, "limits_of", None)
        try:
            limits = (
                limits_of(f"http://{domain}/")
                if limits_of
                else slot_of_project(self._slots, domain)
            )
        except Exception:
            logger.exception("limits_of failed for %s: the crawl's own limits count", domain)
            limits = (None, None)
        return limits if limits != (None, None) else None

    def send_limits(self, domain: str, spider: Any) -> None:
        """Send a site file's limits to the frontier, before the domain's first requests."""
        limits = self.limits_of_new_site(domain, spider)
        if limits is not None and self.exchange is not None:
            self.exchange.set_limit("set_site", domain, *("" if n is None else n for n in limits))

    async def send_limits_of_seeds(self, domains: Iterable[str], spider: Any) -> None:
        """Send site files' limits to the frontier before seeds of these domains enter it.

        Raises:
            RedisError: it does not answer; the domains count as not sent yet.
        """
        for domain in dict.fromkeys(domains):
            limits = self.limits_of_new_site(domain, spider)
            if limits is not None and self.exchange is not None:
                delay_ms, concurrency = limits
                try:
                    await self.exchange.frontier.set_site(
                        domain, delay_ms=delay_ms, concurrency=concurrency
                    )
                except (RedisError, OSError):
                    self._sites.discard(domain)
                    raise

    async def crawl_delay(self, domain: str, delay_ms: int) -> None:
        """Keep the pause of *domain*'s robots.txt; 0: it asks for none.

        Returns when the frontier has it, because waiting requests will then ask it for slots.
        """
        if self.exchange is not None:
            if delay_ms > self._delays.get(domain, 0):
                self.exchange.release_buffered(domain)
            try:
                await self.exchange.frontier.set_delay(domain, robots_ms=delay_ms)
            except (RedisError, OSError):
                self.exchange.set_limit("set_delay", domain, "", "", "", delay_ms)
        if delay_ms:
            self._delays[domain] = delay_ms
        else:
            self._delays.pop(domain, None)

    def keep_delay(self, slot: str, delay_ms: int) -> None:
        """Keep a site's pause also for a slot in which its requests wait."""
        if self.exchange is not None and delay_ms > self._delays.get(slot, 0):
            self.exchange.release_buffered(slot)
            self.exchange.set_limit("set_delay", slot, "", "", "", delay_ms)
            self._delays[slot] = delay_ms

    def record_latency(self, domain: str, seconds: float, *, good: bool) -> None:
        """Record how long a site took to answer. Records are collected, and sent in one call."""
        if not self._latencies:
            asyncio.get_running_loop().call_later(LATENCY_BATCH_S, self._send_latencies)
        self._latencies.setdefault(domain, Latency()).add(seconds, good=good)

    def _send_latencies(self) -> None:
        latencies, self._latencies = self._latencies, {}
        if self.exchange is None or self.pace is None:
            return
        for part in batched(latencies.items(), 100):
            args = [arg for domain, latency in part for arg in (domain, *latency.args())]
            self.exchange.set_limit("note_latency", *attrs.astuple(self.pace), *args)

    def due_in(self, lease: Lease, *, spent_at: float | None = None) -> float | None:
        """Seconds until a request is due, 0 for now; None: it missed its slot.

        A domain without a pause may be requested at any time. A lease from before the pause became
        known has no slot; nor has one whose slot was used (*spent_at*, monotonic s) for another
        request to the site, or was given before Redis' clock was set forward.
        """
        robots_ms = self._delays.get(lease.domain, 0) if self._delays else 0
        delay_ms = max(lease.delay_ms, robots_ms)
        if not delay_ms or self.exchange is None:
            return 0.0
        clock = self.exchange.clock(lease)
        if spent_at is not None or not lease.delay_ms or not clock.trusted:
            return None
        if lease.slot_ms <= clock.stepped_ms:
            return None
        past_ms = self.exchange.now_ms(lease) - lease.slot_ms
        is_late = past_ms > late_ms(delay_ms, lease.slack_ms)
        return None if is_late else max(0.0, -past_ms / 1000)

    def record_sent(self, lease: Lease, ago_s: float = 0.0) -> float:
        """Record when a request was sent; if it was late, the next pause starts then.

        Returns by how much it was late, ms.
        """
        if not lease.delay_ms or self.exchange is None:
            return 0.0
        sent_ms = self.exchange.now_ms(lease) - ago_s * 1000
        past_ms = sent_ms - lease.slot_ms
        if past_ms > late_ms(lease.delay_ms, lease.slack_ms):
            self.exchange.set_limit("note_late_send", lease.domain, int(sent_ms) + 1)
            self.exchange.schedule_round_trip()
        self.exchange.slack.record_on_time()
        return past_ms

    async def reserve(
        self,
        lease: Lease,
        *,
        spent_at: float | None = None,
        patience_ms: int = PATIENCE_MS,
        is_late: bool = True,
    ) -> Lease | None:
        """Ask the frontier for another slot; None if the lease has to be handed back.

        So it is with one from before Redis' clock was set forward: by that clock its site's pause
        seems over, and the next leases tell the frontier so.
        """
        assert self.exchange is not None
        clock = self.exchange.clock(lease)
        if 0 < lease.slot_ms <= clock.stepped_ms:
            return None
        if spent_at is None and lease.delay_ms:
            if is_late:
                self.exchange.slack.record_missed()
        elif spent_at is None:
            spent_at = -1.0  # it never had a slot, and the last use is long ago
        asked_at, slack_ms = monotonic(), int(self.exchange.slack.ms)
        try:
            now_ms, slot_ms, delay_ms = await self.exchange.frontier.reschedule(
                lease,
                spent_ms=_ago_ms(spent_at),
                patience_ms=patience_ms,
                slack_ms=slack_ms,
            )
        except (RedisError, OSError):
            return None
        clock.learn(now_ms / 1000, asked_at, monotonic())
        if not slot_ms or slot_ms <= clock.stepped_ms:
            return None
        return attrs.evolve(lease, slot_ms=slot_ms, delay_ms=delay_ms, slack_ms=slack_ms)


def _ago_ms(spent_at: float | None) -> int | None:
    return None if spent_at is None else int((monotonic() - spent_at) * 1000)
