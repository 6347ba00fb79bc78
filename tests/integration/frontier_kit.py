"""Short hands for tests that drive a frontier through its verbs."""

from __future__ import annotations

import asyncio
from typing import Any

import attrs
from redis.asyncio import Redis

from crawler.stores.store_endpoints import redis_client
from scrapy_seine.config import FrontierConfig
from scrapy_seine.frontier import open as open_frontier
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Counts, Done, Lease, Leased, Push
from scrapy_seine.frontier.round_trips.exchange import Exchange

T0 = 1_800_000_000_000
TTL = 30_000


@attrs.frozen
class CrawlNamed:
    """Says which crawl is meant."""

    crawl: str
    partitions: int = 1
    secrets: tuple[str, ...] = ()


async def join_frontier(redis: Redis, crawl: str, partitions: int) -> Frontier:
    """The frontier of a crawl, as a worker opens it."""
    return await open_frontier(redis, CrawlNamed(crawl, partitions))


def exchange_of(f: Frontier, counted: list[str] | None = None, **settings: Any) -> Exchange:
    """The exchange of a worker "w"; the name of each thing that it counts is put into *counted*."""
    names = [] if counted is None else counted
    return Exchange(
        f,
        FrontierConfig.from_settings({"SEINE_CRAWL": f.keys.crawl, **settings}),
        "w",
        arrived=lambda: None,
        confirmed=lambda _: None,
        add_to_stat=lambda name, n: names.append(name),
    )


def counts(redis_url: str, crawl: str) -> Counts:
    """The counters of a crawl, asked from a test without an event loop."""

    async def ask() -> Counts:
        redis = redis_client(redis_url)
        try:
            return await Frontier(redis, crawl).counts()
        finally:
            await redis.aclose()

    return asyncio.run(ask())


def page(
    url: str = "http://a.example/",
    *,
    domain: str = "a.example",
    fingerprint: int | None = None,
    **more: Any,
) -> Push:
    """A push whose payload is its URL."""
    return Push(domain=domain, blob=url.encode(), fingerprint=fingerprint, **more)


def pages(n: int, domain: str = "a.example", start: int = 0, **more: Any) -> list[Push]:
    """As many different pushes of one domain."""
    return [
        page(f"{domain}/{i}", domain=domain, fingerprint=hash((domain, i)), **more)
        for i in range(start, start + n)
    ]


def names(leased: Leased) -> list[str]:
    """The payloads of leases."""
    return [lease.blob.decode() for lease in leased.leases]


class Driver:
    """A frontier with a clock that only the test moves."""

    def __init__(self, redis: Redis, crawl: str) -> None:
        self.f = Frontier(redis, crawl, now_ms=T0)
        self.redis = redis

    @property
    def now(self) -> int:
        return self.f.now_ms

    def later(self, ms: int) -> None:
        """Move the clock."""
        self.f.now_ms += ms

    async def take(self, n: int = 1, worker: str = "w1", ttl_ms: int = TTL) -> list[Lease]:
        """Lease up to *n* requests."""
        return list((await self.f.lease(worker, n, ttl_ms=ttl_ms)).leases)

    async def take_names(self, n: int = 1, worker: str = "w1") -> list[str]:
        """Lease, and name the payloads."""
        return names(await self.f.lease(worker, n, ttl_ms=TTL))

    async def ack(self, *leases: Lease, children: tuple[Push, ...] = ()) -> list[str]:
        """Commit; the children are the first page's."""
        done = [Done(lease=x, children=children if not i else ()) for i, x in enumerate(leases)]
        return await self.f.commit(done)

    async def where(self) -> tuple[int, int, int, int]:
        """Ready, delayed, leased, dead."""
        c = await self.f.counts()
        return c.ready, c.delayed, c.leased, c.dead
