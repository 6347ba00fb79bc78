"""Workers share one frontier, lose nothing when one is killed, and leave when all is done."""

from collections import Counter

import pytest

from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from crawler.demo.served import served
from tests.acceptance.conftest import said
from tests.helpers import wait_until

pytestmark = pytest.mark.acceptance

PRODUCTS = 200
#: What one worker holds at most: read ahead, and in the downloader.
IN_HAND = 32 + 32


def product_visits(shop):
    """How often each product's own page was answered."""
    paths = (visit["path"].partition("?")[0] for visit in shop.visits() if visit["status"] == 200)
    return Counter(path for path in paths if path.startswith("/p/"))


def test_two_workers_share_a_crawl_and_both_leave_when_it_is_complete(crawl, tmp_path):
    with served(log=tmp_path / "log", products=PRODUCTS, latency_ms=30) as shop:
        workers = [crawl.start_idle(), crawl.start_idle()]
        crawl.seed(shop.url)
        crawl.wait_for_end()
        visits = product_visits(shop)

    verdict = judge(catalogue(PRODUCTS), crawl.rows())
    assert verdict.passed, verdict
    assert [worker.process.returncode for worker in workers] == [0, 0]
    assert set(visits.values()) == {1}
    assert all("'seine/dequeued'" in said(worker) for worker in workers)
    assert crawl.redis.zcard(crawl.keys.leases) == crawl.redis.hlen(crawl.keys.requests) == 0


def test_a_killed_worker_loses_nothing_and_only_what_it_held_is_fetched_again(crawl, tmp_path):
    with served(log=tmp_path / "log", products=PRODUCTS, latency_ms=30) as shop:
        crawl.seed(shop.url)
        victim, survivor = crawl.start(), crawl.start()
        wait_until(lambda: crawl.total("done") >= PRODUCTS / 2, 60, "half of the pages are done")
        victim.kill()
        newcomer = crawl.start()
        crawl.wait_for_end()
        visits = product_visits(shop)

    verdict = judge(catalogue(PRODUCTS), crawl.rows())
    assert verdict.passed, verdict
    assert [w.process.returncode for w in (survivor, newcomer)] == [0, 0]
    assert {p.path for p in catalogue(PRODUCTS)} <= set(visits)
    assert max(visits.values()) <= 2
    assert sum(n - 1 for n in visits.values()) <= IN_HAND
    assert crawl.redis.zcard(crawl.keys.leases) == crawl.redis.zcard(crawl.keys.dead) == 0
