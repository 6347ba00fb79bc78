"""The demo's own storage: a schema in PostgreSQL, crawls named demo-N in Redis, a folder of logs.

Exports, counts and the dashboard of the user's own crawls do not include it, and all of it can be
removed at once.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from urllib.parse import quote

import attrs
import psycopg2
from redis.asyncio import Redis

from crawler.stores.store_endpoints import Endpoints, redis_client
from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import SeedKeys
from scrapy_seine.sinks.postgres.database import connected, line_of

SCHEMA = "seine_demo"
_CRAWL = re.compile(r"demo-\d+")


def demo_endpoints(stores: Endpoints) -> Endpoints:
    """Return the same stores, with the demo's schema in PostgreSQL.

    Raises:
        StoreUnreachable: the database does not answer, or the role may not create a schema.
    """
    _execute(stores.database_url, f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    return attrs.evolve(stores, database_url=in_schema(stores.database_url))


def in_schema(url: str) -> str:
    """Return the URL of a connection that uses the demo's schema.

    >>> in_schema("postgresql://u@/seine?host=/run")
    'postgresql://u@/seine?host=/run&options=-csearch_path%3Dseine_demo'
    """
    return f"{url}{'&' if '?' in url else '?'}options={quote(f'-csearch_path={SCHEMA}')}"


async def clean(stores: Endpoints, folder: Path) -> tuple[list[str], bool]:
    """Remove all data of demos; return their crawls, and whether the schema existed.

    Raises:
        ConfigError: a demo still runs.
        StoreUnreachable: the database does not answer.
    """
    redis = redis_client(stores.redis_url)
    try:
        if running := [
            key async for key in redis.scan_iter(match="seine:taken:demo-*", count=1000)
        ]:
            name = running[0].decode().rpartition(":")[2]
            raise ConfigError(f"{name} still runs; end it first, with Ctrl-C where it was started")
        crawls = await _crawls(redis)
        for crawl in crawls:
            await Frontier(redis, crawl).erase()
            seeds = SeedKeys(f"{crawl}:start_urls")
            await redis.unlink(seeds.seeds, seeds.crawls)
    finally:
        await redis.aclose()
    had_schema = _execute(stores.database_url, f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    await asyncio.to_thread(_remove_logs, folder)
    return crawls, had_schema


def _remove_logs(folder: Path) -> None:
    for path in folder.glob("demo-*"):
        if _CRAWL.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)


async def _crawls(redis: Redis) -> list[str]:
    names = set()
    async for key in redis.scan_iter(match="{demo-*}:*", count=1000):
        name = key.decode("utf-8", "replace")[1:].partition("}")[0]
        if _CRAWL.fullmatch(name):
            names.add(name)
    return sorted(names)


def _execute(url: str, statement: str) -> bool:
    """Run a statement; return whether the demo's schema existed before."""
    try:
        with connected(url) as connection, connection, connection.cursor() as cursor:
            # Locked, because demos that start together would all create it; the commit unlocks.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (SCHEMA,))
            cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (SCHEMA,))
            existed = cursor.fetchone() is not None
            cursor.execute("SET LOCAL client_min_messages = warning")
            cursor.execute(statement)
    except psycopg2.Error as error:
        raise StoreUnreachable(f"PostgreSQL: {line_of(error)}") from None
    return existed
