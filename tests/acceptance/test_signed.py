"""With SEINE_SECRET a fleet crawls from unsigned seeds, and takes no request that others wrote."""

from __future__ import annotations

import json

import pytest

from crawler.demo.shop_process import served
from scrapy_seine.frontier.encoding.codec import SEALED, encode
from scrapy_seine.frontier.model import header_of
from scrapy_seine.frontier.priority_level import level_of
from tests.acceptance.conftest import said

pytestmark = pytest.mark.acceptance
SECRET = "a secret of 32 characters or more"


def test_a_fleet_with_a_secret_crawls_from_seeds_and_sets_aside_what_nobody_signed(crawl):
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_SECRET": SECRET}
    with served(products=30) as shop:
        host = shop.url.split("/")[2]
        forged = encode({"url": f"{shop.url}p/29/x", "callback": "parse"})
        crawl.redis.hset(crawl.keys.requests, "900", header_of(0, host) + b"\n" + forged)
        crawl.redis.zadd(crawl.keys.queue(host), {"900": level_of(0) * 2**40})
        crawl.redis.zadd(crawl.keys.ready, {host: 1})
        crawl.redis.hset(crawl.keys.control, "seq", 1000)
        crawl.seed(shop.url)
        worker = crawl.start()
        crawl.wait_for_end()

    assert worker.process.returncode == 0
    (note,) = [json.loads(note) for note in crawl.redis.hgetall(crawl.keys.autopsy).values()]
    assert (note["reason"], "not signed" in note["error"]) == ("decode", True)
    assert len(crawl.rows()) >= 25, "links of pages are signed by who found them"
    assert SECRET not in said(worker)


def test_all_that_waits_in_a_signing_crawl_is_signed(crawl):
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_SECRET": SECRET}
    seed = json.dumps({"url": "http://127.0.0.1:9/", "meta": {"max_retries": 0}})
    crawl.redis.lpush(crawl.seeds.seeds, seed)
    worker = crawl.start()
    crawl.wait_for_end()

    assert worker.process.returncode == 0
    (stored,) = crawl.redis.hgetall(crawl.keys.requests).values()  # a dead letter
    assert stored.partition(b"\n")[2][:1] == SEALED


def test_a_short_secret_is_one_line_and_is_not_shown(crawl):
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_SECRET": "hunter2"}
    worker = crawl.start()
    crawl.wait_for_end()
    assert worker.process.returncode == 1
    assert "is not a text of 32 characters or more" in said(worker)
    assert "hunter2" not in said(worker)
    assert "Traceback" not in said(worker)
