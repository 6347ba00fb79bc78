"""Whole crawls by real workers on a Redis Cluster, and through a failover under Sentinel."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.stores.store_endpoints import blocking_client
from tests.helpers import wait_until_async
from tests.integration import redis_fleet
from tests.integration.politeness.crawl import Crawl
from tests.integration.politeness.site import serve

pytestmark = pytest.mark.redis


async def seed(url: str, crawl: Crawl, urls: list[str]) -> None:
    with blocking_client(url) as client:

        async def joined() -> bool:
            return int(client.zcard(f"{{{crawl.name}}}:workers")) >= len(crawl.workers)  # type: ignore[arg-type]

        await wait_until_async(joined, 30, "all workers have joined")
        client.rpush(f"{crawl.name}:seeds", *urls)


async def test_two_workers_crawl_on_a_cluster_and_end_together(
    tmp_path: Path, namespace: str
) -> None:
    with redis_fleet.cluster(tmp_path) as url:
        async with serve() as site, Crawl(url, namespace) as crawl:
            await crawl.start(2)
            await seed(url, crawl, site.pages(60))
            await crawl.finish()
            assert sorted(path for _, path in site.arrivals) == sorted(f"/p/{i}" for i in range(60))
            assert [worker.returncode for worker in crawl.workers] == [0, 0]


async def test_a_crawl_outlives_its_master(tmp_path: Path, namespace: str) -> None:
    """What the replica did not have yet may be fetched twice; nothing is left out."""
    with redis_fleet.sentinel(tmp_path) as watched:
        settings = {"SEINE_DOMAIN_CONCURRENCY": 2}
        async with serve(latency_s=0.1) as site, Crawl(watched.url, namespace, settings) as crawl:
            await crawl.start(2)
            await seed(watched.url, crawl, site.pages(80))

            async def underway() -> bool:
                return len(site.arrivals) >= 20

            await wait_until_async(underway, 30, "the crawl is underway")
            watched.master.kill()
            await crawl.finish()
            assert {path for _, path in site.arrivals} == {f"/p/{i}" for i in range(80)}
            assert [worker.returncode for worker in crawl.workers] == [0, 0]
            print(f"{len(site.arrivals) - 80} fetched twice")
