"""A worker that is told to stop: what it began is finished or handed back, never left to expire.

Leases last 60 s here, so that none of these tests could pass by expiry.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from crawler.demo.shop_process import ServedShop, served
from crawler.stores.store_endpoints import blocking_client
from scrapy_seine.frontier.keys import Keys
from tests import started
from tests.benchmarks.server import free_port
from tests.helpers import patient, wait_until
from tests.integration.frontier_kit import counts

pytestmark = pytest.mark.redis
ROOT = Path(__file__).parents[2]


#: Longer than any test waits, ms.
NEVER_MS = 400_000


def slow(folder: Path, latency_ms: int) -> AbstractContextManager[ServedShop]:
    return served(log=folder / "visits", latency_ms=latency_ms, products=10)


@contextmanager
def worker(log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.integration.slow_crawl", *arguments]
    with log.open("wb") as out, started.Popen(command, cwd=ROOT, stderr=out) as process:
        yield process
        process.kill()


def wait_for_visits(shop: ServedShop, n: int) -> None:
    wait_until(lambda: len(shop.visits()) == n, 20, f"{n} pages are asked for")


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGHUP])
def test_a_first_signal_lets_running_pages_finish(
    redis_url: str, namespace: str, tmp_path: Path, first: signal.Signals
) -> None:
    log = tmp_path / "log"
    with (
        slow(tmp_path, 1500) as shop,
        worker(log, redis_url, namespace, shop.url, "100") as process,
    ):
        wait_for_visits(shop, 2)
        process.send_signal(first)
        assert process.wait(patient(10)) == 0, log.read_text()
    left = counts(redis_url, namespace)
    assert left.totals["done"] == 2
    assert (left.leased, left.undone) == (0, 2)
    with closing(blocking_client(redis_url)) as redis:
        assert redis.zcard(Keys(namespace).logs) == 1  # its log is there for `scrapy logs`


def test_a_second_sigterm_hands_back_what_is_running(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with (
        slow(tmp_path, NEVER_MS) as shop,
        worker(log, redis_url, namespace, shop.url, "300") as process,
    ):
        wait_for_visits(shop, 2)
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: "shutting down" in log.read_text(), 5, "the first signal is heard")
        process.send_signal(signal.SIGTERM)
        process.wait(patient(8))
    left = counts(redis_url, namespace)
    assert (left.leased, left.undone) == (0, 4)


def test_the_drain_time_is_kept(redis_url: str, namespace: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        slow(tmp_path, NEVER_MS) as shop,
        worker(log, redis_url, namespace, shop.url, "1") as process,
    ):
        wait_for_visits(shop, 2)
        process.send_signal(signal.SIGTERM)
        process.wait(patient(8))
    assert "the drain took 1 s; the worker returns its other requests" in log.read_text()
    left = counts(redis_url, namespace)
    assert (left.leased, left.undone) == (0, 4)


@pytest.mark.parametrize(("ended_s", "leaves"), [(60, True), (-3600, False)])
def test_a_worker_that_comes_too_late_leaves_and_one_that_comes_first_waits(
    redis_url: str, namespace: str, tmp_path: Path, ended_s: int, leaves: bool
) -> None:
    """Which of both it is, the time tells: a crawl that ended before it began is an old one."""
    log = tmp_path / "log"
    with closing(blocking_client(redis_url)) as redis:
        redis.hset(Keys(namespace).control, "ended", str(int((time.time() + ended_s) * 1000)))
    with worker(log, redis_url, namespace, "", "20") as process:
        if leaves:
            assert process.wait(patient(20)) == 0, log.read_text()
        else:
            wait_until(lambda: "waiting for seeds" in log.read_text(), 20, "it waits")
            assert process.poll() is None


def ends_cleanly(log: Path, reason: str) -> None:
    text = log.read_text()
    assert f"'finish_reason': '{reason}'" in text, text
    assert "Traceback" not in text, text


def test_a_worker_that_is_told_to_end_before_it_has_joined_does_so(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    """Scrapy stops no engine that has not begun: it would join, and stay."""
    log = tmp_path / "log"
    with worker(log, redis_url, namespace, "", "20", "never") as process:
        wait_until(lambda: "SEINE_OUTAGE_LIMIT" in log.read_text(), 20, "it waits to join")
        process.send_signal(signal.SIGTERM)
        assert process.wait(patient(15)) == 0
    ends_cleanly(log, "shutdown")
    with closing(blocking_client(redis_url)) as redis:
        assert not list(redis.scan_iter(f"{{{namespace}}}*"))


def test_a_worker_that_is_told_to_end_as_it_joins_leaves_nothing_behind(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    """The signal comes between the start of its parts and of the engine."""
    log = tmp_path / "log"
    with worker(log, redis_url, namespace, "", "20", "and ends") as process:
        assert process.wait(patient(30)) == 0
    ends_cleanly(log, "shutdown")
    assert counts(redis_url, namespace).workers == 0


def test_a_worker_without_its_store_ends_with_one_line(
    namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEINE_OUTAGE_LIMIT", "1")
    log = tmp_path / "log"
    with worker(log, f"redis://127.0.0.1:{free_port()}/0", namespace, "", "20") as process:
        process.wait(patient(30))
    ends_cleanly(log, "outage")
    assert log.read_text().count("worker exits: REDIS_URL=") == 1
