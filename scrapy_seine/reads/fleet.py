"""The fleet at one moment: read in two round trips, whatever the size of the crawl."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from redis.asyncio import Redis

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier import find as find_frontier
from scrapy_seine.frontier.encoding.codec import decode
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Counts
from scrapy_seine.frontier.round_trips.server_clock import server_time_s
from scrapy_seine.lenient_parsing import real, record, whole_number, word
from scrapy_seine.meta import CREATED_AT, is_own
from scrapy_seine.printable import printable, redact
from scrapy_seine.reads.domains import Domain, free_slots, read_domains

#: Ready domains read to estimate the due-now backlog; beyond them it is extrapolated.
SAMPLE = 100
#: Workers listed, at most: those with the latest heartbeats.
MAX_WORKERS = 1000


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Worker(Value):
    """One worker, as described in its last heartbeat."""

    name: str
    alive: bool
    expires_in_s: float
    """Seconds until its heartbeat counts as missing; negative: it is missing."""
    host: str = ""
    pid: int = 0
    started: float = 0.0
    """Unix time."""
    pages: int = 0
    items: int = 0
    active: int = 0
    buffered: int = 0
    version: str = ""
    cpu: float | None = None
    """Share of one core, between its last two heartbeats."""
    memory_bytes: int = 0
    urls: Sequence[str] = ()
    """Some of the pages that it was working on."""
    waits: str = ""
    """Which page has not ended for long, and what it waits for."""

    def rate(self, now_s: float) -> float:
        """Pages per minute since its start."""
        ran_s = now_s - self.started
        return 60 * self.pages / ran_s if self.started and ran_s > 1 else 0.0


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Fleet(Value):
    """Counters, workers and pressure of one crawl."""

    crawl: str
    partitions: int
    at: float
    """Redis' clock, Unix seconds."""
    counts: Counts
    workers: Sequence[Worker]
    due_now: int
    """Requests that could be sent now; exact up to SAMPLE ready domains."""
    oldest_s: float
    """Age of the next request to be leased; 0: none is ready."""
    lateness_s: float
    """How long due work has waited for a worker to ask."""
    clock_skew_s: float
    """This machine's clock minus Redis'."""
    memory_bytes: int
    memory_limit_bytes: int
    """0: Redis has no limit of its own."""
    read_s: float

    @property
    def alive(self) -> list[Worker]:
        """Workers whose heartbeat is fresh."""
        return [worker for worker in self.workers if worker.alive]


