"""The engine's fast path and Scrapy's own: the same crawl, with and without each private name."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from scrapy_seine.engine.fastpath.scrapy_internals import NAMES
from scrapy_seine.frontier.frontier import Frontier
from tests.helpers import patient, serving

pytestmark = pytest.mark.redis
ROOT = Path(__file__).parents[2]
#: Stats that both paths must agree on.
KEPT = (
    "finish_reason",
    "item_scraped_count",
    "downloader/response_status_count/200",
    "downloader/response_status_count/302",
    "seine/dequeued",
    "seine/enqueued",
    "seine/handled",
    "seine/buried/parse",
    "spider_exceptions/ValueError",
)
ALL = sorted(
    {name.rpartition(".")[2].rpartition(":")[2] for known in NAMES.values() for name in known}
)


class Site(BaseHTTPRequestHandler):
    """Answers as a site and, where the whole URL is asked for, as a proxy."""

    def do_GET(self) -> None:
        path = "/" + self.path.removeprefix("http://").partition("/")[2]
        path = self.path if self.path.startswith("/") else path
        status = {"/red": 302, "/missing": 404}.get(path, 200)
        self.send_response(status)
        self.send_header("Content-Length", "4")
        self.send_header("Content-Type", "text/html")
        self.send_header("Set-Cookie", f"c{len(path)}=1; Path={path}")
        if status == 302:
            self.send_header("Location", "/p/moved")
        self.end_headers()
        self.wfile.write(b"page")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with serving(Site) as url:
        yield url


def crawl(
    redis_url: str, name: str, base: str, names: tuple[str, ...] = (), **settings: Any
) -> tuple[dict[str, Any], str]:
    """Stats and log of a crawl with a Scrapy that lacks some names."""
    command = [sys.executable, "-m", "tests.integration.stock.run", redis_url, name, base]
    run = subprocess.run(
        [*command, json.dumps(settings), *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout), run.stderr


def outcome(stats: dict[str, Any]) -> dict[str, Any]:
    return {key: stats.get(key) for key in KEPT}


@pytest.fixture(scope="module")
def usual(redis_url: str, base: str) -> dict[str, Any]:
    stats, log = crawl(redis_url, "stock-usual", base)
    assert "Scrapy's own code" not in log
    assert stats["item_scraped_count"] == 9 + 2 * 8, stats
    return outcome(stats)


async def left(redis: Redis, name: str) -> tuple[int, int]:
    counts = await Frontier(redis, name).counts()
    return counts.undone, counts.dead


async def test_the_switch_leaves_the_engine_to_scrapy(
    redis_url: str, redis_client: Redis, namespace: str, base: str, usual: dict[str, Any]
) -> None:
    """SEINE_FASTPATH off: the same pages, items and ends, and nothing is left."""
    run = asyncio.to_thread(crawl, redis_url, namespace, base, SEINE_FASTPATH=False)
    stats, log = await run
    assert outcome(stats) == usual
    assert await left(redis_client, namespace) == (0, 1)
    assert "Scrapy's own code" not in log  # it was asked for


async def test_a_crawl_needs_no_private_name_at_all(
    redis_url: str, redis_client: Redis, namespace: str, base: str, usual: dict[str, Any]
) -> None:
    """A Scrapy in which all of them are called otherwise: one line a feature, the same crawl."""
    stats, log = await asyncio.to_thread(crawl, redis_url, namespace, base, tuple(ALL))
    assert outcome(stats) == usual
    assert await left(redis_client, namespace) == (0, 1)
    for feature in ("engine", "downloader", "client", "wake"):
        assert log.count(f"{feature} is left to Scrapy's own code") == 1, log


@pytest.mark.slow  # thirty crawls; the test above has all names gone at once
@pytest.mark.parametrize("name", ALL)
def test_each_private_name_may_go(
    redis_url: str, namespace: str, base: str, usual: dict[str, Any], name: str
) -> None:
    stats, log = crawl(redis_url, namespace, base, (name,))
    assert outcome(stats) == usual
    assert "is left to Scrapy's own code" in log
