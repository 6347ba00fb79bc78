"""Known products fetched again: on condition, durably, and never on trust in an older parser."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime

import pytest

from crawler.catalogue.coordinator.leader import Coordinator
from crawler.catalogue.jobs.model import Plan
from crawler.demo.shop_process import served
from crawler.stores.store_endpoints import redis_client
from tests.acceptance.conftest import Crawl
from tests.helpers import execute

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
PRODUCTS = 60
AGE = (
    "UPDATE products SET scraped_at = scraped_at - interval '2 days',"
    " first_seen = first_seen - interval '2 days'"
)


def plan_again(crawl: Crawl) -> int:
    """Let the coordinator look once; returns the number of requests of its newest job."""

    async def look() -> int:
        redis = redis_client(crawl.redis_url)
        plan = Plan(site_id=crawl.name, recrawl_s=86_400)
        coordinator = Coordinator(redis, crawl.name, crawl.database_url, [plan])
        try:
            await coordinator.step(datetime.now(UTC))
            return (await coordinator.jobs.newest())[0].left
        finally:
            await redis.aclose()

    return asyncio.run(look())


def crawl_again(crawl: Crawl, shop) -> Counter[int]:
    """Send what is due, crawl it, and count the shop's answers by status."""
    before = len(shop.visits())
    assert plan_again(crawl) == PRODUCTS
    crawl.start()
    crawl.wait_for_end()
    pages = [visit for visit in shop.visits()[before:] if visit["path"].startswith("/p/")]
    return Counter(visit["status"] for visit in pages)


def test_unchanged_pages_cost_no_body_and_count_as_fresh(crawl, tmp_path):
    with served(products=PRODUCTS, log=tmp_path / "visits") as shop:
        crawl.seed(shop.url)
        crawl.start()
        crawl.wait_for_end()
        stored = crawl.query("SELECT external_id, item - 'scraped_at' FROM products ORDER BY 1")
        assert len(stored) == PRODUCTS
        execute(crawl.database_url, AGE)
        assert crawl_again(crawl, shop) == {304: PRODUCTS}
        fresh = crawl.query(
            "SELECT count(*), min(observed_s) > 172800, bool_and(changed_after = '{}')"
            " FROM products WHERE scraped_at > now() - interval '1 hour' AND job_id ~ 'recrawl'"
        )
        assert fresh == [(PRODUCTS, True, True)]
        again = crawl.query("SELECT external_id, item - 'scraped_at' FROM products ORDER BY 1")
        assert again == stored
        # Another parser reads every page itself.
        execute(crawl.database_url, AGE)
        execute(crawl.database_url, "UPDATE products SET parser = 'older'")
        assert crawl_again(crawl, shop) == {200: PRODUCTS}
        execute(crawl.database_url, AGE)
        assert crawl_again(crawl, shop) == {304: PRODUCTS}
