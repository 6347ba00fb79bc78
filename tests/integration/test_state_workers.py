"""I12 with real workers: what they say of a crawl that Redis lost, or forgot in part."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from scrapy_seine.engine.scheduler import BAD_ENDS
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
            await crawl.seed(site.pages(600))
            await wait_until_async(several(site, 100), 60, "the crawl is on its way")
            await redis.flushall()
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
            await crawl.seed(site.pages(300))
            await wait_until_async(several(site, 60), 60, "the crawl is on its way")
            async with Redis.from_url(server.url) as redis:
                await redis.save()
                shutil.copy(tmp_path / "dump.rdb", tmp_path / "older.rdb")
                # These are in no older state: whoever claimed them pushes them again.
                await redis.rpush(f"{namespace}:seeds", *site.pages(330)[300:])
            await wait_until_async(several(site, 220), 60, "it went on")
            await asyncio.to_thread(server.fall_back, tmp_path / "older.rdb")
            logs = await crawl.finish(90)
            assert {worker.returncode for worker in crawl.workers} == {0}
            assert stat(logs, "seine/state_rolled_back") >= 3
            visits = Counter(path for _, path in site.arrivals)
            assert len(visits) == 330
