"""The newer page wins by the frontier's clock, whatever the clocks of those who read and wrote."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from scrapy import Request

from crawler.catalogue.coordinator.recrawl import candidates
from crawler.catalogue.jobs.model import Plan
from crawler.items import Product
from crawler.stores.gone_products import find_unseen
from scrapy_seine.engine.lease.entry import current
from tests.helpers import execute
from tests.integration.storage.kit import desk, row, rows_of
from tests.integration.storage.test_pipelines import line

pytestmark = pytest.mark.postgres
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


def test_a_row_from_a_clock_that_was_ahead_yields_to_any_page(database: str) -> None:
    now = datetime.now(UTC)
    with desk(database) as made:
        for number in range(50):
            made.put(row(number, at=now + DAY))
    with desk(database) as made:
        for number in range(50):
            made.put(row(number, at=now, price="1.50"))
    assert made.counts["changed"] == 50
    assert made.counts["stale"] == 0
    assert rows_of(
        database, "SELECT DISTINCT price::text, scraped_at, observed_s FROM products"
    ) == [("1.50", now, 0.0)]


def test_an_unchanged_page_brings_a_time_in_the_future_back(database: str) -> None:
    now = datetime.now(UTC)
    with desk(database) as made:
        made.put(row(1, at=now + DAY))
    plan = Plan(site_id="shop", recrawl_s=86_400)
    assert [known.url for known in candidates(database, plan, now)] == ["https://shop.example/p/1"]
    with desk(database) as made:
        made.put(row(1, at=now))
    assert rows_of(database, "SELECT scraped_at FROM products") == [(now,)]
    with desk(database) as made:  # and from then on the newer page wins again
        made.put(row(1, at=now - MINUTE, price="2.50"))
    assert made.counts["stale"] == 1


def test_a_database_whose_clock_is_behind_keeps_the_newer_page(database: str) -> None:
    """The servers' clocks cannot be set here, so everybody else's is a day ahead."""
    with time_machine.travel(datetime.now(UTC) + DAY, tick=True):
        now = datetime.now(UTC)
        with desk(database) as made:
            made.put(row(1, at=now))
        with desk(database) as made:
            made.put(row(1, at=now - 60 * MINUTE, price="2.50"))
        assert made.counts["stale"] == 1
        assert find_unseen(database, "shop", now - MINUTE) == []
        plan = Plan(site_id="shop", recrawl_s=86_400)
        assert candidates(database, plan, now) == []


@pytest.mark.parametrize("wrong", [DAY, -DAY])
async def test_a_product_is_dated_by_the_clock_of_the_frontier(
    database: str, wrong: timedelta
) -> None:
    """The worker's clock is wrong against the frontier's, so the frontier's is against its own."""
    there = datetime.now(UTC) + wrong
    url = "https://shop.example/p/1"
    async with line(database) as made:
        made.inflight.clock = lambda lease: there.timestamp() * 1000
        with made.page(url, site_id="shop") as entry:
            assert current.get() is entry
            entry.answered_at = made.inflight.now(entry)
            made.send(Product(url=url, name="Lamp", external_id="1"))
            made.stages[0].storage.reject({"url": url}, "no reason")
    ((stored,),) = rows_of(database, "SELECT scraped_at FROM products")
    assert abs(stored - there) < MINUTE
    ((rejected,),) = rows_of(database, "SELECT rejected_at FROM rejected_items")
    assert abs(rejected - there) < MINUTE
    assert made.inflight.entry_of(Request(url)) is None


def test_the_migration_brings_rows_of_the_future_back(database: str) -> None:
    from crawler.stores.migrations import available

    (migration,) = [found for found in available() if found.name == "0011_blame"]
    ahead = datetime.now(UTC) + DAY
    with desk(database) as made:
        made.put(row(1, at=ahead))
    execute(database, migration.sql[migration.sql.index("UPDATE products") :])
    ((at, first),) = rows_of(database, "SELECT scraped_at, first_seen FROM products")
    assert at < ahead - DAY + MINUTE
    assert first <= at
