"""The facts that `scrapy doctor` judges: read from both stores and the installed packages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import psycopg2
from psycopg2 import errors
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from crawler.access.browser_programs import NAMES, find_browser
from crawler.access.ladder_store import LadderStore
from crawler.access.shared_state import fleet_name
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.reads.doctor import checks
from crawler.reads.doctor.checks import PostgresFacts, RedisFacts
from crawler.reads.doctor.environment_checks import environment_findings
from crawler.reads.doctor.finding import Finding
from crawler.reads.doctor.start_checks import FetchOptions, job_findings, start_findings
from crawler.stores.migrations import damage
from crawler.stores.queries import filled_columns
from crawler.stores.store_endpoints import Endpoints, redis_client
from scrapy_seine.broken_imports import BrokenFile
from scrapy_seine.config import SettingsLike, flag
from scrapy_seine.errors import ConfigError, SeineError
from scrapy_seine.frontier import find as find_frontier
from scrapy_seine.frontier.round_trips.server_clock import server_time_s
from scrapy_seine.printable import redact
from scrapy_seine.reads.fleet import read_fleet
from scrapy_seine.store_errors import first_line, with_advice

_PACKAGES = ("scrapy", "scrapy-redis", "redis", "psycopg2-binary", "aiohttp", "prometheus-client")
_TIMEOUT_S = 10


async def examine(
    settings: SettingsLike,
    stores: Endpoints,
    spider: str,
    site_options: Sequence[FetchOptions] = (),
    broken: Sequence[BrokenFile] = (),
) -> list[Finding]:
    """Run all checks; a store that does not answer is a finding."""
    return [
        *checks.settings_findings(settings),
        *start_findings(settings, site_options, broken),
        *await asyncio.to_thread(environment_findings, settings, spider),
        *checks.version_findings({name: installed(name) for name in _PACKAGES}),
        *await _redis(stores.redis_url, spider),
        *await _ladder(stores.redis_url, fleet_name(settings)),
        *await _jobs(stores.redis_url, str(settings.get("SEINE_CRAWL") or spider)),
        *await asyncio.to_thread(
            _postgres, stores.database_url, migrates_itself=flag(settings, "SEINE_EMBEDDED")
        ),
        *_browser(settings),
    ]


def installed(package: str) -> str | None:
    """Version of an installed package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _browser(settings: SettingsLike) -> Sequence[Finding]:
    kind = str(settings.get("PLAYWRIGHT_BROWSER_TYPE") or "chromium")
    path = str(settings.get("SEINE_BROWSER_PATH") or "")
    required = checks.is_on(settings, "SEINE_BROWSER")
    if kind not in NAMES:
        return []  # the value is a finding already
    try:
        program = "a remote browser" if _is_remote(settings) else find_browser(path, kind)
    except ConfigError as error:
        if path:
            return [Finding("fail", "browser", str(error), "correct it, or unset it")]
        program = ""
    return checks.browser_findings(program, installed("scrapy-playwright"), required=required)


def _is_remote(settings: SettingsLike) -> bool:
    return any(settings.get(f"PLAYWRIGHT_{way}_URL") for way in ("CDP", "CONNECT"))


async def _redis(url: str, spider: str) -> Sequence[Finding]:
    if not url:
        return []  # that there is none is a finding already
    redis = redis_client(url)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            return checks.redis_findings(await _redis_facts(redis, spider))
    except (RedisError, OSError, TimeoutError) as error:
        text = redact(f"{url}: {with_advice(str(error) or type(error).__name__)}")
        return [Finding("fail", "redis", text, "check REDIS_URL and the server")]
    finally:
        await redis.aclose()


async def _ladder(url: str, fleet: str) -> Sequence[Finding]:
    if not url:
        return []
    redis = redis_client(url)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            return checks.ladder_findings(await LadderStore(redis, fleet).waiting())
    except (RedisError, OSError, TimeoutError):
        return []  # the server is a finding already
    finally:
        await redis.aclose()


