"""A worker that is told to stop: what it began is finished or handed back, never left to expire.

Leases last 60 s here, so that none of these tests could pass by expiry.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from crawler.frontier.frontier import Frontier
from crawler.frontier.model import Counts
from crawler.stores.connect import redis_client
from tests.helpers import wait_until

pytestmark = pytest.mark.redis
ROOT = Path(__file__).parents[2]


@contextmanager
def shop(latency_ms: int) -> Iterator[str]:
    command = [sys.executable, "-m", "crawler.demo.shop", "--latency-ms", str(latency_ms)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, "--with-parent"], cwd=ROOT, **pipes) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@contextmanager
def worker(log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.integration.slow_crawl", *arguments]
    with log.open("wb") as out, subprocess.Popen(command, cwd=ROOT, stderr=out) as process:
        yield process
        process.kill()


def counts(redis_url: str, crawl: str) -> Counts:
    async def ask() -> Counts:
        redis = redis_client(redis_url)
        try:
            return await Frontier(redis, crawl).counts()
        finally:
            await redis.aclose()

    return asyncio.run(ask())


def wait_for_leases(redis_url: str, crawl: str, n: int) -> None:
    wait_until(lambda: counts(redis_url, crawl).leased == n, 20, f"{n} leases")


def test_a_first_sigterm_lets_running_pages_finish(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with shop(1500) as base, worker(log, redis_url, namespace, base, "20") as process:
        wait_for_leases(redis_url, namespace, 2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0, log.read_text()
    left = counts(redis_url, namespace)
    assert left.totals["done"] == 2
    assert (left.leased, left.undone) == (0, 2)


def test_a_second_sigterm_hands_back_what_is_running(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with shop(30_000) as base, worker(log, redis_url, namespace, base, "20") as process:
        wait_for_leases(redis_url, namespace, 2)
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: "shutting down" in log.read_text(), 5, "the first signal is heard")
        process.send_signal(signal.SIGTERM)
        process.wait(8)
    left = counts(redis_url, namespace)
    assert (left.leased, left.undone) == (0, 4)


def test_the_drain_time_is_kept(redis_url: str, namespace: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with shop(30_000) as base, worker(log, redis_url, namespace, base, "1") as process:
        wait_for_leases(redis_url, namespace, 2)
        process.send_signal(signal.SIGTERM)
        process.wait(8)
    assert "handed back" in log.read_text()
    left = counts(redis_url, namespace)
    assert (left.leased, left.undone) == (0, 4)
