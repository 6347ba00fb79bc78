"""The leader is killed at any moment: a standby goes on, no task twice, none missing."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs
import psycopg2
import pytest
from psycopg2.extras import execute_values
from redis import Redis

from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import Job
from crawler.stores.store_endpoints import redis_client
from scrapy_seine.frontier.encoding.codec import decode
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from tests import started
from tests.helpers import patient, wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
KILLS = 24
#: So many of the kills, the first, fall within a plan; the others at a moment of the dice.
WITHIN_A_PLAN = 4
#: A leader lives this long at most, s: its work would take some three times as long.
LONGEST_S = 0.6
SITES, SEEDS, MAPS, PRODUCTS = 10, 700, 600, 500
#: End of the name of each site's first full crawl, which is over.
FIRST = "full-first"
WANTED = {"full": SEEDS, "news": MAPS, "recrawl": PRODUCTS}


def plan(site: int) -> dict[str, object]:
    """A site with much to plan: a crawl, sitemaps, known products."""
    base = f"http://shop-{site}.example"
    return {
        "site_id": f"shop-{site}",
        "seeds": [f"{base}/c/{n}" for n in range(SEEDS)],
        "schedule": "* * * * *",
        "sitemaps": [f"{base}/maps/{n}.xml" for n in range(MAPS)],
        "watch_s": 60.0,
        "recrawl_s": 86_400.0,
    }


@attrs.define(eq=False)
class Coordinating:
    """Coordinators of one crawl, each a process with a log of its own."""

    arguments: tuple[str, ...]
    folder: Path
    alive: list[subprocess.Popen[bytes]] = attrs.Factory(list)
    started: int = 0

    def start(self) -> None:
        self.started += 1
        with self.log(self.started).open("wb") as out:
            process = started.Popen(
                [sys.executable, "-m", "tests.acceptance.coordinating", *self.arguments],
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        process.number = self.started  # type: ignore[attr-defined]
        self.alive.append(process)

    def log(self, number: int) -> Path:
        return self.folder / f"coordinator-{number}.log"

    def leader(self) -> subprocess.Popen[bytes] | None:
        for process in self.alive:
            text = self.log(process.number).read_text()  # type: ignore[attr-defined]
            if "this coordinator leads" in text:
                return process
        return None

    def awaited_leader(self) -> subprocess.Popen[bytes]:
        wait_until(self.leader, 30, "one of them leads")
        leads = self.leader()
        assert leads is not None
        return leads

    def kill_leader(self, after_s: float) -> None:
        """Wait until one leads, give it so long, and take it down."""
        leads = self.awaited_leader()
        time.sleep(after_s)
        self.kill(leads)

    def kill_leader_within_a_plan(self, is_planning: Callable[[], bool]) -> None:
        """Take the leader down where a plan of its is half made: it stands still while we look."""
        leads = self.awaited_leader()

        def stands_within_a_plan() -> bool:
            if not is_planning():
                return False
            leads.send_signal(signal.SIGSTOP)
            within = is_planning()
            if not within:
                leads.send_signal(signal.SIGCONT)
            return within

        # Without a pause, because a fast machine makes a plan in some ten milliseconds.
        until = time.monotonic() + patient(30)
        while not stands_within_a_plan():
            assert time.monotonic() < until, "no plan was ever seen half made"
        self.kill(leads)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.alive.remove(process)


@contextmanager
def coordinating(*arguments: str, folder: Path) -> Iterator[Coordinating]:
    made = Coordinating(arguments, folder)
    try:
        yield made
    finally:
        for process in made.alive:
            process.kill()
            process.wait()


def store_products(database_url: str) -> None:
    """Products that are all due."""
    long_ago = datetime.now(UTC) - timedelta(days=30)
    rows = [
        (
            f"shop-{site}",
            f"{n}",
            f"http://shop-{site}.example/p/{n}",
            "n",
            b"x",
            "{}",
            *[long_ago] * 3,
        )
        for site in range(SITES)
        for n in range(PRODUCTS)
    ]
    with psycopg2.connect(database_url) as connection, connection.cursor() as cursor:
        execute_values(
            cursor,
            "INSERT INTO products (site_id, external_id, url, name, content_hash, item,"
            " first_seen, scraped_at, updated_at) VALUES %s",
            rows,
        )
    connection.close()


async def finish_first_crawls(redis_url: str, crawl: str) -> None:
    """Each site was crawled before: while its first full crawl runs, nothing there is news."""
    redis = redis_client(redis_url)
    try:
        jobs = Jobs(Frontier(redis, crawl))
        for site in range(SITES):
            name = f"shop-{site}"
            await jobs.finish(
                await jobs.begin(f"{name}-{FIRST}", site_id=name, kind="full", urls=[])
            )
    finally:
        await redis.aclose()


async def tasks(redis_url: str, crawl: str) -> tuple[list[Job], Counter[tuple[str, str]]]:
    """The jobs, and how often each URL is in the frontier for each of them."""
    redis = redis_client(redis_url)
    frontier, found = Frontier(redis, crawl), Counter[tuple[str, str]]()
    try:
        await frontier.configure(delay_ms=0, concurrency=1_000_000, half_window_ms=60_000)
        jobs = [job for job in await Jobs(frontier).newest(1000) if not job.id.endswith(FIRST)]
        while leases := (await frontier.lease("w", 2000, ttl_ms=600_000)).leases:
            found.update((lease.job, str(decode(lease.blob)["url"])) for lease in leases)
        return jobs, found
    finally:
        await redis.aclose()


async def open_kinds(redis_url: str, crawl: str) -> set[str]:
    """Kinds of which a job has not all its tasks."""
    redis = redis_client(redis_url)
    try:
        jobs = await Jobs(Frontier(redis, crawl)).newest(1000)
        begun = [job for job in jobs if not job.id.endswith(FIRST)]
        return {job.kind for job in begun if not job.planned or job.total < WANTED[job.kind]}
    finally:
        await redis.aclose()


def test_whoever_leads_is_killed_and_every_task_is_there_once(
    redis_url, database, namespace, tmp_path
):
    redis_sync = Redis.from_url(redis_url)
    store_products(database)
    asyncio.run(finish_first_crawls(redis_url, namespace))
    dice = random.Random(namespace)
    plans = tmp_path / "plans.json"
    plans.write_text(json.dumps([plan(n) for n in range(SITES)]))
    arguments = (redis_url, namespace, database, str(plans))

    def is_planning() -> bool:
        return bool(asyncio.run(open_kinds(redis_url, namespace)))

    with coordinating(*arguments, folder=tmp_path) as fleet:
        cut = 0
        for _ in range(2):
            fleet.start()
        for number in range(KILLS):
            fleet.start()
            if number < WITHIN_A_PLAN:
                fleet.kill_leader_within_a_plan(is_planning)
            else:
                fleet.kill_leader(after_s=dice.uniform(0, LONGEST_S))
            cut += is_planning()

        def has_looked() -> bool:
            names = redis_sync.zrange(Keys(namespace).jobs, 0, -1)
            return sum(b"-recrawl-" in name for name in names) == SITES

        def settled() -> bool:
            # In this order: the last job may begin between the two.
            return has_looked() and not is_planning()

        # Whoever leads now lives, and completes what was left.
        wait_until(settled, 30, "nothing is left half planned")
    redis_sync.close()
    jobs, found = asyncio.run(tasks(redis_url, namespace))
    print(f"{KILLS} kills, {cut} in the middle of a plan, {len(jobs)} jobs, {len(found)} tasks")
    assert cut >= WITHIN_A_PLAN
    assert [key for key, times in found.items() if times > 1] == []
    counts = Counter(job for job, _ in found.elements())
    assert {job.kind for job in jobs} == set(WANTED)
    for job in jobs:
        # The last one may have been stopped in the middle of a job that it had just begun.
        if job.planned:
            assert (job.id, counts[job.id]) == (job.id, WANTED[job.kind])
            assert job.total == WANTED[job.kind]
