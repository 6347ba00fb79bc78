"""A worker's membership of a crawl: the parts that exist once it has joined."""

from __future__ import annotations

import asyncio

import attrs
from redis.asyncio import Redis

from scrapy_seine.engine.ending.close_spider import CrawlEnd
from scrapy_seine.engine.ending.completion import Completion
from scrapy_seine.engine.heartbeat import Heartbeat
from scrapy_seine.engine.lease.early_push import EarlyPush
from scrapy_seine.engine.local_requests import LocalRequests
from scrapy_seine.engine.reading.watchdog import Watchdog
from scrapy_seine.engine.starting.start_requests import StartRequests
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.round_trips.exchange import Exchange
from scrapy_seine.frontier.round_trips.recovery import Recovery
from scrapy_seine.frontier.seed_intake import Intake

#: Requests that wait in a worker for their run, or for Redis, while its spider's start goes on.
_MOST_UNSENT = 2000


@attrs.define(eq=False, repr=False, kw_only=True)
class Member:
    """The parts of a worker that work on the crawl."""

    redis: Redis
    frontier: Frontier
    exchange: Exchange
    heartbeat: Heartbeat
    completion: Completion
    early_push: EarlyPush
    intake: Intake
    recovery: Recovery
    watchdog: Watchdog
    starts: StartRequests
    local: LocalRequests
    loops: list[asyncio.Task[None]] = attrs.Factory(list)
    crawl_end: CrawlEnd = attrs.field(init=False)

    @property
    def has_many_unsent(self) -> bool:
        """Whether many requests are in this worker alone; some stay, as they cannot be stored."""
        unsent = len(self.starts.waiting) + len(self.exchange.endings.pushes) + len(self.local)
        return unsent > _MOST_UNSENT
