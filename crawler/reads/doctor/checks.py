"""The checks of `scrapy doctor`. Pure: facts in, findings out.

The checked settings are traps of plain scrapy-redis on a current Scrapy: each one has stopped a
crawl, or emptied a queue that other workers used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from crawler.reads.catalogue_settings import TABLE
from crawler.reads.doctor.clocks import clock_findings
from crawler.reads.doctor.finding import Finding, Level
from crawler.stores.migrations import Damage, damage_texts
from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike, flag
from scrapy_seine.engine.settings_check import faults
from scrapy_seine.errors import ConfigError
from scrapy_seine.reads.formatting import share, size

#: Largest share of a limit (Redis' memory, PostgreSQL's connections) without a finding.
MAX_SHARE = 0.8
#: Longest round trip without a finding, seconds; a longer one limits a worker's speed.
MAX_ROUND_TRIP_S = 0.02
#: Largest number of domains or tables that a finding names.
_MAX_NAMES = 5
_OLDEST_REDIS = (6, 2)
_OLDEST_POSTGRES = 14
_SCRAPY_SERIES = "2.19."
#: The grants that a worker's role in PostgreSQL needs.
GRANT = (
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO its role, or name the "
    "tables' owner"
)
_ATTEMPT_DAYS = "run SELECT seine_attempt_days(7, 30) once a day as the owner"


def _ok(subject: str, text: str) -> Finding:
    return Finding("ok", subject, text)


def is_on(settings: SettingsLike, name: str) -> bool:
    """Whether a switch is on, or has an invalid value."""
    try:
        return flag(settings, name)
    except ConfigError:
        return True


def _names(settings: SettingsLike, name: str) -> set[str]:
    """Return the class names with a number in a setting such as ITEM_PIPELINES."""
    value = settings.get(name) or {}
    return {str(key) for key, order in dict(value).items() if order is not None}


def settings_findings(settings: SettingsLike) -> list[Finding]:
    """Judge the settings."""
    findings = [*_invalid_values(settings), *_components(settings), *_switches(settings)]
    return findings or [_ok("settings", "no trap found")]


def _invalid_values(settings: SettingsLike) -> Iterator[Finding]:
    for text in faults(settings, TABLE):
        yield Finding("fail", "settings", text, "correct it: no worker starts with it")


def _components(settings: SettingsLike) -> Iterator[Finding]:
    scheduler = str(settings.get("SCHEDULER", ""))
    if scheduler != "scrapy_seine.engine.scheduler.Scheduler":
        text = f"SCHEDULER is {scheduler}"
        if scheduler.startswith("scrapy_redis."):
            text += ": a killed worker loses what it held, and one bad seed ends the crawl"
        yield Finding("fail", "settings", text, "use scrapy_seine.engine.scheduler.Scheduler")
        if scheduler.startswith("scrapy_redis.") and not is_on(settings, "SCHEDULER_PERSIST"):
            text = "SCHEDULER_PERSIST is off: any worker that stops deletes everybody's queue"
            yield Finding("fail", "settings", text, "set SCHEDULER_PERSIST = True")
    if is_on(settings, "SCHEDULER_FLUSH_ON_START"):
        text = "SCHEDULER_FLUSH_ON_START asks every worker to delete the shared queue"
        yield Finding("fail", "settings", text, "remove it; `scrapy frontier clear` asks first")
    dupefilter = str(settings.get("DUPEFILTER_CLASS", ""))
    if dupefilter != "scrapy_seine.engine.dupefilter.DupeFilter":
        text = f"DUPEFILTER_CLASS is {dupefilter}: it filters within one process, or fails to start"
        yield Finding("fail", "settings", text, "use scrapy_seine.engine.dupefilter.DupeFilter")
    if "RedisStatsCollector" in str(settings.get("STATS_CLASS", "")):
        text = "RedisStatsCollector blocks the event loop and breaks LogStats since Scrapy 2.19"
        yield Finding("fail", "settings", text, "remove STATS_CLASS; /metrics shows the fleet")
    if "asyncio" not in str(settings.get("TWISTED_REACTOR", "")):
        text = "TWISTED_REACTOR is not the asyncio reactor, on which the frontier's client runs"
        yield Finding("fail", "settings", text, "use Scrapy's default reactor")
    if "scrapy_redis.pipelines.RedisPipeline" in _names(settings, "ITEM_PIPELINES"):
        text = "RedisPipeline keeps every item in Redis' memory, and no ack waits for it"
        yield Finding("warn", "settings", text, "use pipelines.upsert.Upsert")
    middlewares = dict(settings.get("DOWNLOADER_MIDDLEWARES") or {})
    builtin = "scrapy.downloadermiddlewares.retry.RetryMiddleware"
    if middlewares.get(builtin, 1) is not None:
        text = "Scrapy's RetryMiddleware is on: its retries stay in one process and die with it"
        yield Finding("fail", "settings", text, f"set {builtin} to None")


def _switches(settings: SettingsLike) -> Iterator[Finding]:
    consoles = {
        "REMOTE_CONTROL_ENABLED": "runs code that is sent to it",
        "TELNETCONSOLE_ENABLED": "opens a Python prompt on a port",
    }
    for name, danger in consoles.items():
        if is_on(settings, name):
            yield Finding("fail", "settings", f"{name} is on: it {danger}", f"set {name} = False")
    local_state = {
        "JOBDIR": "it keeps a local queue's state; the frontier's is in Redis",
        "HTTPCACHE_ENABLED": "pages come from a local cache, which no other worker shares",
    }
    for name, text in local_state.items():
        if settings.get(name) not in {None, "", 0, "0", "False", "false"}:
            yield Finding("warn", "settings", f"{name} is set: {text}", f"remove {name}")
    limit = 16
    items = str(settings.get("CONCURRENT_ITEMS"))
    if items.isdecimal() and int(items[:6]) > limit:
        text = "CONCURRENT_ITEMS makes as many tasks for each response: 2 ms of CPU at 100"
        yield Finding("warn", "settings", text, "set CONCURRENT_ITEMS = 4")


def version_findings(versions: Mapping[str, str | None]) -> list[Finding]:
    """Judge installed packages; None: not installed."""
    findings = []
    for name, version in versions.items():
        if version is None:
            findings.append(
                Finding(
                    "fail",
                    "versions",
                    f"{name} is not installed",
                    "install the project again: make demo",
                )
            )
        elif name == "scrapy" and not version.startswith(_SCRAPY_SERIES):
            text = f"scrapy {version}: the engine hooks are tested with {_SCRAPY_SERIES}x"
            findings.append(Finding("fail", "versions", text, f"install scrapy {_SCRAPY_SERIES}*"))
    installed = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    return findings or [_ok("versions", installed)]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class RedisFacts(Value):
    """Facts from Redis' own replies."""

    info: Mapping[str, Any]
    """Reply of INFO."""
    round_trip_s: float
    skew_s: float
    """This machine's clock minus Redis'."""
    old_keys: tuple[str, ...] = ()
    """Remaining keys of a plain scrapy-redis crawl."""