async def _jobs(url: str, crawl: str) -> Sequence[Finding]:
    """Check that running jobs have workers, and requests in the frontier.

    Redis may answer, and refuse the scripts and channels of workers all the same.
    """
    if not url:
        return []
    redis = redis_client(url)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            frontier = await find_frontier(redis, crawl)
            running = await Jobs(frontier).running()
            fleet = await read_fleet(redis, crawl)
            idle = await frontier.idle()
            for channel in frontier.channels:
                await redis.publish(channel, "ready")  # workers ask once more than they would
            return job_findings(running, idle=idle, workers=len(fleet.alive))
    except ResponseError as error:
        text = f"refuses what workers need: {with_advice(first_line(error))}"
        return [Finding("fail", "redis", text, "let it accept that; docs/deploying.md")]
    except (RedisError, OSError, TimeoutError):
        return []  # the server is a finding already
    finally:
        await redis.aclose()


async def _redis_facts(redis: Redis, spider: str) -> RedisFacts:
    client: Any = redis
    await client.ping()
    asked_at = time.perf_counter()
    now_s = await server_time_s(client)
    round_trip_s = time.perf_counter() - asked_at
    skew_s = time.time() - round_trip_s / 2 - now_s
    names = [f"{spider}:requests", f"{spider}:dupefilter"]
    old_keys = [name for name in names if await client.exists(name)]
    info = await client.info()
    return RedisFacts(info=info, round_trip_s=round_trip_s, skew_s=skew_s, old_keys=tuple(old_keys))


def _postgres(url: str, *, migrates_itself: bool = False) -> Sequence[Finding]:
    if not url:
        return []  # that there is none is a finding already
    try:
        return checks.postgres_findings(_postgres_facts(url), migrates_itself=migrates_itself)
    except errors.InsufficientPrivilege as error:
        text = redact(" ".join(f"{url}: {error}".split()))
        return [Finding("fail", "postgresql", text, checks.GRANT)]
    except (psycopg2.Error, SeineError, ValueError) as error:
        text = redact(" ".join(f"{url}: {error}".split()))
        return [Finding("fail", "postgresql", text, "check DATABASE_URL and the server")]


def _postgres_facts(url: str) -> PostgresFacts:
    with (
        closing(psycopg2.connect(url, connect_timeout=_TIMEOUT_S)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "SELECT extract(epoch FROM clock_timestamp())::float8,"
            " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),"
            " current_setting('max_connections')::int,"
            " current_setting('transaction_read_only') = 'on'"
        )
        now_s, connections, max_connections, read_only = cursor.fetchone() or (
            time.time(),
            0,
            0,
            False,
        )
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')"
            # A partition is written through its parent. One call a privilege, because a list of
            # privileges is true if the user has any of them.
            " AND NOT c.relispartition AND NOT (has_table_privilege(c.oid, 'SELECT')"
            " AND (c.relname = 'seine_migrations' OR has_table_privilege(c.oid, 'INSERT')"
            " AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')))"
            " ORDER BY c.relname"
        )
        closed_tables = tuple(name for (name,) in cursor)
        cursor.execute(
            "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class"
            " WHERE oid = to_regclass('attempts')"
        )
        (owner,) = cursor.fetchone() or (True,)
        cursor.execute(
            "SELECT c.relname, a.attname FROM pg_attribute a"
            " JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND a.attnum > 0"
            " AND a.attnotnull AND NOT a.attisdropped AND NOT a.atthasdef AND a.attidentity = ''"
            " ORDER BY 1, 2"
        )
        filled_by_table = filled_columns()
        unfilled_columns = tuple(
            f"{t}.{c}" for t, c in cursor if c not in filled_by_table.get(t, {c})
        )
        return PostgresFacts(
            version=connection.server_version // 10000,
            damage=damage(cursor),
            skew_s=time.time() - now_s,
            connections=connections,
            max_connections=max_connections,
            read_only=read_only,
            closed_tables=closed_tables,
            owner=owner,
            unfilled_columns=unfilled_columns,
        )
