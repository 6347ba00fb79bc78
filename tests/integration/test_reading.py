"""I11: what holds a worker's loop costs itself: it is interrupted, or the worker ends for it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawler.demo.shop_process import served
from crawler.stores.store_endpoints import blocking_client
from scrapy_seine.engine.reading.watchdog import EXIT_CODE
from scrapy_seine.frontier.keys import Keys
from tests import started
from tests.helpers import patient, wait_until
from tests.integration.frontier_kit import counts

pytestmark = pytest.mark.redis
ROOT = Path(__file__).parents[2]


@contextmanager
def worker(log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "tests.integration.greedy_crawl", *arguments]
    with (
        log.open("ab") as out,
        started.Popen(command, cwd=ROOT, stderr=out, stdout=out) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def test_pages_without_end_are_buried_and_their_site_is_paused(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with served(log=tmp_path / "visits", products=10) as shop:
        good = [f"{shop.url}/nothing/{n}" for n in range(6)]
        with worker(log, redis_url, namespace, "0.3", *good, f"{shop.url}/burn/1") as process:
            assert process.wait(patient(60)) == 0, log.read_text()[-3000:]
    found = counts(redis_url, namespace)
    assert (found.totals["done"], found.dead, found.undone) == (6, 1, 0)
    with blocking_client(redis_url) as redis:
        [note] = redis.hvals(Keys(namespace).autopsy)
    assert b"unreadable" in note
    assert b"more than 0.3 s of CPU" in note


def test_a_site_of_three_such_pages_is_paused(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with served(log=tmp_path / "visits", products=10) as shop:
        pages = [f"{shop.url}/burn/{n}" for n in range(5)]
        with worker(log, redis_url, namespace, "0.2", *pages):
            wait_until(lambda: b"is paused: reading 3" in log.read_bytes(), 60, "a line says it")


def test_a_page_that_awaits_for_ever_is_told_and_handed_back(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with (
        served(log=tmp_path / "visits", products=10) as shop,
        worker(log, redis_url, namespace, "5", f"{shop.url}/await") as process,
    ):
        wait_until(lambda: b"has not returned from" in log.read_bytes(), 60, "a line tells it")
        process.send_signal(signal.SIGTERM)
        assert process.wait(patient(30)) == 0, log.read_text()[-3000:]
    assert "GreedySpider.parse_awaiting" in log.read_text()
    found = counts(redis_url, namespace)
    assert (found.leased, found.undone, found.dead) == (0, 1, 0)


@pytest.mark.parametrize("error", ["Cancelled", "Exit"])
def test_a_start_that_raises_no_exception_ends_as_one_that_does(
    redis_url: str, namespace: str, tmp_path: Path, error: str
) -> None:
    log = tmp_path / "log"
    with served(log=tmp_path / "visits", products=10) as shop:
        urls = [f"{shop.url}/nothing", f"{shop.url}/closed", error]
        with worker(log, redis_url, namespace, "5", *urls) as process:
            assert process.wait(patient(60)) == 0, log.read_text()[-3000:]
    assert "start_error" in log.read_text()
    found = counts(redis_url, namespace)
    assert (found.totals["done"], found.dead, found.undone) == (1, 1, 0)
    with blocking_client(redis_url) as redis:
        [note] = redis.hvals(Keys(namespace).autopsy)
    assert b"GeneratorExit" in note


def test_a_worker_whose_loop_stands_still_keeps_its_lease_and_then_exits(
    redis_url: str, namespace: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with (
        served(log=tmp_path / "visits", products=10) as shop,
        worker(log, redis_url, namespace, "2", f"{shop.url}/block") as process,
    ):
        wait_until(lambda: len(shop.visits()) >= 1, 60, "the page is asked for")
        asked = time.monotonic()
        with blocking_client(redis_url) as redis:
            [(_, first)] = redis.zrange(Keys(namespace).leases, 0, -1, withscores=True)
            wait_until(
                lambda: (
                    redis.zrange(Keys(namespace).leases, 0, -1, withscores=True)[0][1]
                    > first + 2500
                ),  # its life is 2 s: the thread renews it
                30,
                "the lease lives on while the loop stands still",
            )
        assert process.wait(patient(60)) == EXIT_CODE, log.read_text()[-3000:]
        assert time.monotonic() - asked >= 6
    assert "its event loop stood still" in log.read_text()
    assert counts(redis_url, namespace).undone == 1
