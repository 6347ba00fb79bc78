"""The demo: a shop, a fleet of workers that crawls it, and a verdict on the stored rows."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import orjson
from redis.asyncio import Redis

from crawler.demo.catalogue import catalogue
from crawler.demo.judge import Verdict, judge
from crawler.demo.progress import Meter, Progress
from crawler.demo.shop_process import served
from crawler.demo.stored_rows import forget, stored_products
from crawler.demo.worker_processes import Fleet, Worker, fleet
from crawler.stores.migrations import migrate
from crawler.stores.store_endpoints import Endpoints, redis_client
from scrapy_seine.attrs_bases import Record, Value
from scrapy_seine.frontier.frontier import Frontier

#: Duration of a lease, seconds; short, so that a dead worker's leases return soon.
LEASE_S = 3
#: Number of rows to show.
SAMPLE = 10
#: Seconds between two readings of the counters.
LOOK_S = 0.25
#: Time for which a dead demo's name stays reserved, seconds.
NAME_S = 30
#: The shop's latency, as in a real shop; without it, the first worker would crawl the shop before
#: the second one has joined.
LATENCY_MS = 100
#: A demo's worker ends after this time, even when the demo itself was killed, seconds.
LIMIT_S = 3600


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Options(Value):
    """Options of one demo."""

    products: int = 1000
    workers: int = 2
    kill: bool = False
    """Kill one worker half way, and start another."""
    folder: Path = Path(".seine")
    """Folder of the logs."""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Outcome(Value):
    """The result of a demo."""

    crawl: str
    verdict: Verdict
    seconds: float
    progress: Progress
    failed: tuple[Worker, ...]
    """Workers that failed without being killed."""
    killed: bool
    """Whether a worker was killed."""
    wanted_kill: bool
    """Whether the options ask to kill a worker."""
    sample: Sequence[Mapping[str, Any]]
    """SAMPLE rows at even distances."""
    folder: Path
    """Folder of the logs."""

    @property
    def passed(self) -> bool:
        """Whether the rows are right and no worker failed."""
        return self.verdict.passed and not self.failed and self.killed == self.wanted_kill


@attrs.frozen(eq=False, repr=False)
class Audience(Value):
    """Callbacks that show the demo's progress."""

    report: Callable[[str], None]
    """Called with a line for each event."""
    show: Callable[[Progress], None]
    """Called after each reading of the counters."""


@asynccontextmanager
async def reserved_name(redis: Redis) -> AsyncIterator[str]:
    """Reserve the first free name of demo-1, demo-2 … during the block."""
    number = 1
    while not await redis.set(_reservation_key(f"demo-{number}"), "1", nx=True, ex=NAME_S):
        number += 1
    try:
        yield f"demo-{number}"
    finally:
        await redis.delete(_reservation_key(f"demo-{number}"))


def _reservation_key(crawl: str) -> str:
    return f"seine:taken:{crawl}"


async def run(stores: Endpoints, options: Options, audience: Audience) -> Outcome:
    """Crawl the demo shop and judge the rows.

    Raises:
        RuntimeError: the shop did not start.
        StoreError: a store failed.
    """
    redis = redis_client(stores.redis_url)
    try:
        async with reserved_name(redis) as crawl:
            return await _run(redis, crawl, stores, options, audience)
    finally:
        await redis.aclose()


async def _run(
    redis: Redis, crawl: str, stores: Endpoints, options: Options, audience: Audience
) -> Outcome:
    frontier, seeds = Frontier(redis, crawl), f"{crawl}:start_urls"
    folder = options.folder / crawl
    await frontier.erase()
    await redis.unlink(seeds)
    migrate(stores.database_url)
    forget(stores.database_url, crawl)
    settings = {
        "SEINE_CRAWL": crawl,
        "FRONTIER_PARTITIONS": 1,
        "REDIS_START_URLS_KEY": "%(crawl)s:start_urls",
        "SEINE_LEASE_SECONDS": LEASE_S,
        "SEINE_KEEP_ALIVE": 0,
        "CLOSESPIDER_TIMEOUT": LIMIT_S,
    }
    environment = {"REDIS_URL": stores.redis_url, "DATABASE_URL": stores.database_url}
    environment["no_proxy"] = "*"  # a proxy of the environment does not reach this machine's shop
    with (
        served(products=options.products, latency_ms=LATENCY_MS) as shop,
        fleet(settings, environment, folder) as workers,
    ):
        audience.report(f"{options.products:,} products are on show at {shop.url}")
        audience.report(f"lpush {seeds} {shop.url}")
        await redis.lpush(seeds, orjson.dumps({"url": shop.url, "meta": {"site_id": crawl}}))
        for _ in range(options.workers):
            _introduce(workers.start(), audience)
        began = time.monotonic()
        progress = await _watch(redis, frontier, workers, options, audience)
        seconds = time.monotonic() - began
        killed = any(worker.killed for worker in workers.workers)
    rows = stored_products(stores.database_url, crawl)
    return Outcome(
        crawl=crawl,
        verdict=judge(catalogue(options.products), rows),
        seconds=seconds,
        progress=progress,
        failed=tuple(workers.failed),
        killed=killed,
        wanted_kill=options.kill,
        sample=rows[:: max(1, len(rows) // SAMPLE)][:SAMPLE],
        folder=folder,
    )


async def _watch(
    redis: Redis, frontier: Frontier, workers: Fleet, options: Options, audience: Audience
) -> Progress:
    """Show progress until every worker has ended."""
    meter, pages = Meter(time.monotonic()), Pages(redis, frontier)
    to_kill, task = options.kill, asyncio.current_task()
    while True:
        alive = bool(workers.alive)
        totals = (await frontier.counts()).totals
        progress = meter.read(time.monotonic(), totals, await pages.shares(workers))
        audience.show(progress)
        if not alive:
            return progress
        if to_kill and progress.done >= options.products / 2:
            to_kill = False
            _replace(workers, audience)
        await redis.expire(_reservation_key(frontier.keys.crawl), NAME_S)
        await asyncio.sleep(LOOK_S)
        if task is not None and task.cancelling():
            raise asyncio.CancelledError  # a client swallowed the cancellation while connecting


def _introduce(worker: Worker, audience: Audience) -> None:
    audience.report(f"{worker.name}: scrapy crawl catalog, log in {os.path.relpath(worker.log)}")


def _replace(workers: Fleet, audience: Audience) -> None:
    victim = workers.alive[0]
    victim.kill()
    audience.report(f"{victim.name}: killed with SIGKILL; what it held returns in {LEASE_S} s")
    _introduce(workers.start(), audience)


@attrs.define(eq=False, repr=False)
class Pages(Record):
    """Reads the pages by worker, from the workers' reports and logs."""

    redis: Redis
    frontier: Frontier
    _by_pid: dict[int, int] = attrs.Factory(dict)

    async def shares(self, workers: Fleet) -> dict[str, int]:
        """Pages by worker; a worker that has ended keeps its last number."""
        infos = await self.redis.hvals(self.frontier.keys.worker_info)
        for info in map(orjson.loads, infos):
            self._by_pid[info["pid"]] = info["pages"]
        for worker in workers.workers:
            self._by_pid[worker.pid] = worker.pages or self._by_pid.get(worker.pid, 0)
        return {w.name.removeprefix("worker "): self._by_pid[w.pid] for w in workers.workers}
