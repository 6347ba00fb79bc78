"""Whole crawls: worker processes on the suite's servers, each test with names of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import psycopg2
import pytest
from redis import Redis

from crawler.demo.stored_rows import stored_products
from crawler.demo.worker_processes import Fleet, Worker, fleet
from scrapy_seine.frontier.keys import Keys, SeedKeys
from tests.helpers import wait_until

SETTINGS: Mapping[str, object] = {
    "REDIS_START_URLS_KEY": "%(crawl)s:start_urls",
    "SEINE_LEASE_SECONDS": 5,
    "SEINE_KEEP_ALIVE": 0,
}


@attrs.define(eq=False)
class Crawl:
    """One crawl with its workers, as an operator sees it."""

    name: str
    redis: Redis
    database_url: str
    workers: Fleet
    redis_url: str = ""

    @property
    def keys(self) -> Keys:
        """Names of the crawl's keys."""
        return Keys(self.name)

    @property
    def seeds(self) -> SeedKeys:
        """Names of the keys around its seeds."""
        return SeedKeys(f"{self.name}:start_urls")

    def seed(self, *urls: str) -> None:
        """Push seeds whose products are stored under the crawl's name."""
        texts = [json.dumps({"url": url, "meta": {"site_id": self.name}}) for url in urls]
        self.redis.lpush(self.seeds.seeds, *texts)

    def start(self) -> Worker:
        """Start one more worker."""
        return self.workers.start()

    def start_idle(self) -> Worker:
        """Start a worker on nothing, and return when it waits for seeds."""
        worker = self.start()
        wait_until(lambda: "waiting for seeds" in said(worker), 30, "a worker that waits")
        return worker

    def wait_for_end(self, timeout_s: float = 60) -> None:
        """Return when every worker has left."""
        wait_until(lambda: not self.workers.alive, timeout_s, "all workers leave by themselves")

    def total(self, name: str) -> int:
        """Read one of the crawl's counters."""
        return int(self.redis.hget(self.keys.counters, name) or 0)

    def rejects(self) -> list[dict[str, Any]]:
        """Seeds set aside, oldest first."""
        return [json.loads(note) for note in self.redis.lrange(self.seeds.rejected, 0, -1)][::-1]

    def rows(self) -> list[dict[str, Any]]:
        """Products stored."""
        return stored_products(self.database_url, self.name)

    def query(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask the database."""
        with psycopg2.connect(self.database_url) as connection, connection.cursor() as cursor:
            cursor.execute(statement, values)
            found = cursor.fetchall()
        connection.close()
        return found


def said(worker: Worker) -> str:
    """Return a worker's log so far."""
    return worker.log.read_text(encoding="utf-8", errors="replace")


@pytest.fixture
def crawl(redis_url: str, database: str, namespace: str, tmp_path: Path) -> Iterator[Crawl]:
    """A crawl of the test's own; its workers are gone when the test ends."""
    stores = {"REDIS_URL": redis_url, "DATABASE_URL": database, "SCRAPY_PROJECT": "test"}
    settings = {**SETTINGS, "SEINE_CRAWL": namespace}
    with Redis.from_url(redis_url) as redis, fleet(settings, stores, tmp_path / "logs") as workers:
        yield Crawl(namespace, redis, database, workers, redis_url)
