"""Recovers a worker when Redis has another state of the crawl than it began with (I12).

*Lost* (FLUSHALL, a new server, an erased crawl): an empty frontier looks like a finished one. So
the worker reports the loss and stops with that reason; one that is kept alive joins the crawl that
is there now. *Rolled back* (a failover, a restored copy): Redis has forgotten what happened since,
including pages that were done. The worker drops what it holds of the newer state, pushes seeds of
the last minutes again, and goes on; the rest returns when leases expire. Either way it clears what
it took for known: confirmed URLs, and limits of sites already sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
from redis.exceptions import RedisError

from scrapy_seine.frontier.lost_state import StateError, StateLost
from scrapy_seine.frontier.model import Lease
from scrapy_seine.frontier.which_partition import part_of_id

if TYPE_CHECKING:
    from scrapy_seine.engine.lease.inflight import InFlightTable
    from scrapy_seine.frontier.frontier import Frontier
    from scrapy_seine.frontier.round_trips.exchange import Exchange

logger = logging.getLogger(__name__)


@attrs.define(eq=False, repr=False)
class Recovery:
    """Watches the state of a crawl's partitions for one worker."""

    frontier: Frontier
    exchange: Exchange
    inflight: InFlightTable
    stats: Any
    on_lost: Callable[[], None]
    """Called when the state is lost."""
    on_change: Sequence[Callable[[], None]] = ()
    """Called to clear what this worker learned of the crawl, and to push what only it has."""
    _is_lost: bool = attrs.field(default=False, init=False)
    _tasks: set[asyncio.Task[None]] = attrs.field(factory=set, init=False)

    def watch(self) -> None:
        """Receive changes of the state from now on."""
        for part in self.frontier.parts:
            part.watch.changed = partial(self._changed, part)

    def _changed(self, part: Frontier, error: StateError) -> None:
        if isinstance(error, StateLost):
            self._stop_lost(error)
        else:
            self._roll_back(part)

    def _stop_lost(self, error: StateLost) -> None:
        if self._is_lost:  # each partition and each call reports it
            return
        self._is_lost = True
        dropped = self._drop_lost(lambda lease: True)
        self.stats.inc_value("seine/state_lost")
        logger.error(
            "state_lost: %s. Crawl %r is not complete: its %d requests here, and all that waited, "
            "are gone from Redis (docs/runbooks/state-lost.md)",
            error,
            self.frontier.keys.crawl,
            dropped,
        )
        self.exchange.is_state_lost = True
        self.on_lost()

    def _roll_back(self, part: Frontier) -> None:
        index = part.keys.index or 0
        dropped = self._drop_lost(lambda lease: part_of_id(lease.id) == index)
        pushes = self.exchange.recent_pushes.select(
            lambda push: self.frontier.part(push.domain) is part
        )
        self.exchange.endings.pushes[:0] = pushes
        self.stats.inc_value("seine/state_rolled_back")
        logger.warning(
            "state_rolled_back: Redis fell back to an older state of crawl %r (%s). Let go of %d "
            "leases, pushed %d seeds again; what Redis forgot is done again",
            self.frontier.keys.crawl,
            part.keys.prefix,
            dropped,
            len(pushes),
        )
        self.exchange.schedule_round_trip()
        if len(self.frontier.parts) > 1:
            task = asyncio.ensure_future(self._report_lost_links())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _report_lost_links(self) -> None:
        """Report how many links from other partitions the rolled-back partition had taken in.

        Those pages are done, so that no page yields the links again. A link that was sent but is
        neither in an outbox nor taken in is lost; links cleared in an outbox count as well.
        """
        try:
            counts = await self.frontier.counts()
        except (RedisError, OSError) as error:
            logger.warning("links between partitions may be lost, uncounted: %s", error)
            return
        sent_count, arrived_count = (counts.totals.get(name, 0) for name in ("sent", "arrived"))
        if (lost_count := sent_count - arrived_count - counts.moving) > 0:
            self.stats.set_value("seine/links_lost", lost_count)
            logger.error(
                "links_lost: up to %d links of crawl %r, from pages that are done, are not in Redis"
                " any more: begin the crawl again (docs/runbooks/state-lost.md)",
                lost_count,
                self.frontier.keys.crawl,
            )

    def _drop_lost(self, is_lost: Callable[[Lease], bool]) -> int:
        """Drop leases and their endings without sending these; returns how many there were."""
        dropped = self.inflight.abandon(is_lost) + self.exchange.drop_lost(is_lost)
        for call in self.on_change:
            call()
        return len(dropped)

    def resume(self) -> None:
        """Resume on another state of the crawl: push the latest seeds there."""
        self._is_lost = self.exchange.is_state_lost = False
        self.exchange.endings.pushes += self.exchange.recent_pushes.select(lambda push: True)
        self.exchange.schedule_round_trip()
