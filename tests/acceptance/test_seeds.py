"""Seeds of every shape: taken quickly, and set aside with a reason where they are none."""

import json
import time

import pytest

from crawler.demo.catalogue import catalogue
from crawler.demo.shop_process import served
from tests.acceptance.conftest import said
from tests.helpers import wait_until

pytestmark = pytest.mark.acceptance

BAD = {
    "123": "int is neither a URL nor an object with a url",
    "example.com/x": "'example.com/x' has no http:// or https:// in front",
    '{"a":1}': "the object has no url",
}


def test_bad_seeds_are_set_aside_with_reasons_and_the_good_ones_crawled(crawl):
    with served(products=30) as shop:
        worker = crawl.start_idle()
        good = [f'{{"url": "{shop.url}p/{number}/x"}}' for number in range(1, 5)]
        good[3] = f'{{"url": "{shop.url}p/4/x", "cookies": {{"region": "de"}}}}'
        seeds = [good[0], "123", good[1], "example.com/x", good[2], '{"a":1}', good[3], b"\xff\xfe"]
        crawl.redis.lpush(crawl.seeds.seeds, *seeds)
        crawl.wait_for_end()

    reasons = {note["seed"]: note["reason"] for note in crawl.rejects()}
    assert reasons.pop("\\xff\\xfe").startswith("not UTF-8")
    assert reasons == BAD
    # The page was that of another visitor, and nothing said so.
    assert said(worker).count(f"as of {shop.url}p/4/x, are not sent, because COOKIES_ENABLED") == 1
    assert worker.process.returncode == 0
    stored = {sku for (sku,) in crawl.query("SELECT sku FROM products")}
    assert stored >= {product.sku for product in catalogue(30)[:4]}


@pytest.mark.alone
def test_an_idle_worker_takes_seeds_from_a_list_a_set_and_a_sorted_set_at_once(crawl, tmp_path):
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_KEEP_ALIVE": 1}
    add = {
        "list": lambda seed: crawl.redis.lpush(crawl.seeds.seeds, seed),
        "set": lambda seed: crawl.redis.sadd(crawl.seeds.seeds, seed),
        "zset": lambda seed: crawl.redis.zadd(crawl.seeds.seeds, {seed: 5}),
    }
    waited = {}
    with served(log=tmp_path / "log", products=30) as shop:
        worker = crawl.start_idle()
        crawl.redis.lpush(crawl.seeds.seeds, f"{shop.url}about?n=first")  # reads robots.txt
        # The page links to the rest of the shop, whose pages are done at once: wait for its end.
        wait_until(lambda: 0 < crawl.total("pushed") == crawl.total("done"), 30, "the shop is done")
        for kind, push in add.items():
            # The best of three: the machine may be busy with something else.
            waited[kind] = min(
                self_timed(shop, push, f"about?n={kind}{attempt}") for attempt in range(3)
            )
        assert worker.alive

    assert {kind for kind, seconds in waited.items() if seconds > 0.5} == set(), waited


def self_timed(shop, push, target):
    """Push a seed; returns the seconds until the shop was asked for it."""
    pushed = time.time()
    push(shop.url + target)

    def visit():
        return next((v for v in shop.visits() if v["path"] == f"/{target}"), None)

    wait_until(visit, 20, f"the shop is asked for {target}")  # a set, where lists were until now
    return visit()["time"] - pushed


def test_a_worker_on_an_empty_crawl_says_so_waits_and_leaves_when_told(crawl):
    worker = crawl.start_idle()
    time.sleep(1.5)  # longer than any tick of its own

    assert worker.alive
    assert said(worker).count("waiting for seeds") == 1
    assert crawl.redis.zcard(crawl.keys.workers) == 1
    crawl.workers.stop()
    assert worker.process.returncode == 0
    assert not crawl.redis.exists(crawl.keys.workers)


def test_a_seed_with_all_its_options_is_sent_as_it_says(crawl, tmp_path):
    with served(log=tmp_path / "log", products=30) as shop:
        seed = {"url": f"{shop.url}about", "method": "POST", "dont_filter": True, "q": "lamp"}
        crawl.redis.lpush(crawl.seeds.seeds, json.dumps(seed))
        worker = crawl.start()
        crawl.wait_for_end()

        visits = [(v["method"], v["path"]) for v in shop.visits()]
    # The fleet may know the address' robots.txt from an earlier shop on the same port.
    pages = [visit for visit in visits if visit != ("GET", "/robots.txt")]
    assert pages[0] == ("POST", "/about")
    assert worker.process.returncode == 0


def test_a_worker_whose_pages_do_not_end_says_how_many_wait(crawl, tmp_path):
    """Scrapy closes no spider then, and the count was the last one that the worker had shown."""
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_DRAIN_SECONDS": 1}
    with served(log=tmp_path / "visits", latency_ms=400_000, products=5) as shop:
        worker = crawl.start_idle()
        crawl.seed(*(f"{shop.url}p/{number}/x" for number in range(1, 6)))
        wait_until(shop.visits, 30, "pages under way")
        crawl.workers.stop()

    assert "the drain took 1 s" in said(worker)
    assert "5 pages; another worker or the next run takes them" in said(worker)
