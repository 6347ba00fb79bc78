"""A coordinator killed while it ends a job: the next one ends it, once."""

from __future__ import annotations

import asyncio
import contextlib
import sys

import psycopg2
import pytest

from crawler.access.proxies.doubtful_pages import DoubtfulPages, forget
from crawler.access.shared_state import proxies_key
from crawler.catalogue.coordinator.leader import Coordinator
from crawler.catalogue.jobs.closing import end_jobs
from scrapy_seine.sinks.postgres.database import connect
from tests import started
from tests.helpers import execute, wait_until
from tests.integration.jobs.kit import NOW, add_products

pytestmark = [pytest.mark.redis, pytest.mark.postgres]


def _kill_where_it_marks(*arguments: str, database: str) -> None:
    """Kill a coordinator while a lock of ours keeps it from marking products."""
    with contextlib.closing(psycopg2.connect(database)) as holder, holder.cursor() as cursor:
        cursor.execute("SELECT 1 FROM products FOR UPDATE")
        ending = started.Popen([sys.executable, "-m", "tests.acceptance.coordinating", *arguments])

        def waits() -> bool:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return cursor.fetchone()[0] > 0 or ending.poll() is not None

        wait_until(waits, 20, "it marks products")
        assert ending.poll() is None
        ending.kill()
        ending.wait()


async def test_a_coordinator_killed_while_it_marks_products_as_gone(
    driver, jobs, redis_url, database, tmp_path
):
    add_products(database, (3, 3, 3))
    job = await jobs.begin("shop-1", site_id="shop", kind="full", urls=["http://shop.example/"])
    await driver.ack(*await driver.take(9))
    await jobs.note_checked(job)
    execute(database, "UPDATE products SET scraped_at = now() WHERE external_id <> '2'")
    execute(database, "UPDATE products SET missing_at = now() WHERE external_id = '2'")

    (plans := tmp_path / "plans.json").write_text("[]")
    arguments = (redis_url, driver.f.keys.crawl, database, str(plans))
    await asyncio.to_thread(_kill_where_it_marks, *arguments, database=database)
    assert (await jobs.get("shop-1")).state == "running"
    (ended,) = await end_jobs(jobs, database)
    assert (ended.id, ended.state) == ("shop-1", "finished")
    assert await end_jobs(jobs, database) == []
    with connect(database) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT external_id FROM products WHERE gone_at IS NOT NULL")
        assert cursor.fetchall() == [("2",)]


async def test_a_job_does_not_end_while_pages_of_a_bad_proxy_are_to_be_fetched_again(
    driver, jobs, database, namespace
):
    """A coordinator has no proxies: it ended the job before a worker requested these pages."""
    await jobs.begin("shop-1", site_id="shop", kind="full", urls=["http://shop.example/"])
    await driver.ack(*await driver.take(9))
    pages = DoubtfulPages(f"{namespace} shop.example shop-1", ["0 http://shop.example/p/1"], {})
    key = proxies_key(namespace)
    doubtful = f"{key}doubtful:{namespace}"
    await driver.redis.hset(doubtful, pages.site, '{"job_id":"shop-1"}')
    await driver.redis.zadd(f"{doubtful} {pages.site}", {pages.names[0]: 1})

    coordinator = Coordinator(driver.redis, namespace, database, [], fleet=namespace)
    await coordinator.step(NOW)
    assert (await jobs.get("shop-1")).state == "running"
    await forget(driver.redis, key, namespace, pages)
    await coordinator.step(NOW)
    assert (await jobs.get("shop-1")).state == "finished"
