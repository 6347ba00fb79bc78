"""Workers share one frontier, lose nothing when one is killed, and leave when all is done."""

import asyncio
from collections import Counter

import pytest

from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from crawler.demo.shop_process import served
from crawler.demo.stored_rows import forget
from crawler.stores.store_endpoints import redis_client
from scrapy_seine.frontier.frontier import Frontier
from tests.acceptance.conftest import said
from tests.helpers import held, wait_until

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


def test_a_worker_on_scrapys_own_path_shares_a_crawl_with_one_on_the_fast_path(crawl, tmp_path):
    """A fleet whose pods have two releases of Scrapy: one of them may lack a private name."""
    with served(log=tmp_path / "log", products=60, latency_ms=30) as shop:
        usual = crawl.workers.environment
        crawl.workers.environment = {**usual, "SEINE_FASTPATH": "0"}
        workers = [crawl.start_idle()]
        crawl.workers.environment = usual
        workers.append(crawl.start_idle())
        crawl.seed(shop.url)
        crawl.wait_for_end()
        visits = product_visits(shop)

    verdict = judge(catalogue(60), crawl.rows())
    assert verdict.passed, verdict
    assert [worker.process.returncode for worker in workers] == [0, 0]
    assert set(visits.values()) == {1}
    assert all("'seine/dequeued'" in said(worker) for worker in workers)
    assert crawl.redis.zcard(crawl.keys.leases) == crawl.redis.hlen(crawl.keys.requests) == 0


def names(crawl):
    return set(crawl.redis.zrange(crawl.keys.workers, 0, -1))


def test_a_killed_worker_loses_nothing_and_only_what_it_held_is_fetched_again(crawl, tmp_path):
    with served(log=tmp_path / "log", products=PRODUCTS, latency_ms=30) as shop:
        victim, survivor = crawl.start_idle(), crawl.start_idle()
        crawl.seed(shop.url)
        wait_until(lambda: crawl.total("done") >= PRODUCTS / 2, 60, "half of the pages are done")
        with held(shop):
            victim.kill()
            before = names(crawl)
            newcomer = crawl.start()
            wait_until(lambda: names(crawl) - before, 60, "the newcomer has joined")
        crawl.wait_for_end()
        visits = product_visits(shop)

    verdict = judge(catalogue(PRODUCTS), crawl.rows())
    assert verdict.passed, verdict
    assert [w.process.returncode for w in (survivor, newcomer)] == [0, 0]
    assert {p.path for p in catalogue(PRODUCTS)} <= set(visits)
    assert max(visits.values()) <= 2
    assert sum(n - 1 for n in visits.values()) <= IN_HAND
    assert crawl.redis.zcard(crawl.keys.leases) == crawl.redis.zcard(crawl.keys.dead) == 0


def test_a_crawl_cleared_under_its_worker_is_crawled_anew_and_whole(crawl, redis_url):
    stays = {"SEINE_KEEP_ALIVE": 1, "SEINE_FRESH_SECONDS": 0}
    crawl.workers.settings = {**crawl.workers.settings, **stays}
    with served(products=30) as shop:
        crawl.start()
        for _ in range(2):
            before = crawl.total("done")
            crawl.seed(shop.url)
            wait_until(lambda n=before: is_complete(crawl, n), 30, "the shop is crawled")
            assert judge(catalogue(30), crawl.rows()).passed
            asyncio.run(clear(redis_url, crawl.name))
            forget(crawl.database_url, crawl.name)


def is_complete(crawl, before):
    return crawl.total("done") > before and not crawl.redis.hlen(crawl.keys.requests)


async def clear(redis_url, crawl):
    async with redis_client(redis_url) as redis:
        await Frontier(redis, crawl).clear()
