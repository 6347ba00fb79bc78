"""A fleet grows and shrinks while it crawls: nothing is lost, stored twice or fetched twice."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path

import pytest

from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from crawler.demo.shop_process import ServedShop, served
from crawler.demo.worker_processes import Worker
from tests.acceptance.conftest import Crawl, said
from tests.helpers import held, wait_until

pytestmark = pytest.mark.acceptance

LATENCY_S = 0.2
#: Requests that one worker has in flight: few, so that workers are the limit, and not the CPU.
IN_FLIGHT = 2
SETTINGS = {
    "CONCURRENT_REQUESTS": IN_FLIGHT,
    "CONCURRENT_REQUESTS_PER_DOMAIN": IN_FLIGHT,
    "SEINE_READ_AHEAD": 8,
    "SEINE_DOMAIN_CONCURRENCY": 500,
    # Longer than the crawl, so that what was left behind by a worker would be missing at the end.
    "SEINE_LEASE_SECONDS": 600,
    # The shop answers nobody until the fleet has grown, which takes a busy machine minutes.
    "DOWNLOAD_TIMEOUT": 600,
}


def pages(shop: ServedShop) -> Counter[str]:
    """How often each page was answered."""
    visits = (v for v in shop.visits() if v["status"] == 200)
    return Counter(v["path"] for v in visits if v["path"] != "/robots.txt")


def rate(shop: ServedShop, seconds: float) -> float:
    """Pages a second from now on, over a while."""
    before = len(shop.visits())
    began = time.monotonic()
    time.sleep(seconds)  # a rate needs time to pass; nothing could be waited for
    return (len(shop.visits()) - before) / (time.monotonic() - began)


def told_to_go(crawl: Crawl, n: int) -> list[Worker]:
    """Ask all but *n* workers to go, as a scale-down does; returns those that were asked."""
    going = crawl.workers.alive[n:]
    for worker in going:
        worker.process.terminate()
    return going


def crawl_at_many_sizes(
    crawl: Crawl, log: Path, *, products: int, most: int, watch_s: float
) -> dict[int, float]:
    """Crawl with 1, then *most*, then 2 workers; returns pages/s by number of workers."""
    crawl.workers.settings = {**crawl.workers.settings, **SETTINGS}
    found: dict[int, float] = {}
    with served(log=log, products=products, latency_ms=LATENCY_S * 1000) as shop:
        crawl.seed(shop.url)
        crawl.start()
        wait_until(lambda: len(shop.visits()) > 20, 60, "the first worker is at it")
        found[1] = rate(shop, watch_s)
        with held(shop):
            for _ in range(most - 1):
                crawl.start()
            wait_until(lambda: _busy(crawl) == most, 120, f"{most} workers hold work")
        found[most] = rate(shop, watch_s)
        with held(shop):
            assert _left(crawl) > _leased(crawl), "the crawl was over before the fleet shrank"
            going = told_to_go(crawl, 2)
        wait_until(lambda: not any(w.alive for w in going), 60, "workers that were told to go left")
        assert [worker.process.returncode for worker in going] == [0] * (most - 2)
        found[2] = rate(shop, watch_s)
        crawl.wait_for_end(timeout_s=600)
        visits = pages(shop)
    assert [w.process.returncode for w in crawl.workers.workers] == [0] * most
    verdict = judge(catalogue(products), crawl.rows())
    assert verdict.passed, verdict
    assert sum(visits.values()) - len(visits) <= _looks(crawl), visits.most_common(5)
    assert {p.path for p in catalogue(products)} <= {path.partition("?")[0] for path in visits}
    assert crawl.redis.zcard(crawl.keys.leases) == crawl.redis.zcard(crawl.keys.dead) == 0
    return found


def _busy(crawl: Crawl) -> int:
    """How many workers hold leases."""
    held = crawl.redis.hvals(crawl.keys.held)
    return len({lease.split()[1] for lease in held})


def _looks(crawl: Crawl) -> int:
    """How many pages were to be read again, because the first ones of a worker changed currency.

    The shop has four at random, so that two runs of them may be the first that one worker reads.
    """
    told = (re.findall(r"'extract/looked_again': (\d+)", said(w)) for w in crawl.workers.workers)
    return sum(int(n) for numbers in told for n in numbers)


def _left(crawl: Crawl) -> int:
    return int(crawl.redis.hlen(crawl.keys.requests))


def _leased(crawl: Crawl) -> int:
    return int(crawl.redis.hlen(crawl.keys.held))


@pytest.mark.timeout(300)
def test_a_fleet_that_grows_and_shrinks_fetches_each_page_once(
    crawl: Crawl, tmp_path: Path
) -> None:
    crawl_at_many_sizes(crawl, tmp_path / "log", products=400, most=4, watch_s=1)


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(1500)
def test_throughput_follows_the_number_of_workers(crawl: Crawl, tmp_path: Path) -> None:
    found = crawl_at_many_sizes(crawl, tmp_path / "log", products=4700, most=8, watch_s=10)
    print({n: round(pages_s, 1) for n, pages_s in found.items()})
    for n, pages_s in found.items():
        assert pages_s == pytest.approx(n * found[1], rel=0.1)
        assert pages_s <= n * IN_FLIGHT / LATENCY_S * 1.05