def redis_findings(facts: RedisFacts) -> list[Finding]:
    """Judge the frontier's server."""
    return [
        *_server(facts),
        *_memory(facts.info),
        *_persistence(facts.info),
        *_plain_scrapy_redis_keys(facts),
    ]


def _server(facts: RedisFacts) -> Iterator[Finding]:
    info = facts.info
    version = str(info.get("valkey_version") or info.get("redis_version", "0"))
    name = "Valkey" if "valkey_version" in info else "Redis"
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    is_too_old = numbers < _OLDEST_REDIS
    text = f"{name} {version} answers in {1000 * facts.round_trip_s:.1f} ms"
    advice = "use 6.2 or newer" if is_too_old else ""
    yield Finding("fail" if is_too_old else "ok", "redis", text, advice)
    if str(info.get("role")) == "slave":
        text = "REDIS_URL names a replica, which takes no writes"
        yield Finding("fail", "redis", text, "name the primary in REDIS_URL")
    if facts.round_trip_s > MAX_ROUND_TRIP_S:
        text = f"a round trip takes {1000 * facts.round_trip_s:.0f} ms"
        advice = "bring Redis closer, or raise SEINE_READ_AHEAD"
        yield Finding("warn", "redis", text, advice)
    clock_finding = _ok("clock", f"{1000 * abs(facts.skew_s):.0f} ms off Redis'")
    yield from clock_findings(facts.skew_s, "Redis") or [clock_finding]


