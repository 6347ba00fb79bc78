"""A site that asks for a pause gets it from every worker (I5)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web
from redis.asyncio import Redis

from crawler.frontier.frontier import Frontier
from crawler.frontier.model import Push
from tests.integration.politeness.crawl import Crawl, stat
from tests.integration.politeness.site import Answer, Site, page, serve

pytestmark = pytest.mark.redis


def too_many(value: str, *, status: int = 429, times: int = 1) -> Answer:
    """An answer that refuses the first requests, and says when to return."""
    left = times

    def answer(request: web.BaseRequest) -> web.StreamResponse:
        nonlocal left
        left -= 1
        if left >= 0:
            asked = in_seconds(3) if value == "date" else value
            return web.Response(status=status, headers={"Retry-After": asked} if asked else {})
        return page(request)

    return answer


def in_seconds(n: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=n), usegmt=True)


def pause_after_first(site: Site) -> float:
    times = site.times()
    return times[1] - times[0]


async def crawl_of(redis_url: str, name: str, site: Site, pages: int, workers: int, **more: object):
    crawl = Crawl(redis_url, name, {"SEINE_DOMAIN_CONCURRENCY": 1, "LOG_LEVEL": "INFO", **more})
    await crawl.start(workers)
    await crawl.seed(site.pages(pages))
    return await crawl.finish()


@pytest.mark.parametrize(
    ("value", "status", "least_s"),
    [("2", 429, 1.9), ("2", 503, 1.9), ("date", 429, 1.9), ("", 429, 0.9)],
)
async def test_retry_after_stops_every_worker(redis_url, namespace, value, status, least_s):
    async with serve() as site:
        site.answer = too_many(value, status=status)
        logs = await crawl_of(redis_url, namespace, site, pages=6, workers=2, SEINE_BLOCK_SECONDS=1)
        assert pause_after_first(site) >= least_s
        assert len(site.times()) == 7  # six pages and one more try
        assert stat(logs, f"seine/blocks/{status}") == 1


async def test_a_long_retry_after_is_cut_to_the_limit(redis_url, namespace):
    async with serve(too_many("86400")) as site:
        await crawl_of(redis_url, namespace, site, pages=3, workers=1, SEINE_BLOCK_LIMIT_SECONDS=1)
        assert 0.9 <= pause_after_first(site) < 10
        assert len(site.times()) == 4


async def test_read_ahead_of_a_blocked_domain_is_handed_back(redis_url, namespace):
    """With sixteen in flight and many read ahead, the rest must not follow the first refusal."""
    async with serve(too_many("2", times=16), latency_s=0.2) as site:
        logs = await crawl_of(
            redis_url, namespace, site, pages=60, workers=2, SEINE_DOMAIN_CONCURRENCY=16
        )
        times = site.times()
        early = [at for at in times if at < times[0] + 1.9]
        assert len(early) == 16
        assert len(times) == 60 + 16
        assert stat(logs, "seine/blocks/429") == 16


async def test_blocks_that_follow_closely_grow_and_are_bounded(redis_client: Redis, namespace):
    frontier = Frontier(redis_client, namespace, now_ms=1_000_000)
    assert await frontier.block_until("a", 5_000, grow_to_ms=15_000) == 1_005_000
    # Those that were under way when the block began change nothing.
    assert await frontier.block_until("a", 5_000, grow_to_ms=15_000) == 1_005_000
    frontier.now_ms = 1_006_000
    assert await frontier.block_until("a", 5_000, grow_to_ms=15_000) == 1_016_000
    frontier.now_ms = 1_017_000
    assert await frontier.block_until("a", 5_000, grow_to_ms=15_000) == 1_032_000
    frontier.now_ms = 1_100_000  # long quiet: it begins anew
    assert await frontier.block_until("a", 5_000, grow_to_ms=15_000) == 1_105_000
    # A shorter wish never shortens a block.
    assert await frontier.block_until("a", 1_000) == 1_105_000


async def test_a_block_holds_leases_back_until_its_end(redis_client: Redis, namespace):
    frontier = Frontier(redis_client, namespace, now_ms=1_000_000)
    await frontier.push([Push(domain="a", blob=b"x", fingerprint=1)])
    await frontier.block_until("a", 5_000)
    assert not (await frontier.lease("w", 5, ttl_ms=1000)).leases
    frontier.now_ms = 1_004_999
    assert not (await frontier.lease("w", 5, ttl_ms=1000)).leases
    frontier.now_ms = 1_005_000
    assert len((await frontier.lease("w", 5, ttl_ms=1000)).leases) == 1
