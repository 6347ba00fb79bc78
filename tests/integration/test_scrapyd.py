"""Scrapyd as an operator uses it: deploy a checkout, schedule jobs, cancel one; no page is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from psycopg2.extras import RealDictCursor
from redis import Redis

from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from crawler.demo.shop_process import served
from scrapy_seine.frontier.keys import Keys
from tests.helpers import wait_until
from tests.integration.scrapyd_kit import Scrapyd, checkout, scrapyd

pytestmark = [pytest.mark.redis, pytest.mark.postgres, pytest.mark.timeout(240)]
PRODUCTS = 300


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    """A Scrapyd to which the checkout has been deployed."""
    folder = tmp_path_factory.mktemp("scrapyd")
    with scrapyd(folder / "server") as running:
        running.deploy(checkout(folder / "checkout"), "1")
        yield running


def rows(database_url: str) -> list[dict[str, Any]]:
    with (
        closing(psycopg2.connect(database_url, cursor_factory=RealDictCursor)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT * FROM products ORDER BY external_id")
        return [dict(row) for row in cursor.fetchall()]


def test_scrapyd_lists_the_spider_of_the_deployed_egg(server: Scrapyd) -> None:
    assert server.get("listprojects")["projects"] == ["seine"]
    assert server.get("listspiders", project="seine")["spiders"] == ["catalog"]


def test_two_jobs_share_a_crawl_and_one_finishes_what_a_cancelled_one_leaves(
    server: Scrapyd, redis_url: str, database: str, namespace: str, tmp_path: Path
) -> None:
    settings: dict[str, object] = {
        "REDIS_URL": redis_url,
        "DATABASE_URL": database,
        "SEINE_CRAWL": namespace,
        "REDIS_START_URLS_KEY": "%(crawl)s:start_urls",
        # Long, so that nothing comes back by expiry in the time of this test.
        "SEINE_LEASE_SECONDS": 120,
        "SEINE_KEEP_ALIVE": 0,
        "STATS_DUMP": 1,
    }
    with (
        served(log=tmp_path / "visits", products=PRODUCTS, latency_ms=300) as shop,
        Redis.from_url(redis_url) as redis,
    ):
        jobs = [server.schedule(settings, url=shop.url) for _ in range(2)]
        workers = Keys(namespace).worker_info
        wait_until(lambda: all(_taken(server, job) for job in jobs), 60, "both jobs take pages")
        assert redis.hlen(workers) == 2
        server.post("cancel", ("job", jobs[0]))
        wait_until(lambda: server.state(jobs[0]) == "finished", 40, "the cancelled job leaves")
        wait_until(lambda: server.state(jobs[1]) == "finished", 90, "the other finishes")
        visits = Counter(v["path"] for v in shop.visits() if v["path"].startswith("/p/"))
        assert redis.zcard(Keys(namespace).leases) == redis.hlen(Keys(namespace).requests) == 0

    verdict = judge(catalogue(PRODUCTS), rows(database))
    assert verdict.passed, verdict
    assert set(visits.values()) == {1}, "a drained job leaves no page to be fetched again"
    shown = {item["external_id"] for job in jobs for item in server.items(job)}
    assert shown == {product.sku for product in catalogue(PRODUCTS)}
    assert "'finish_reason': 'shutdown'" in server.log(jobs[0])
    assert "'finish_reason': 'finished'" in server.log(jobs[1])


def _taken(server: Scrapyd, job: str) -> bool:
    """Whether a job has written items: in parts, which are one file when it ends."""
    parts = server.folder / "items" / "seine" / "catalog" / f"{job}.jl.parts"
    return any(not part.name.startswith(".") for part in parts.glob("*"))
