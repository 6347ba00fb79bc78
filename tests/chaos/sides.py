"""Who is put to the test: a fleet of Seine, or one of plain scrapy-redis."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

import attrs
import orjson
import psycopg2
from redis import Redis

from crawler.demo.stored_rows import stored_products
from crawler.stores.embedded import Servers
from crawler.stores.migrations import migrate
from scrapy_seine.frontier.keys import Keys

ROOT = Path(__file__).parents[2]


class Side(Protocol):
    """A fleet's way of being started, fed and read."""

    name: str

    def prepare(self, hosts: Sequence[str]) -> None:
        """Make tables, push seeds."""

    def start(self, log: Path) -> subprocess.Popen[bytes]:
        """Start one worker."""

    def left(self) -> int:
        """Requests that somebody still has to fetch."""

    def rows(self, host: str) -> list[dict[str, Any]]:
        """Products stored of one host."""


def spawn(
    command: Sequence[str], environment: dict[str, str], log: Path
) -> subprocess.Popen[bytes]:
    """Start a worker in a session of its own."""
    with log.open("wb") as out:
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


@attrs.define
class Seine:
    """Our own fleet."""

    servers: Servers
    crawl: str
    delay_ms: int
    name: str = "seine"
    partitions: int = 1
    outage_limit_s: float = 120

    def prepare(self, hosts: Sequence[str]) -> None:
        migrate(self.servers.database_url)
        seeds = [
            orjson.dumps({"url": f"http://{host}/", "meta": {"site_id": self._site(host)}})
            for host in hosts
        ]
        with Redis.from_url(self.servers.redis_url) as redis:
            redis.rpush(f"{self.crawl}:start_urls", *seeds)

    def _site(self, host: str) -> str:
        return f"{self.crawl}-{host.partition(':')[0].rpartition('.')[2]}"

    def start(self, log: Path) -> subprocess.Popen[bytes]:
        environment = {
            "REDIS_URL": self.servers.redis_url,
            "DATABASE_URL": self.servers.database_url,
            "SEINE_CRAWL": self.crawl,
        }
        settings = {
            "REDIS_START_URLS_KEY": "%(crawl)s:start_urls",
            "SEINE_LEASE_SECONDS": 3,
            "SEINE_DOMAIN_DELAY_MS": self.delay_ms,
            "FRONTIER_PARTITIONS": self.partitions,
            "SEINE_OUTAGE_LIMIT": self.outage_limit_s,
        }
        options = [text for k, v in settings.items() for text in ("-s", f"{k}={v}")]
        return spawn(["scrapy", "crawl", "catalog", *options], environment, log)

    def left(self) -> int:
        parts = Keys(self.crawl, self.partitions).parts
        with Redis.from_url(self.servers.redis_url) as redis:
            seeds = f"{self.crawl}:start_urls"
            waiting = redis.llen(seeds) + redis.hlen(f"{{{seeds}}}:claimed")
            undone = [redis.hlen(k.requests) - redis.zcard(k.dead) for k in parts]
            return int(waiting + sum(undone))

    def rows(self, host: str) -> list[dict[str, Any]]:
        return stored_products(self.servers.database_url, self._site(host))


@attrs.define
class ScrapyRedis:
    """Plain scrapy-redis 0.9.1, with persistence and the pipeline of the tutorials."""

    servers: Servers
    crawl: str
    delay_ms: int
    name: str = "scrapy-redis"

    def prepare(self, hosts: Sequence[str]) -> None:
        with Redis.from_url(self.servers.redis_url) as redis:
            redis.rpush(f"{self.crawl}:start_urls", *(f"http://{host}/" for host in hosts))

    def start(self, log: Path) -> subprocess.Popen[bytes]:
        urls = [self.servers.redis_url, self.servers.database_url]
        return spawn(["tests.chaos.peer", *urls, self.crawl, str(self.delay_ms / 1000)], {}, log)

    def left(self) -> int:
        with Redis.from_url(self.servers.redis_url) as redis:
            queued = redis.zcard(f"{self.crawl}:requests")
            return int(queued + redis.llen(f"{self.crawl}:start_urls"))

    def rows(self, host: str) -> list[dict[str, Any]]:
        pattern = f"http://{host}/%"
        with closing(psycopg2.connect(self.servers.database_url)) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT item FROM bench_rows WHERE url LIKE %s", (pattern,))
            return [_with_prices(item) for (item,) in cursor.fetchall()]


def _with_prices(item: dict[str, Any]) -> dict[str, Any]:
    """Read as numbers what that pipeline writes as text."""
    prices = {k: Decimal(item[k]) for k in ("price", "regular_price") if item.get(k) is not None}
    return {**item, **prices}