def _memory(info: Mapping[str, Any]) -> Iterator[Finding]:
    policy = str(info.get("maxmemory_policy", "unknown"))
    limit_bytes, used_bytes = int(info.get("maxmemory", 0)), int(info.get("used_memory", 0))
    if policy != "noeviction":
        text = f"maxmemory-policy is {policy}: Redis drops requests when its memory is full"
        yield Finding("fail", "memory", text, "CONFIG SET maxmemory-policy noeviction")
    if int(info.get("evicted_keys", 0)):
        text = f"{info['evicted_keys']} keys were evicted: requests may be lost"
        yield Finding("fail", "memory", text, "crawl again once the policy is noeviction")
    total_bytes = int(info.get("total_system_memory", 0))
    ceiling_bytes = min(n for n in (limit_bytes, total_bytes, used_bytes * 100 + 1) if n > 0)
    text = f"{size(used_bytes)} in use, limit {size(limit_bytes) if limit_bytes else 'none'}"
    if used_bytes > MAX_SHARE * ceiling_bytes:
        advice = "give Redis more memory, or split the crawl over several"
        full_text = f"{text}: {share(used_bytes / ceiling_bytes)} full"
        yield Finding("fail" if limit_bytes else "warn", "memory", full_text, advice)
    elif not limit_bytes:
        advice = "set maxmemory below the machine's, so that writes are refused, not killed"
        yield Finding("warn", "memory", text, advice)
    else:
        yield _ok("memory", text)


def _persistence(info: Mapping[str, Any]) -> Iterator[Finding]:
    if int(info.get("aof_enabled", 0)):
        state = str(info.get("aof_last_write_status", "ok"))
        level: Level = "ok" if state == "ok" else "fail"
        yield Finding(level, "persistence", f"append-only file on, last write {state}")
    elif int(info.get("rdb_changes_since_last_save", 0)) or not info.get("rdb_last_save_time"):
        text = "no append-only file: a restart of Redis forgets up to all of the frontier"
        yield Finding("fail", "persistence", text, "set appendonly yes")
    else:
        text = "no append-only file, snapshots only: a restart repeats what came after the last"
        yield Finding("warn", "persistence", text, "set appendonly yes")
    if str(info.get("rdb_last_bgsave_status", "ok")) != "ok":
        text = "the last snapshot failed; Redis refuses writes by default"
        yield Finding("fail", "persistence", text, "look at the disk and at Redis' log")


def _plain_scrapy_redis_keys(facts: RedisFacts) -> Iterator[Finding]:
    if facts.old_keys:
        text = f"keys of plain scrapy-redis are left: {', '.join(facts.old_keys)}"
        advice = "`scrapy frontier import-scrapy-redis` takes them over; nothing reads them now"
        yield Finding("warn", "redis", text, advice)


def ladder_findings(waiting: Sequence[str]) -> list[Finding]:
    """Judge the domains that wait for a worker with a browser."""
    if not waiting:
        return []
    names = ", ".join(waiting[:_MAX_NAMES]) + (", …" if len(waiting) > _MAX_NAMES else "")
    text = f"{len(waiting)} domains need a browser worker; none is alive: {names}"
    advice = "start one with SEINE_BROWSER=1, or set SEINE_LADDER_CAP to pool"
    return [Finding("warn", "browser", text, advice)]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class PostgresFacts(Value):
    """Facts from PostgreSQL's own replies."""

    version: int
    """The major version."""
    damage: Damage
    skew_s: float
    connections: int
    """Connections in use."""
    max_connections: int
    read_only: bool = False
    """The server refuses writes: a standby, or a read-only role."""
    closed_tables: tuple[str, ...] = ()
    """Tables that this user may not read and write."""
    owner: bool = True
    """Whether this user has the rights of the tables' owner."""
    unfilled_columns: tuple[str, ...] = ()
    """NOT NULL columns without a default that our rows do not fill."""


