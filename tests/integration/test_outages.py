"""A store that is away, or slow: nothing is lost, nothing is blocked, nothing piles up."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from crawler.demo.judge import judge
from crawler.demo.pages import Site
from crawler.demo.shop_process import served
from crawler.stores import embedded
from crawler.stores.embedded import Servers, postgres, valkey
from crawler.stores.store_endpoints import redis_client as connect
from scrapy_seine.embedded.data_folder import layout
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Push
from tests.chaos.judge import lost_pages
from tests.chaos.sides import Seine
from tests.helpers import held, patient, server_folder, wait_until, wait_until_async
from tests.integration.politeness.crawl import Crawl, stat
from tests.integration.politeness.site import serve
from tests.integration.politeness.slow import slow_way

#: How long a store is away, s: long enough to empty a worker's buffers.
AWAY = [3, pytest.param(30, marks=pytest.mark.slow)]


@pytest.fixture
def servers():
    with server_folder() as folder:
        yield embedded.start(folder)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("away_s", AWAY)
async def test_workers_sit_out_redis_and_lose_nothing(servers: Servers, namespace, away_s):
    place = layout(servers.data)
    settings = {"SEINE_LEASE_SECONDS": 5}
    async with (
        serve(latency_s=0.05) as site,
        Crawl(servers.redis_url, namespace, settings) as crawl,
    ):
        await crawl.start(2)
        site.hold(200)
        await crawl.seed(site.pages(600))
        await wait_until_async(_several(site, 100), 30, "the crawl is on its way")
        await asyncio.to_thread(valkey.stop, place)
        site.release()
        await asyncio.sleep(away_s)
        await asyncio.to_thread(valkey.start, place, "auto")
        logs = await crawl.finish(90)
        assert {worker.returncode for worker in crawl.workers} == {0}
        paths = [path for _, path in site.arrivals]
        assert len(set(paths)) == 600
        # Pages whose end could not be told in time may be fetched again, and no others.
        assert len(paths) - len(set(paths)) <= 2 * 2 * 32
        assert stat(logs, "seine/outage_retries") > 0
        assert max_lag_s(logs) < 1.5


async def test_pauses_and_blocks_survive_a_restart_of_redis(servers: Servers, namespace):
    place, redis = layout(servers.data), connect(servers.redis_url)
    frontier = Frontier(redis, namespace)
    await frontier.push([Push(domain=d, blob=b"x", fingerprint=n) for n, d in enumerate("aabb")])
    await frontier.set_delay("a", delay_ms=60_000)
    end_ms = await frontier.block_until("b", 60_000)
    first = await frontier.lease("w", 10, ttl_ms=60_000)
    assert [lease.domain for lease in first.leases] == ["a"]
    await redis.aclose()
    await asyncio.to_thread(valkey.stop, place)
    await asyncio.to_thread(valkey.start, place, "auto")
    redis = connect(servers.redis_url)
    frontier = Frontier(redis, namespace)
    again = await frontier.lease("w", 10, ttl_ms=60_000)
    assert not again.leases
    assert again.next_due_ms == min(end_ms, first.leases[0].slot_ms + 60_100)
    await redis.aclose()


@pytest.mark.alone
@pytest.mark.timeout(120)
async def test_a_slow_redis_blocks_nothing(servers: Servers, namespace):
    path = str(servers.redis_socket)
    async with slow_way(path, wait_s=0.05) as url, serve(latency_s=0.02) as site:
        async with Crawl(url, namespace) as crawl:
            await crawl.start(2)
            await crawl.seed(site.pages(300))
            logs = await crawl.finish(90)
        paths = [path for _, path in site.arrivals]
        assert sorted(paths) == sorted(f"/p/{i}" for i in range(300))
        assert max_lag_s(logs) < 1.5
        # One round trip a page would take 0.1 s for each of a worker's 150 pages.
        first, *_, last = site.times()
        assert last - first < 10


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("answer_s", [2, 5])
async def test_a_redis_that_takes_seconds_costs_time_and_nothing_else(
    servers: Servers, namespace, answer_s
):
    path, settings = str(servers.redis_socket), {"SEINE_LEASE_SECONDS": 30}
    wait_s = 0.0  # it becomes slow when the crawl is on its way
    async with slow_way(path, wait_s=lambda: wait_s) as url, serve(latency_s=0.05) as site:
        async with Crawl(url, namespace, settings) as crawl:
            await crawl.start(2)
            await crawl.seed(site.pages(200))
            await wait_until_async(_several(site, 40), 30, "the crawl is on its way")
            wait_s = answer_s / 2
            logs = await crawl.finish(200)
        assert {worker.returncode for worker in crawl.workers} == {0}
        paths = [path for _, path in site.arrivals]
        assert sorted(paths) == sorted(f"/p/{i}" for i in range(200))
        assert max_lag_s(logs) < 1.5


@pytest.mark.timeout(180)
@pytest.mark.parametrize("away_s", AWAY)
def test_no_page_is_taken_while_postgres_is_away(servers: Servers, namespace, tmp_path, away_s):
    place, products = layout(servers.data), 400
    side = Seine(servers, namespace, 0)
    with served(log=tmp_path / "access.log", products=products, latency_ms=20) as shop:
        host = shop.url.removeprefix("http://").strip("/")
        side.prepare([host])
        worker = side.start(tmp_path / "worker.log")
        try:
            wait_until(lambda: len(shop.visits()) > 100, 40, "the crawl is on its way")
            with held(shop):
                postgres.stop(place)
            log = tmp_path / "worker.log"
            wait_until(
                lambda: "the crawl waits for the store" in log.read_text(), 20, "it is missed"
            )
            visits, memory = len(shop.visits()), _memory(worker.pid)
            time.sleep(away_s)
            assert len(shop.visits()) - visits <= 40  # what had been taken already
            assert _memory(worker.pid) - memory < 20e6
            postgres.start(place, "auto")
            assert worker.wait(patient(90)) == 0
        finally:
            worker.kill()
            worker.wait()
        assert not lost_pages(Site(products), [host], shop.visits())
        assert judge(Site(products).products, side.rows(host)).passed


def _several(site: object, n: int):
    async def arrived() -> bool:
        return len(site.arrivals) >= n  # type: ignore[attr-defined]

    return arrived


def max_lag_s(logs: list[str]) -> float:
    """Longest time for which something but the machine held an event loop."""
    return max(stat([log], "polite/max_lag_s") for log in logs)


def _memory(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096.0
