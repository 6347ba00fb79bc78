"""A web whose links lead across hosts, and a worker that follows them all.

The worker: python -m tests.integration.roam REDIS_URL CRAWL PARTITIONS [dies|stays] [raises]

With `dies` it is killed when the first links of a page with very many are in the frontier; with
`stays` its leases outlast any pause of a busy machine. With `raises` the callback of the first page
raises when it has yielded its links, of which the last but one skips the filter.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import attrs
from scrapy import Request
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from scrapy_seine.engine.lease.early_push import EarlyPush
from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.spider import FrontierSpider
from tests import started
from tests.benchmarks.server import free_port

ROOT = Path(__file__).parents[2]
HOSTS = 24
#: Links of a page: three pages that nobody else links to, and one that was fetched before.
FAN_OUT = 3


@attrs.define
class Web:
    """So many pages, each on the host whose turn it is."""

    pages: int
    port: int
    fan_out: int = FAN_OUT
    visits: list[tuple[float, str, int]] = attrs.Factory(list)
    """When (s), which host, which page."""
    held_from: float = inf
    """Number of visits after which visitors wait, so that no crawl ends before a test's part."""

    def url(self, n: int) -> str:
        return f"http://127.0.0.{n % HOSTS + 1}:{self.port}/p/{n}"

    def links(self, n: int) -> list[str]:
        further = [self.fan_out * n + i for i in range(1, self.fan_out + 1)]
        return [self.url(c) for c in (*further, n // 2) if c < self.pages]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until its other end closes it."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                n = int(head.split(b" ", 2)[1].rpartition(b"/")[2])
                host = writer.get_extra_info("sockname")[0]
                self.visits.append((time.time(), host, n))
                number = len(self.visits)
                while number > self.held_from:  # noqa: ASYNC110  # a thread of the test sets it
                    await asyncio.sleep(0.01)
                body = "\n".join(f'<a href="{url}">{url}</a>' for url in self.links(n)).encode()
                status = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n"
                writer.write(b"%bcontent-length: %d\r\n\r\n%b" % (status, len(body), body))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    async def serve(self, up: threading.Event, over: asyncio.Event) -> None:
        """Serve until told to stop."""
        addresses = [f"127.0.0.{n + 1}" for n in range(HOSTS)]
        async with await asyncio.start_server(self.answer, addresses, self.port):
            up.set()
            await over.wait()


@contextlib.contextmanager
def web(pages: int, fan_out: int = FAN_OUT) -> Iterator[Web]:
    """Serve a web on as many loopback addresses as it has hosts."""
    made, up, over = Web(pages, free_port(), fan_out), threading.Event(), asyncio.Event()
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        thread = threading.Thread(target=lambda: runner.run(made.serve(up, over)))
        thread.start()
        try:
            assert up.wait(40)
            yield made
        finally:
            loop.call_soon_threadsafe(over.set)
            thread.join()


def start(
    redis_url: str, crawl: str, partitions: int, log: Path, *how: str
) -> subprocess.Popen[bytes]:
    """Start a worker."""
    place = (redis_url, crawl, str(partitions), *how)
    command = [sys.executable, "-m", "tests.integration.roam", *place]
    with log.open("wb") as out:
        return started.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)


class Roamer(FrontierSpider):
    """Follows every link and keeps nothing."""

    name = "roamer"

    def parse(self, response: Any, **_: Any) -> Any:
        """Follow."""
        fails = response.url.endswith("/0") and "raises" in sys.argv
        links = response.css("a::attr(href)").getall()
        for link in links:
            yield Request(link, self.parse, dont_filter=fails and link == links[-2])
        if fails:
            raise ValueError("as asked")


def _die_when_all_entered(self: EarlyPush, entry: InFlight) -> None:
    entry.holds -= 1
    if not entry.holds:
        os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Be a worker."""
    redis_url, crawl, partitions, *how = sys.argv[1:]
    if "dies" in how:
        EarlyPush._entered = _die_when_all_entered  # type: ignore[method-assign]
    settings = Settings()
    settings.setmodule("settings.test")
    settings.setdict(
        {
            "REDIS_URL": redis_url,
            "DATABASE_URL": "postgresql://unused.invalid/",
            "SEINE_CRAWL": crawl,
            "FRONTIER_PARTITIONS": partitions,
            "REDIS_START_URLS_KEY": "%(crawl)s:start_urls",
            "SEINE_LEASE_SECONDS": 60 if "stays" in how else 2,
            "SEINE_KEEP_ALIVE": 0,
            "SEINE_DOMAIN_CONCURRENCY": 4,
            # Pages of one loopback address lead to others.
            "SEINE_PRIVATE_ADDRESSES": "allow",
            "ITEM_PIPELINES": {},
            "SPIDER_MODULES": [],
            "ROBOTSTXT_OBEY": False,
        },
        priority="cmdline",
    )
    process = AsyncCrawlerProcess(settings)
    process.crawl(Roamer)
    process.start()


if __name__ == "__main__":
    main()
