"""Budgets of a domain, of a job and of the whole frontier: kept by the fleet, and counted."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Budgets, Done, Push
from tests.integration.frontier_kit import exchange_of
from tests.integration.politeness.crawl import Crawl
from tests.integration.politeness.site import serve

pytestmark = pytest.mark.redis


async def frontier_of(redis: Redis, name: str, **budgets: int) -> Frontier:
    made = Frontier(redis, name)
    await made.configure(
        delay_ms=0, concurrency=16, half_window_ms=10**9, budgets=Budgets(**budgets)
    )
    return made


def push(n: int, domain: str = "a", **more: object) -> Push:
    return Push(domain=domain, blob=b"x", fingerprint=n, **more)  # type: ignore[arg-type]


async def test_a_domain_takes_no_more_than_its_budget(redis_client, namespace):
    frontier = await frontier_of(redis_client, namespace, domain_pages=3)
    assert await frontier.push([push(n) for n in range(5)]) == ["OK"] * 3 + ["OVER"] * 2
    assert await frontier.push([push(9)]) == ["OVER"]
    assert await frontier.push([push(10, "b")]) == ["OK"]
    # Done or not, they were spent; children of a page are refused as well.
    lease = (await frontier.lease("w", 1, ttl_ms=1000)).leases[0]
    await frontier.commit([Done(lease=lease, children=[push(20), push(21)])])
    counts = await frontier.counts()
    assert counts.undone == 3
    assert counts.totals["over_domain_pages"] == 5


async def test_a_seed_enters_and_counts(redis_client, namespace):
    frontier = await frontier_of(redis_client, namespace, domain_pages=1)
    assert await frontier.push([push(1, force=True), push(2, force=True), push(3)]) == [
        "OK",
        "OK",
        "OVER",
    ]


async def test_what_was_refused_may_come_again(redis_client, namespace):
    frontier = await frontier_of(redis_client, namespace, most_pending=2)
    assert await frontier.push([push(1), push(2), push(3)]) == ["OK", "OK", "OVER"]
    lease = (await frontier.lease("w", 1, ttl_ms=1000)).leases[0]
    await frontier.commit([Done(lease=lease)])
    assert await frontier.push([push(3), push(4)]) == ["OK", "OVER"]
    assert (await frontier.counts()).totals["over_pending"] == 2


async def test_a_refused_link_of_a_page_is_not_taken_for_known(redis_client, namespace):
    """The worker would drop the link on any later page, although the frontier has it not."""
    frontier = await frontier_of(redis_client, namespace, most_pending=2)
    known: list[int] = []
    exchange = exchange_of(frontier, SEINE_MOST_PENDING=2)
    exchange._confirmed = known.append
    await frontier.push([push(1), push(2)])
    await exchange.round_trip()
    lease = exchange.take()
    assert lease is not None
    exchange.endings.done.append(Done(lease=lease, children=[push(3), push(4)]))
    await exchange.round_trip()
    exchange._timer.cancel()
    assert (await frontier.counts()).totals["over_pending"] == 2
    assert known == []


async def test_eight_clients_together_keep_one_budget(redis_client, namespace):
    frontier = await frontier_of(redis_client, namespace, domain_pages=50)
    replies = await asyncio.gather(
        *(frontier.push([push(100 * client + n) for n in range(20)]) for client in range(8))
    )
    assert sum(reply.count("OK") for reply in replies) == 50


async def test_a_crawl_obeys_its_domains_budget(redis_url, namespace):
    async with serve() as site:
        async with Crawl(redis_url, namespace, {"SEINE_DOMAIN_PAGES": 5}) as crawl:
            await crawl.start()
            await crawl.seed([f"{site.url}links/40"])
            await crawl.finish()
        assert len(site.times()) == 4  # and the seed
