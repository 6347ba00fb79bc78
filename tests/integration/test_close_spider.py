"""A spider that ends its crawl: which workers end by it, and which of them say whose spider did."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from scrapy_seine.engine.ending.close_spider import CrawlEnd
from tests.integration.frontier_kit import Driver

pytestmark = pytest.mark.redis


async def test_the_worker_that_ended_a_crawl_does_not_take_itself_for_another(
    redis_client: Redis, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    frontier = Driver(redis_client, namespace).f
    stopped: list[str] = []
    own = CrawlEnd(frontier, namespace, lambda: 60.0, stopped.append)
    other = CrawlEnd(frontier, namespace, lambda: 60.0, stopped.append)
    await own.announce("login refused")
    await own.stop_if_closed()
    assert (stopped, "another worker" in caplog.text) == ([], False)
    await other.stop_if_closed()
    assert stopped == ["login refused"]
