"""A site's plan, products of the store, and the time at which tests of jobs look at them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from crawler.catalogue.jobs.model import Plan
from scrapy_seine.sinks.postgres.database import connect

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SEEDS = ("http://shop.example/", "http://shop.example/sale")
PLAN = Plan(site_id="shop", seeds=SEEDS, schedule="0 4 * * *")


def add_products(database, days_ago):
    """Products that were last looked at so long ago."""
    with connect(database) as connection, connection.cursor() as cursor:
        for n, days in enumerate(days_ago):
            cursor.execute(
                "INSERT INTO products (site_id, external_id, url, name, content_hash, item,"
                " first_seen, scraped_at, updated_at) VALUES ('shop', %s, %s, 'n', %s, '{}',"
                " %s, %s, %s)",
                (f"{n}", f"http://shop.example/p/{n}", b"x", *[NOW - timedelta(days=days)] * 3),
            )


async def begin(jobs, name="shop-1"):
    return await jobs.begin(name, site_id="shop", kind="full", urls=SEEDS)
