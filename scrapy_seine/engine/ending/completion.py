"""Decides whether a crawl is complete for the whole fleet: nothing waits, and its jobs are ended.

Scrapy asks again and again whether requests are pending. The answer is computed from the exchange's
last replies; what has to be asked of Redis is asked in a task, which wakes the engine when it is
done.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import monotonic

import attrs
from redis.exceptions import RedisError

from scrapy_seine.engine.heartbeat import process_age_s
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.local_requests import LocalRequests
from scrapy_seine.engine.starting.start_requests import StartRequests
from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.frontier.round_trips.exchange import Exchange
from scrapy_seine.frontier.seed_intake import Intake
from scrapy_seine.store_wait import log_failure

logger = logging.getLogger(__name__)
#: Tries to end a complete crawl's jobs, and the pause between them, s.
MAX_FAILURES, RETRY_PAUSE_S = 4, 2.0
#: Between two looks for seeds, while another worker reads one, s.
SEED_CHECK_S = 0.4


@attrs.define(eq=False, repr=False, kw_only=True)
class Completion:
    """Decides for one worker when its crawl is complete."""

    exchange: Exchange
    inflight: InFlightTable
    intake: Intake | None
    """None: this worker takes no seeds."""
    starts: StartRequests
    local: LocalRequests
    wake: Callable[[], None]
    """Makes the engine ask again."""
    stop: Callable[[str], None]
    """Closes the spider with a reason."""
    idle_limit_s: float | None
    """How long the worker stays without work, s; None: until it has seen work."""
    _asked_end: bool = attrs.field(default=False, init=False)
    _seed_check: tuple[float, float] = attrs.field(default=(0.0, 0.0), init=False)
    """The end of work that the last look for seeds was for, and when the next look is due."""
    _settled_at: float = attrs.field(default=-1.0, init=False)
    _failures: int = attrs.field(default=0, init=False)
    settling: asyncio.Task[None] | None = attrs.field(default=None, init=False)
    """Ends the complete crawl's jobs."""

    def may_exit(self) -> bool:
        """Whether the worker may exit: the crawl is complete, and has been for the idle limit."""
        self.starts.record_end()
        complete = self._is_complete()  # says so where there is nothing yet
        return complete and monotonic() - self.exchange.undone_at >= (self.idle_limit_s or 0.0)

    def _is_complete(self) -> bool:
        exchange = self.exchange
        has_work = exchange.has_work or len(self.inflight) or self.starts.waiting or len(self.local)
        if has_work or exchange.undone != 0:
            return False
        # A worker that stays joins a run that has ended, which knows its start requests.
        is_idle_start = self.starts.any and not exchange.config.keep_alive
        if self.idle_limit_s != 0 and not (exchange.saw_work or is_idle_start):
            if not self._asked_end:
                self._asked_end = True
                asyncio.ensure_future(self._ask_end())  # noqa: RUF006  # it ends by itself
            if self.idle_limit_s is None and not self.starts.any:
                return False
        if self.intake is None or self.intake.quiet_at > exchange.undone_at:
            return self._is_settled()
        if self._seed_check[0] != exchange.undone_at or monotonic() >= self._seed_check[1]:
            self._seed_check = exchange.undone_at, monotonic() + SEED_CHECK_S
            self.intake.look(self._after_seed_check)
        return False

    def _after_seed_check(self) -> None:
        self.wake()
        if self.intake is not None and self.intake.quiet_at <= self.exchange.undone_at:
            # Another worker is reading a seed, which may take long.
            asyncio.get_running_loop().call_later(SEED_CHECK_S, self.wake)

    def _is_settled(self) -> bool:
        """Whether the complete crawl's jobs are ended, which may bring more work."""
        undone_at = self.exchange.undone_at
        if self._settled_at != undone_at and self.settling is None:
            self.settling = asyncio.ensure_future(self._settle(undone_at))
        return self._settled_at == undone_at

    async def _settle(self, undone_at: float) -> None:
        has_more = False
        try:
            has_more = await self.inflight.completed()
        except Exception as error:
            log_failure(logger, "the jobs of the complete crawl are not ended", error)
            self._failures += 1
            is_outage = isinstance(error, StoreUnreachable)  # up to its limit
            if is_outage or self._failures == MAX_FAILURES:
                # If no other worker is left, the crawl is not finished: exit with that reason
                # (I12).
                self.stop("outage" if is_outage else "error")
                return
            await asyncio.sleep(RETRY_PAUSE_S)
            self.settling = None
            self.wake()
            return
        self.settling, self._failures = None, 0
        if has_more:
            self.exchange.undone = None
            self.exchange.schedule_round_trip()
        else:
            self._settled_at = undone_at
        self.wake()

    async def _ask_end(self) -> None:
        """Treat a worker as having seen work if the crawl ended while the worker was starting.

        Then it exits instead of waiting for seeds. Asked once nothing is left, because the end may
        come at any moment of this worker's start.
        """
        try:
            ended_ms = await self.exchange.frontier.ended_ago_ms()
        except (RedisError, OSError):
            self._asked_end = False
            return
        if ended_ms is not None and ended_ms < 1000 * process_age_s():
            self.exchange.saw_work = True
            self.wake()
        else:
            logger.info("crawl %r is empty; waiting for seeds", self.exchange.config.crawl)
            self.starts.log_known_requests()
