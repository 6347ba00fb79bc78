"""A site that answers slowly is asked slowly, by the whole fleet, and is remembered for it."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Latency, Push
from tests.integration.politeness.crawl import Crawl
from tests.integration.politeness.site import serve

pytestmark = pytest.mark.redis
BOUNDS = {"target": 2.0, "least_ms": 10, "most_ms": 1000}


async def pause_of(redis: Redis, name: str) -> int:
    """The pause that the fleet keeps at the one domain, as a lease says it."""
    frontier = Frontier(redis, name, now_ms=10**12)
    await frontier.push([Push(domain="a", blob=b"x")])
    lease = (await frontier.lease("w", 1, ttl_ms=1000)).leases[0]
    await frontier.release([lease])
    await redis.hdel(frontier.keys.domain("a"), "due")
    return lease.delay_ms


async def test_the_pause_follows_the_latency_within_bounds(redis_client, namespace):
    frontier = Frontier(redis_client, namespace, now_ms=10**12)
    await frontier.configure(delay_ms=0, concurrency=16, half_window_ms=10**9, throttle=True)
    await frontier.note_latency({"a": Latency(good=1, good_s=0.2)}, **BOUNDS)
    assert await pause_of(redis_client, namespace) == 100
    await frontier.note_latency({"a": Latency(good=100, good_s=30.0)}, **BOUNDS)
    assert await pause_of(redis_client, namespace) in (149, 150)  # all but there
    await frontier.note_latency({"a": Latency(bad=100, bad_s=0.1)}, **BOUNDS)
    assert await pause_of(redis_client, namespace) in (149, 150)  # quick errors prove nothing
    await frontier.note_latency({"a": Latency(bad=100, bad_s=900.0)}, **BOUNDS)
    assert await pause_of(redis_client, namespace) == 1000
    await frontier.note_latency({"a": Latency(good=500, good_s=0.5)}, **BOUNDS)
    assert await pause_of(redis_client, namespace) == 10
    # An operator's own pause is never undercut.
    await frontier.set_delay("a", delay_ms=300)
    assert await pause_of(redis_client, namespace) == 300


async def test_what_was_measured_counts_only_where_the_crawl_throttles(redis_client, namespace):
    frontier = Frontier(redis_client, namespace, now_ms=10**12)
    await frontier.configure(delay_ms=0, concurrency=16, half_window_ms=10**9)
    await frontier.note_latency({"a": Latency(good=1, good_s=0.2)}, **BOUNDS)
    assert await pause_of(redis_client, namespace) == 0


@pytest.mark.alone
async def test_a_fleet_keeps_one_request_under_way_at_a_slow_site(redis_url, namespace):
    settings = {"SEINE_AUTOTHROTTLE": True, "SEINE_DOMAIN_DELAY_MS": 20}
    async with serve(latency_s=0.2) as site:
        async with Crawl(redis_url, namespace, settings) as crawl:
            await crawl.start(2)
            await crawl.seed(site.pages(60))
            await crawl.finish()
        times = site.times()
        # Unthrottled they would come 20 ms apart; the first seconds teach it.
        late = [b - a for a, b in zip(times[-12:], times[-11:], strict=False)]
        assert 0.15 <= sum(late) / len(late) <= 0.45
        assert len(times) == 60
