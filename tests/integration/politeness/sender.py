"""A worker without Scrapy: the frontier's exchange, and a socket.

usage: python -m tests.integration.politeness.sender REDIS_URL CRAWL
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from time import monotonic
from urllib.parse import urlsplit

from crawler.stores.store_endpoints import redis_client
from scrapy_seine.config import FrontierConfig
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Done, Lease
from scrapy_seine.frontier.round_trips.exchange import Exchange
from scrapy_seine.politeness.site_limits import SiteLimits


class Sender:
    """Sends what it leases, each at its time."""

    def __init__(self, redis_url: str, crawl: str) -> None:
        self.redis = redis_client(redis_url)
        self.news = asyncio.Event()
        settings = {"SEINE_CRAWL": crawl, "SEINE_READ_AHEAD": 8, "SEINE_LEASE_SECONDS": 60}
        self.exchange = Exchange(
            Frontier(self.redis, crawl),
            FrontierConfig.from_settings(settings),
            f"sender-{id(self)}",
            arrived=self.news.set,
            confirmed=lambda fingerprint: None,
            add_to_stat=lambda name, n: None,
        )
        self.site_limits = SiteLimits()
        self.site_limits.exchange = self.exchange
        self.missed = 0
        self.slept: dict[str, float] = {}
        """Seconds between a look at the clock and the end of the write that follows, by path."""

    async def run(self) -> None:
        """Work until nothing is left in the fleet."""
        round_trip = asyncio.ensure_future(self.exchange.run())
        self.exchange.schedule_round_trip()
        tasks: set[asyncio.Task[None]] = set()
        while not (self.exchange.saw_work and self.exchange.undone == 0 and not tasks):
            while (lease := self.exchange.take()) is not None:
                task = asyncio.ensure_future(self._send(lease))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            self.news.clear()
            try:
                await asyncio.wait_for(self.news.wait(), 0.5)
            except TimeoutError:
                self.exchange.schedule_round_trip()
        round_trip.cancel()
        print(json.dumps({"missed": self.missed, "slept": self.slept}), flush=True)
        await self.redis.aclose()

    async def _send(self, lease: Lease) -> None:
        url = urlsplit(lease.blob.decode())
        reader, writer = await asyncio.open_connection(url.hostname, url.port)
        try:
            while (due := self.site_limits.due_in(lease)) != 0.0:
                if due is not None:
                    await asyncio.sleep(due)
                    continue
                self.missed += 1
                other = await self.site_limits.reserve(lease)
                if other is None:
                    self.exchange.release(lease)
                    return
                lease = other
            looked = monotonic()
            writer.write(f"GET {url.path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            self.slept[url.path] = monotonic() - looked
            self.site_limits.record_sent(lease)
            await reader.read(1000)
            self.exchange.commit(Done(lease=lease))
        finally:
            writer.close()


if __name__ == "__main__":

    async def main() -> None:
        await Sender(*sys.argv[1:]).run()

    # On a busy machine a process may sleep between its look at the clock and its write; where the
    # system lets us, these go first, so that the test is of the frontier and not of the machine.
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -10)
    asyncio.run(main())
