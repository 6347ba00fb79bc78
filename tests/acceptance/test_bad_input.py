"""What cannot be used is set aside with its reason, and the crawl goes on."""

import asyncio
import json

import pytest
from redis.asyncio import Redis

from crawler.demo.shop_process import served
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Push
from tests.acceptance.site import serve_pages

pytestmark = pytest.mark.acceptance

NAMELESS = """<!DOCTYPE html><html><head><title></title>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product",
"sku": "N-1", "offers": {"@type": "Offer", "price": "9.90", "priceCurrency": "EUR"}}</script>
</head><body><p class="price">9,90 €</p></body></html>"""
NAMED = NAMELESS.replace('"sku": "N-1"', '"sku": "N-2", "name": "Lamp"')


def test_a_product_with_no_name_is_a_rejected_item_and_its_lease_is_acked(crawl):
    with serve_pages({"/p/1": NAMELESS, "/p/2": NAMED}) as base:
        crawl.seed(f"{base}/p/1", f"{base}/p/2")
        worker = crawl.start()
        crawl.wait_for_end()

    assert worker.process.returncode == 0
    ((url, reason),) = crawl.query("SELECT url, reason FROM rejected_items")
    assert url == f"{base}/p/1"
    assert "name" in reason
    assert [row["sku"] for row in crawl.rows()] == ["N-2"]
    assert (crawl.total("done"), crawl.total("buried")) == (2, 0)


def test_a_stored_request_that_cannot_be_read_is_set_aside_with_its_reason(crawl, redis_url):
    renamed = {"url": "http://127.0.0.1:9/", "callback": "no_such_method"}
    blobs = [b"\xc1\xff garbage", b"", b"{", json.dumps(renamed).encode()]
    asyncio.run(push(redis_url, crawl.name, blobs))
    with served(products=30) as shop:
        crawl.seed(f"{shop.url}p/1/x")
        worker = crawl.start()
        crawl.wait_for_end()

    notes = [json.loads(note) for note in crawl.redis.hgetall(crawl.keys.autopsy).values()]
    assert [note["reason"] for note in notes] == ["decode"] * len(blobs)
    assert all(note["error"] for note in notes)
    assert len(crawl.rows()) >= 1
    assert worker.process.returncode == 0


async def push(redis_url, crawl, blobs):
    async with Redis.from_url(redis_url) as redis:
        made = [Push(domain="127.0.0.1", blob=blob) for blob in blobs]
        await Frontier(redis, crawl).push(made)
