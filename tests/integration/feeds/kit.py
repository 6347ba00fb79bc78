"""A site that is a tree of pages, a spider that reads it, and workers that may be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from math import inf
from pathlib import Path
from typing import Any, ClassVar

from tests import started
from tests.helpers import patient, wait_until

#: Items of a page, as the spider below yields them.
ITEMS = 3
ADDON = '{"scrapy_seine.Addon": 500}'
ROOT = Path(__file__).parents[3]
SPIDER = """
import asyncio
import scrapy


class Tree(scrapy.Spider):
    name = "tree"

    async def start(self):
        yield scrapy.Request(self.base + "/0")

    async def parse(self, response):
        number = int(response.url.rsplit("/", 1)[1])
        for row in range(3):
            yield {"page": number, "row": row, "text": f"é {number}, \\"{row}\\""}
            if row == 0 and number % 7 == 0:
                await asyncio.sleep(0.01)
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)
"""


class Site(BaseHTTPRequestHandler):
    """What `site_of` returns."""

    served: ClassVar[list[str]]
    """Paths that were asked for."""
    held_from: ClassVar[float]
    """Number of requests after which visitors wait, so that no crawl ends before a test's part."""


def site_of(pages: int) -> type[Site]:
    """Return a site of so many pages: page n links to pages 2n + 1 and 2n + 2."""

    class Tree(Site):
        protocol_version = "HTTP/1.1"
        served: ClassVar[list[str]] = []
        held_from: ClassVar[float] = inf

        def handle(self) -> None:
            """Serve a connection until a worker's death resets it."""
            with suppress(ConnectionError):
                super().handle()

        def do_GET(self) -> None:
            self.served.append(self.path)
            number = len(self.served)
            while number > self.held_from:
                time.sleep(0.01)
            name = self.path.rsplit("/", 1)[1]
            known = name.isdigit() and int(name) < pages
            links = (
                [n for n in (2 * int(name) + 1, 2 * int(name) + 2) if n < pages] if known else []
            )
            body = "".join(f"<a href=/{n}>{n}</a>" for n in links).encode() or b"a leaf"
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    return Tree


def start(
    folder: Path, redis_url: str, crawl: str, base: str, *args: str, **settings: Any
) -> subprocess.Popen[bytes]:
    """Start a worker; its log is appended to `folder/log`."""
    spider = folder / "tree.py"
    if not spider.exists():
        spider.write_text(SPIDER, "utf-8")
    given = {
        "ADDONS": ADDON,
        "REDIS_URL": redis_url,
        "SEINE_CRAWL": crawl,
        # A killed worker's pages return soon.
        "SEINE_LEASE_SECONDS": 2,
        "LOG_LEVEL": "INFO",
        **settings,
    }
    options = [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "runspider", "tree.py", "-a", f"base={base}"]
    with (folder / "log").open("ab") as log:
        return started.Popen(
            [*command, *options, *args],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{folder}"},
            stdout=log,
            stderr=log,
        )


def kill_when(worker: subprocess.Popen[bytes], reached: Callable[[], object]) -> bool:
    """Kill a worker, with all that it holds, once it got so far; False where it had ended."""
    wait_until(lambda: reached() or worker.poll() is not None, 60, "the worker gets so far")
    killed = worker.poll() is None
    worker.send_signal(signal.SIGKILL)
    worker.wait(patient(10))
    return killed


def finish(
    worker: subprocess.Popen[bytes], folder: Path, seconds: float = 60, status: int = 0
) -> str:
    """Wait for a worker's own end with an exit status; returns the log so far."""
    try:
        found = worker.wait(patient(seconds))
    finally:
        worker.kill()
        worker.wait()
    log = (folder / "log").read_text("utf-8", "replace")
    assert found == status, log[-4000:]
    return log


def expected(pages: int) -> list[tuple[int, int]]:
    """Name page and row of each item, in order."""
    return [(page, row) for page in range(pages) for row in range(ITEMS)]
