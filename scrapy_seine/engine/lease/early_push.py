"""A page with very many links, a sitemap say: most of them enter the frontier ahead of its ack.

A page's links enter with its ack, in one script, which holds up every other client of Redis as
long as it runs. So beyond MOST links a chunk is pushed at once, and the page's lease stays open
until that is confirmed. The order is the safe one: whoever dies in between leaves links that are
there already, and a page that is fetched again; its links are then known by their fingerprints.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Sequence

from redis.exceptions import RedisError

from scrapy_seine.engine.lease.inflight import InFlight, InFlightTable
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Push

logger = logging.getLogger(__name__)
#: Links that enter with their page's ack, at most; and those of one chunk.
MOST = 1000


class EarlyPush:
    """Takes the links of pages, and sends what is too much for one ack ahead."""

    def __init__(
        self,
        frontier: Frontier,
        inflight: InFlightTable,
        confirmed: Callable[[int], None],
        counted: Callable[[str, int], None],
    ) -> None:
        self.frontier = frontier
        self.inflight = inflight
        self._confirmed = confirmed
        self._count = counted
        #: One for each chunk on its way.
        self.tasks: set[asyncio.Task[None]] = set()

    def add(self, entry: InFlight, push: Push) -> None:
        """Take a link. One without a fingerprint stays: it could not be told from a second one."""
        entry.children.append(push)
        if len(entry.children) < MOST:
            return
        chunk = [child for child in entry.children if child.fingerprint is not None]
        if len(chunk) < MOST // 2:
            return
        entry.children = [child for child in entry.children if child.fingerprint is None]
        entry.holds += 1
        task = asyncio.ensure_future(self._bring(entry, chunk))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _bring(self, entry: InFlight, chunk: Sequence[Push]) -> None:
        while True:
            try:
                words = await self.frontier.push(chunk)
                break
            except (RedisError, OSError) as error:
                logger.debug("links wait for Redis: %s", error)
                await asyncio.sleep(random.uniform(0.2, 1.0))
        self._count("duplicates", sum(word == "DUPLICATE" for word in words))
        self._count("over_budget", sum(word == "OVER" for word in words))
        for child in chunk:
            if child.fingerprint is not None:
                self._confirmed(child.fingerprint)
        entry.holds -= 1
        self.inflight.settle(entry)
