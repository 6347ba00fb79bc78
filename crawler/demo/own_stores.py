"""The demo's own place: a schema in PostgreSQL, crawls called demo-N in Redis, a folder of logs.

What a user crawls is never among what the demo stored: exports, counts and the dashboard of the
user's own crawl see none of it, and all of it can be taken away at once.
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

from crawler.stores.postgres_endpoint import Endpoints, redis_client
from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.sinks.postgres.database import connected, line_of

SCHEMA = "seine_demo"
_CRAWL = re.compile(r"demo-\d+")


def own_place(where: Endpoints) -> Endpoints:
    """The same stores, PostgreSQL with the demo's schema in the place of the usual one.

    Raises:
        StoreUnreachable: the database does not answer, or lets nobody make a schema.
    """
    _execute(where.database_url, f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    return attrs.evolve(where, database_url=in_schema(where.database_url))


def in_schema(url: str) -> str:
    """A connection whose tables are those of the demo's schema.

    >>> in_schema("postgresql://u@/seine?host=/run")
    'postgresql://u@/seine?host=/run&options=-csearch_path%3Dseine_demo'
    """
    return f"{url}{'&' if '?' in url else '?'}options={quote(f'-csearch_path={SCHEMA}')}"


async def clean(where: Endpoints, folder: Path) -> tuple[list[str], bool]:
    """Remove all that demos left; returns their crawls, and whether there was a schema.

    Raises:
        ConfigError: a demo still runs.
        StoreUnreachable: the database does not answer.
    """
    redis = redis_client(where.redis_url)
    try:
        if taken := [key async for key in redis.scan_iter(match="seine:taken:demo-*", count=1000)]:
            name = taken[0].decode().rpartition(":")[2]
            raise ConfigError(f"{name} still runs; end it first, with Ctrl-C where it was started")
        crawls = await _crawls(redis)
        for crawl in crawls:
            await Frontier(redis, crawl).erase()
            await redis.unlink(f"{crawl}:start_urls")
    finally:
        await redis.aclose()
    had = _execute(where.database_url, f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    await asyncio.to_thread(_remove_logs, folder)
    return crawls, had


def _remove_logs(folder: Path) -> None:
    for path in folder.glob("demo-*"):
        if _CRAWL.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)


async def _crawls(redis: Redis) -> list[str]:
    found = set()
    async for key in redis.scan_iter(match="{demo-*}:*", count=1000):
        name = key.decode("utf-8", "replace")[1:].partition("}")[0]
        if _CRAWL.fullmatch(name):
            found.add(name)
    return sorted(found)


def _execute(url: str, statement: str) -> bool:
    """Run a statement; returns whether the demo's schema was there before."""
    try:
        with connected(url) as connection, connection, connection.cursor() as cursor:
            # Demos that begin together would all find it missing; the commit gives the lock back.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (SCHEMA,))
            cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (SCHEMA,))
            was_there = cursor.fetchone() is not None
            cursor.execute("SET LOCAL client_min_messages = warning")
            cursor.execute(statement)
    except psycopg2.Error as error:
        raise StoreUnreachable(f"PostgreSQL: {line_of(error)}") from None
    return was_there
