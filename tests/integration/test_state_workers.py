"""I12 with real workers: what they say of a crawl that Redis lost, or forgot in part."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis

from scrapy_seine.engine.ending.exit_status import BAD_ENDS
from tests.benchmarks.server import free_port
from tests.helpers import wait_until_async
from tests.integration import redis_fleet
from tests.integration.politeness.crawl import Crawl, stat
from tests.integration.politeness.site import serve

pytestmark = pytest.mark.timeout(180)
SETTINGS = {"SEINE_LEASE_SECONDS": 5}


class Server:
    """A Redis server of a test's own, which may be killed and begin again with an older file."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.stack, self.folder, self.port = stack, folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        options = ["--port", self.port, "--bind", "127.0.0.1", "--dir", self.folder, "--save", ""]
        self.process = redis_fleet.start(self.stack, *options)
        redis_fleet.wait_for(self.port)

    def fall_back(self, copy: Path) -> None:
        """Die, and return with an older state."""
        self.process.kill()
        self.process.wait()
        shutil.copy(copy, self.folder / "dump.rdb")
        self.start()


def several(site: Any, n: int) -> Any:
    return lambda: _now(len(site.arrivals) >= n)


def logged(crawl: Crawl, words: str) -> Any:
    """Ask whether the first worker has logged some words; it writes at the same time."""
    return lambda: _now(words in os.pread(crawl._logs[0].fileno(), 1 << 24, 0).decode())


async def _now(value: bool) -> bool:
    return value


async def test_a_flushed_server_is_no_finished_crawl(tmp_path: Path, namespace: str) -> None:
    with ExitStack() as stack:
        server = Server(stack, tmp_path)
        async with (
            serve(latency_s=0.05) as site,
            Crawl(server.url, namespace, SETTINGS) as crawl,
            Redis.from_url(server.url) as redis,
        ):
            await crawl.start(3)
            site.hold(200)
            await crawl.seed(site.pages(600))
            await wait_until_async(several(site, 100), 60, "the crawl is on its way")
            await redis.flushall()
            site.release()
            logs = await crawl.finish(60)
            assert "state_lost" in BAD_ENDS  # of which `scrapy crawl` makes exit status 1
            assert all("'finish_reason': 'state_lost'" in log for log in logs)
            assert all(log.count("state_lost: ") == 1 for log in logs)
            assert stat(logs, "seine/state_lost") == 3
            assert not await redis.keys(f"{{{namespace}}}:requests")


async def test_a_server_that_falls_back_costs_work_and_no_page(
    tmp_path: Path, namespace: str
) -> None:
    with ExitStack() as stack:
        server = Server(stack, tmp_path)
        async with (
            serve(latency_s=0.05) as site,
            Crawl(server.url, namespace, SETTINGS) as crawl,
        ):
            await crawl.start(3)
            site.hold(100)
            await crawl.seed(site.pages(300))
            await wait_until_async(several(site, 60), 60, "the crawl is on its way")
            async with Redis.from_url(server.url) as redis:
                await redis.save()
                shutil.copy(tmp_path / "dump.rdb", tmp_path / "older.rdb")
                # These are in no older state: whoever claimed them pushes them again.
                await redis.rpush(f"{namespace}:seeds", *site.pages(330)[300:])
            site.hold(250)
            await wait_until_async(several(site, 220), 60, "it went on")
            await asyncio.to_thread(server.fall_back, tmp_path / "older.rdb")
            site.release()
            logs = await crawl.finish(90)
            assert {worker.returncode for worker in crawl.workers} == {0}
            assert stat(logs, "seine/state_rolled_back") >= 3
            visits = Counter(path for _, path in site.arrivals)
            assert len(visits) == 330


async def test_a_worker_that_redis_refuses_to_let_join_anew_waits_and_goes_on(
    tmp_path: Path, namespace: str
) -> None:
    """A full memory, of which an eviction took the crawl, is no end of a worker that stays."""
    settings = {**SETTINGS, "SEINE_KEEP_ALIVE": 1}
    with ExitStack() as stack:
        server = Server(stack, tmp_path)
        async with (
            serve(latency_s=0.05) as site,
            Crawl(server.url, namespace, settings) as crawl,
            Redis.from_url(server.url) as redis,
        ):
            await crawl.start()
            await crawl.seed(site.pages(300))
            await wait_until_async(several(site, 20), 60, "the crawl is on its way")
            await redis.config_set("maxmemory", 1)
            await redis.delete(f"{{{namespace}}}:control")
            await wait_until_async(logged(crawl, "joins no crawl"), 60, "it is refused")
            await redis.config_set("maxmemory", 0)
            await wait_until_async(logged(crawl, "anew"), 60, "it has joined")
            new = site.pages(320)[300:]
            await redis.rpush(f"{namespace}:seeds", *new)
            await wait_until_async(
                lambda: _now({urlsplit(url).path for url in new} <= {p for _, p in site.arrivals}),
                60,
                "new seeds are crawled",
            )
            crawl.workers[0].terminate()
            (text,) = await crawl.finish(60)
            assert "never retrieved" not in text
            assert text.count("Redis refuses: ") >= 1