def postgres_findings(facts: PostgresFacts, *, migrates_itself: bool = False) -> list[Finding]:
    """Judge the products' server; a start of a crawl may bring its schema up to date by itself."""
    is_too_old = facts.version < _OLDEST_POSTGRES
    findings = [
        Finding("fail", "postgresql", f"PostgreSQL {facts.version}", "use 14 or newer")
        if is_too_old
        else _ok("postgresql", f"PostgreSQL {facts.version} answers")
    ]
    damage = facts.damage
    if damage.pending and migrates_itself:
        count = len(damage.pending)
        text = f"lacks {count} migration{'s' * (count > 1)}; the next `scrapy crawl` applies them"
        findings.append(_ok("schema", text))
    elif damage.pending:
        text = f"the schema lacks {', '.join(damage.pending)}"
        findings.append(Finding("fail", "schema", text, "run `scrapy migrate`"))
    elif damage.tables or damage.columns:
        part = "table" if damage.tables else "column"
        text = f"the {part} {', '.join(damage.tables or damage.columns)} is gone"
        advice = "restore it from a backup, or empty the schema and run `scrapy migrate`"
        findings.append(Finding("fail", "schema", text, advice))
    else:
        findings.append(_ok("schema", "up to date"))
    if facts.read_only:
        text = "the server takes no writes: it is a standby, or the user's default is read-only"
        findings.append(Finding("fail", "postgresql", text, "name the primary in DATABASE_URL"))
    elif facts.closed_tables:
        names = ", ".join(facts.closed_tables[:_MAX_NAMES]) + (
            ", …" if len(facts.closed_tables) > _MAX_NAMES else ""
        )
        tables = f"{len(facts.closed_tables)} of the tables: {names}"
        text = f"the user of DATABASE_URL may not write or not read {tables}"
        findings.append(Finding("fail", "postgresql", text, GRANT))
    elif not facts.owner:
        text = "the user of DATABASE_URL does not own the log of attempts: no old day is dropped"
        findings.append(Finding("warn", "postgresql", text, _ATTEMPT_DAYS))
    if facts.unfilled_columns:
        text = (
            f"no row is taken, because nothing fills the column {', '.join(facts.unfilled_columns)}"
        )
        advice = "ALTER TABLE … ALTER COLUMN … SET DEFAULT …, or DROP NOT NULL"
        findings.append(Finding("fail", "schema", text, advice))
    findings += [Finding("warn", "schema", *told) for told in damage_texts(damage)]
    if facts.connections > MAX_SHARE * facts.max_connections:
        text = f"{facts.connections} of {facts.max_connections} connections are in use"
        findings.append(Finding("warn", "postgresql", text, "raise the limit, or use PgBouncer"))
    return [*findings, *clock_findings(facts.skew_s, "PostgreSQL")]


def browser_findings(
    program: str | None, playwright: str | None, *, required: bool = False
) -> list[Finding]:
    """Judge the browser lane's program and package; both are optional unless *required*."""
    if program and playwright:
        return [_ok("browser", f"{program}, scrapy-playwright {playwright}")]
    missing_parts = [
        *([] if program else ["the browser's program"]),
        *([] if playwright else ["scrapy-playwright"]),
    ]
    text = f"{' and '.join(missing_parts)} not found: no page can be rendered here"
    advice = "install scrapy-seine[browser] and chromium (or firefox-esr), if sites need it"
    return [Finding("fail" if required else "warn", "browser", text, advice)]