async def read_fleet(redis: Redis, crawl: str) -> Fleet:
    """Read one crawl's state.

    Raises:
        RedisError: Redis does not answer.
    """
    began = time.perf_counter()
    frontier = await find_frontier(redis, crawl)
    k, pipe = frontier.keys, redis.pipeline(transaction=False)
    # Every partition has each worker.
    pipe.zrevrange(k.parts[0].workers, 0, MAX_WORKERS - 1, withscores=True)
    for part in k.parts:
        pipe.zrange(part.ready, 0, SAMPLE // len(k.parts) - 1)
        pipe.zrange(part.waiting, 0, 0, withscores=True)
        pipe.zrange(part.delayed, 0, 0, withscores=True)
    # Pipelines of a Cluster only take commands with a key.
    now_s, memory = await asyncio.gather(server_time_s(redis), redis.info("memory"))
    beats, *heads = await pipe.execute()
    ready = [word(name) for names in heads[::3] for name in names]
    next_due = [*heads[1::3], *heads[2::3]]
    skew_s = time.time() - now_s
    counts = await frontier.counts()
    domains = await read_domains(redis, k, ready, now_s)
    overdue = await _overdue(redis, frontier, now_s)
    return Fleet(
        crawl=crawl,
        partitions=len(frontier.parts),
        at=now_s,
        counts=counts,
        workers=await _workers(redis, frontier, beats, now_s),
        due_now=0
        if counts.paused
        # Moving them needs a worker.
        else counts.moving
        + min(_due(domains, counts.domains_ready) + overdue, counts.ready + counts.delayed),
        oldest_s=await _oldest(redis, frontier, domains, now_s),
        lateness_s=_lateness(next_due, now_s),
        clock_skew_s=skew_s,
        memory_bytes=int(memory.get("used_memory", 0)),
        memory_limit_bytes=int(memory.get("maxmemory", 0)),
        read_s=time.perf_counter() - began,
    )


def _due(sample: Sequence[Domain], ready_count: int) -> int:
    """Return the requests that the ready domains would lease now, extrapolated from a sample."""
    if not sample:
        return 0
    available = sum(free_slots(domain) for domain in sample)
    return round(available * max(ready_count, len(sample)) / len(sample))


async def _overdue(redis: Redis, frontier: Frontier, now_s: float) -> int:
    """Count due domains and delayed requests that no worker has asked for yet."""
    now_ms, pipe = int(now_s * 1000), redis.pipeline(transaction=False)
    for part in frontier.keys.parts:
        pipe.zcount(part.waiting, "-inf", now_ms)
        pipe.zcount(part.delayed, "-inf", now_ms)
    overdue: list[int] = await pipe.execute()
    return sum(overdue)


def _lateness(heads: Sequence[Any], now_s: float) -> float:
    due_times = [score / 1000 for head in heads for _, score in head]
    return float(max([0.0, *(now_s - due_s for due_s in due_times)]))


async def _oldest(redis: Redis, frontier: Frontier, ready: Sequence[Domain], now_s: float) -> float:
    """Return the age of the first request of the domain that is served next."""
    if not ready:
        return 0.0
    client: Any = redis
    part = frontier.part(ready[0].name)
    head = await client.zrange(part.keys.queue(ready[0].name), 0, 0)
    (stored,) = await part.dictionaries.unpack_stored(
        [await client.hget(part.keys.requests, head[0]) if head else None]
    )
    if not stored:
        return 0.0
    meta = meta_of(stored_fields(stored))
    created = 0.0 if is_own(meta, CREATED_AT) else real(meta.get(CREATED_AT))
    return max(0.0, now_s - created) if created else 0.0


def meta_of(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the meta of a stored request; {} if it is no mapping."""
    meta = fields.get("meta")
    return meta if isinstance(meta, dict) else {}


def stored_fields(stored: bytes) -> dict[str, Any]:
    """Decode the fields of a stored request; {} if that fails (I8)."""
    try:
        return shown_fields(decode(stored.partition(b"\n")[2]))
    except DecodeError:
        return {}


def shown_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a stored request without credentials, for display."""
    redacted = {**fields, "url": redact(str(fields.get("url")))}
    if isinstance(headers := fields.get("headers"), dict):
        redacted["headers"] = {
            name: "***" if word(name).lower() in _SECRET_HEADERS else value
            for name, value in headers.items()
        }
    if isinstance(meta := fields.get("meta"), dict):
        redacted["meta"] = {
            name: redact(value) if isinstance(value, str) else value for name, value in meta.items()
        }
    if fields.get("cookies"):
        redacted["cookies"] = "***"
    return redacted


async def _workers(
    redis: Redis, frontier: Frontier, beats: Sequence[tuple[bytes, float]], now_s: float
) -> list[Worker]:
    if not beats:
        return []
    client: Any = redis
    infos = await client.hmget(frontier.keys.parts[0].worker_info, [name for name, _ in beats])
    rows = zip(beats, infos, strict=True)
    return sorted(
        (_worker(word(name), expires / 1000 - now_s, info) for (name, expires), info in rows),
        key=lambda worker: (not worker.alive, worker.name),
    )


def _worker(name: str, expires_in_s: float, info: bytes | None) -> Worker:
    fields = record(info)
    values: dict[str, Any] = {name: whole_number(fields.get(name)) for name in _NUMBERS}
    values |= {"waits": redact(printable(str(fields.get("waits", ""))))}
    values |= {"host": str(fields.get("host", "")), "started": real(fields.get("started"))}
    values |= {
        "version": str(fields.get("version", "")),
        "memory_bytes": whole_number(fields.get("memory")),
    }
    values |= {
        "cpu": real(fields["cpu"]) if "cpu" in fields else None,
        "urls": _texts(fields.get("urls")),
    }
    return Worker(name=name, alive=expires_in_s > 0, expires_in_s=round(expires_in_s, 1), **values)


def _texts(raw: Any) -> list[str]:
    return [redact(text) for text in raw if isinstance(text, str)] if isinstance(raw, list) else []


_SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie"})
_NUMBERS = ("pid", "pages", "items", "active", "buffered")


async def crawl_names(redis: Redis) -> list[str]:
    """Return the names of the crawls in a Redis, sorted.

    Raises:
        RedisError: Redis does not answer.
    """
    names = set()
    async for key in redis.scan_iter(match="{*}:control", count=1000):
        names.add(key.decode("utf-8", "replace").removeprefix("{").removesuffix("}:control"))
    return sorted(name for name in names if "/" not in name)  # a slash: a partition's keys
