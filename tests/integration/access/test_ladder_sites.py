"""What a worker keeps of the domains on the ladder."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector

from crawler.access.ladder import Decision, View
from crawler.access.ladder_store import LadderStore
from middlewares.ladder import STEP, Escalate
from scrapy_seine.engine.spider import FrontierSpider

pytestmark = pytest.mark.redis


@pytest.fixture
def ladder(redis_url, namespace):
    settings = {"REDIS_URL": redis_url, "SEINE_FLEET": namespace, "SEINE_IDENTITY": "chrome"}
    made = Crawler(FrontierSpider, settings)
    made.stats, made.spider = MemoryStatsCollector(made), FrontierSpider(name="x")
    return Escalate(made)


async def step_of(ladder: Escalate, url: str) -> str:
    request = Request(url)
    looks = ladder.process_request(request)
    if looks is not None:
        await looks
    return str(request.meta[STEP])


async def test_a_domain_that_is_asked_no_more_is_forgotten_with_its_step_in_redis(
    ladder, redis_client, namespace, monkeypatch
) -> None:
    """Each one cost a call of Redis every half minute, in each worker, to the crawl's end."""
    store = LadderStore(redis_client, namespace)
    await store.move("climbs.example", View(), Decision("climb", "tls", "refused"))
    urls = [f"http://s{n}.example/" for n in range(20)]
    for url in ("http://climbs.example/", *urls):
        await step_of(ladder, url)
    await ladder.flush()
    assert len(ladder.sites) == 21
    monkeypatch.setattr("middlewares.ladder._IDLE_S", 0.0)
    ladder.sites["s0.example"].counts["plain"] = (0, 1)
    await ladder.flush()
    assert ladder.sites == {}
    assert (await store.tally("s0.example", {})).bad == 1
    assert await step_of(ladder, "http://climbs.example/") == "tls"
    await ladder._on_spider_closed()
