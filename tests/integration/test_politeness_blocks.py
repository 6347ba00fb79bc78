"""A site that asks for a pause gets it from every worker (I5)."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web
from redis.asyncio import Redis

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Push
from scrapy_seine.frontier.round_trips.endings import Call, Endings
from scrapy_seine.frontier.round_trips.redis_pipeline import LeaseRequest, Lines
from tests.helpers import patient
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


async def crawl_of(redis_url: str, name: str, site: Site, pages: int, workers: int, **more: object):
    settings = {"SEINE_DOMAIN_CONCURRENCY": 1, **more}
    async with Crawl(redis_url, name, settings) as crawl:
        await crawl.start(workers)
        await crawl.seed(site.pages(pages))
        return await crawl.finish()


async def test_a_pause_that_a_site_asks_for_is_kept_by_every_worker(redis_url, namespace):
    cases = {  # Retry-After, status, workers, least pause in seconds
        "seconds": ("2", 429, 2, 1.9),
        "unavailable": ("2", 503, 1, 1.9),
        "date": ("date", 429, 1, 1.9),
        "nothing": ("", 429, 1, 0.9),
        "too_long": ("86400", 429, 1, 2.9),
    }

    pauses = {"seconds": "2 s", "too_long": "3 s", "nothing": "1 s, longer after each further one"}

    async def case(name: str, value: str, status: int, workers: int, least_s: float) -> None:
        limits = {"SEINE_BLOCK_SECONDS": 1, "SEINE_BLOCK_LIMIT_SECONDS": 3}
        async with serve(too_many(value, status=status)) as site:
            logs = await crawl_of(redis_url, f"{namespace}-{name}", site, 6, workers, **limits)
            times = site.times()
            assert len(times) == 7, name  # six pages and one more try
            assert least_s <= times[1] - times[0] < patient(20), name
            assert stat(logs, f"seine/blocks/{status}") == 1, name
            # Without a line the pause would look like a hang.
            told = re.findall(rf"answered HTTP {status}: its pages wait (\d.*)", "".join(logs))
            (pause,) = told
            assert pause == pauses.get(name, pause), name

    await asyncio.gather(*(case(name, *options) for name, options in cases.items()))


@pytest.mark.alone
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


async def test_a_servers_first_block_holds_the_leases_behind_it_back(redis_client, namespace):
    """I5: of all scripts the server may know all but the one that blocks."""
    frontier = Frontier(redis_client, namespace)
    await frontier.push([Push(domain="a", blob=b"x", fingerprint=n) for n in range(3)])
    lease_request = LeaseRequest(worker="w", ttl_ms=1000, lead_ms=0, lanes="")
    (line,) = Lines(frontier.parts, lease_request).lines
    await redis_client.script_flush()
    assert len((await line.round_trip(Endings(), 1, lease_request)).leased.leases) == 1
    wish = Call("block_until", ["a", 60_000, 0], [])
    answer = await line.round_trip(Endings(limits=[wish]), 2, lease_request)
    assert answer.leased.leases == []
