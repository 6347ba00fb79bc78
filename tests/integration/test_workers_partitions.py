"""Whole workers on a crawl in partitions: on one server, on a Cluster, and killed at random."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import inf
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from crawler.stores.store_endpoints import blocking_client
from scrapy_seine.config import FrontierConfig
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.model import Done, Push
from scrapy_seine.frontier.opening import frontier_of
from scrapy_seine.frontier.round_trips.exchange import Exchange
from scrapy_seine.frontier.which_partition import part_of_domain
from tests.benchmarks.server import free_port
from tests.helpers import patient, wait_until
from tests.integration import redis_fleet, roam
from tests.integration.frontier_kit import join_frontier

pytestmark = [pytest.mark.redis, pytest.mark.timeout(120)]
OF = 4


@contextmanager
def fleet(
    url: str, crawl: str, folder: Path, web: roam.Web, *how: str, workers: int
) -> Iterator[list[subprocess.Popen[bytes]]]:
    with blocking_client(url) as redis:
        redis.rpush(f"{crawl}:start_urls", web.url(0))
    with ExitStack() as stack:
        running = [roam.start(url, crawl, OF, folder / f"{n}.log", *how) for n in range(workers)]
        for worker in running:
            stack.callback(worker.wait)
        for worker in running:
            stack.callback(worker.kill)
        yield running


def said(folder: Path) -> str:
    return "\n".join(log.read_text()[-3000:] for log in sorted(folder.glob("*.log")))


def wait_for_end(running: list[subprocess.Popen[bytes]], folder: Path) -> None:
    wait_until(lambda: all(w.poll() is not None for w in running), 90, "every worker leaves")
    assert [w.returncode for w in running if w.returncode not in {0, -9}] == [], said(folder)


def leases(url: str, crawl: str) -> int:
    """Requests that workers hold, the dead ones too: 64 each at most."""
    with blocking_client(url) as redis:
        return sum(redis.zcard(part.leases) for part in Keys(crawl, OF).parts)


def left(url: str, crawl: str) -> list[int]:
    with blocking_client(url) as redis:
        keys = Keys(crawl, OF).parts
        boxes = [redis.xlen(part.outbox(n)) for part in keys for n in range(OF)]
        return [redis.hlen(part.requests) for part in keys] + boxes


def test_a_fleet_crawls_every_page_once_and_leaves_at_the_end(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    with (
        roam.web(400) as web,
        fleet(redis_url, namespace, tmp_path, web, "stays", workers=2) as running,
    ):
        wait_for_end(running, tmp_path)
    assert Counter(n for _, _, n in web.visits) == Counter(range(400)), said(tmp_path)
    assert not any(left(redis_url, namespace))


def test_killed_workers_lose_nothing_on_a_cluster(tmp_path: Path) -> None:
    """Four times a worker dies in the midst of it; what it held is fetched again, no more."""
    # The servers are this test's own. The slots of some names fall on two of three masters.
    namespace, folder = "roam", tmp_path / "cluster"
    folder.mkdir()
    dice, kills, total = random.Random(7), 4, 1200
    with (
        redis_fleet.cluster(folder) as url,
        roam.web(total) as web,
        fleet(url, namespace, tmp_path, web, workers=3) as running,
    ):
        for share in sorted(dice.uniform(0.05, 0.8) for _ in range(kills)):
            web.held_from = share * total
            wait_until(lambda s=share: len(web.visits) >= s * total, 60, "the crawl goes on")
            alive = [w for w in running if w.poll() is None]
            assert leases(url, namespace) <= 64 * len(running)
            victim = dice.choice(alive)
            victim.kill()
            victim.wait()
            running.append(roam.start(url, namespace, OF, tmp_path / f"{len(running)}.log"))
        web.held_from = inf
        wait_for_end(running, tmp_path)
        assert not any(left(url, namespace))
        with blocking_client(url) as redis:
            done = [redis.hget(k.counters, "done") for k in Keys(namespace, OF).parts]
            reaped = [redis.hget(k.counters, "reaped") or 0 for k in Keys(namespace, OF).parts]
            masters = {redis.get_node_from_key(k.requests).port for k in Keys(namespace, OF).parts}
    visits = Counter(n for _, _, n in web.visits)
    assert set(visits) == set(range(total)), said(tmp_path)
    # A lease that came back for each second fetch: of a worker that died, or whose machine let it
    # say nothing for the 2 s that a lease lives.
    assert sum(visits.values()) - total <= sum(map(int, reaped))
    assert sum(map(int, done)) == total, "each page was acked once"
    assert len(masters) == 3


async def test_a_server_that_is_away_holds_up_nobody_else(
    redis_client: Redis, namespace: str
) -> None:
    """What it was to be told waits, and is told once it is there."""
    f = frontier_of(redis_client, namespace, 2)
    here, away = (next(d for d in "abcdefgh" if part_of_domain(d, 2) == n) for n in (0, 1))
    await f.push([Push(domain=d, blob=b"", fingerprint=n) for n, d in enumerate([here, away] * 2)])

    def nothing(*_: object) -> None: ...

    config = FrontierConfig.from_settings({"FRONTIER_PARTITIONS": 2, "SEINE_READ_AHEAD": 2})
    exchange = Exchange(f, config, "w", arrived=nothing, confirmed=nothing, add_to_stat=nothing)
    await exchange.round_trip()
    first = [exchange.take(), exchange.take()]
    assert sorted(lease.domain for lease in first if lease) == sorted([here, away])
    exchange.endings.done += [Done(lease=lease) for lease in first if lease]
    f.parts[1].redis = Redis(port=free_port())
    with pytest.raises(RedisError):
        await exchange.round_trip()
    assert [done.lease.domain for done in exchange.endings.done] == [away]
    assert [lease.domain for lease in exchange.buffered] == [here]
    await f.parts[1].redis.aclose()
    f.parts[1].redis = redis_client
    await exchange.round_trip()
    assert not exchange.endings
    assert (await f.counts()).totals["done"] == 2


@pytest.mark.postgres
async def test_a_worker_with_another_number_of_partitions_says_so_in_a_line(
    redis_url: str, database: str, namespace: str, redis_client: Redis
) -> None:
    await join_frontier(redis_client, namespace, 4)
    given = {
        "REDIS_URL": redis_url,
        "DATABASE_URL": database,
        "SEINE_CRAWL": namespace,
        "FRONTIER_PARTITIONS": "2",
        "SCRAPY_PROJECT": "test",
    }
    for words in (["crawl", "catalog"], ["jobs", "start", "http://shop.example/"]):
        command = [sys.executable, "-m", "scrapy", *words]
        worker = await asyncio.create_subprocess_exec(
            *command, cwd=roam.ROOT, env={**os.environ, **given}, stderr=asyncio.subprocess.PIPE
        )
        _, told = await asyncio.wait_for(worker.communicate(), patient(60))
        (line,) = told.decode().splitlines()
        assert line.startswith("seine: FRONTIER_PARTITIONS=2, but crawl"), line
        assert "begun with 4" in line
        assert worker.returncode == 1


def test_a_worker_that_finds_out_late_leaves_all_as_it_is(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    """Between its first look and its joining somebody else began the crawl."""
    with (
        roam.web(20) as web,
        fleet(redis_url, namespace, tmp_path, web, workers=1) as running,
    ):
        wait_for_end(running, tmp_path)
        late = roam.start(redis_url, namespace, 2, tmp_path / "late.log")
        late.wait(patient(30))
    assert "begun with 4" in (tmp_path / "late.log").read_text()
