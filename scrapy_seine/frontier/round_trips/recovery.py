"""What a worker does when Redis has another state of the crawl than the one it began with (I12).

*Lost* (FLUSHALL, a new server, a crawl that was erased): an empty frontier looks like a finished
one. So the worker says that the state is lost and stops with that reason; one that is kept alive
joins whatever crawl is there now. *Rolled back* (a failover, a restored copy): what happened since
is forgotten there, pages that were done among it. The worker lets go of what it holds of the older
state, pushes seeds of the last minutes again, and goes on; the rest returns by the expiry of
leases. Either way it forgets what it took for known: confirmed URLs, wishes of sites told already.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
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
    forget: Callable[[], None]
    """Called when nothing that this worker learned of the crawl counts any longer."""
    lost: Callable[[], None]
    """Called when the state is lost."""
    _lost: bool = attrs.field(default=False, init=False)
    _tasks: set[asyncio.Task[None]] = attrs.field(factory=set, init=False)

    def watch(self) -> None:
        """Hear of changes from now on."""
        for part in self.frontier.parts:
            part.watch.changed = partial(self._changed, part)

    def _changed(self, part: Frontier, error: StateError) -> None:
        if isinstance(error, StateLost):
            self._was_lost(error)
        else:
            self._fell_back(part)

    def _was_lost(self, error: StateLost) -> None:
        if self._lost:  # each partition and each call says so
            return
        self._lost = True
        dropped = self._let_go(lambda lease: True)
        self.stats.inc_value("seine/state_lost")
        logger.error(
            "state_lost: %s. Crawl %r is not complete: its %d requests here, and all that waited, "
            "are gone from Redis (docs/runbooks/state-lost.md)",
            error,
            self.frontier.keys.crawl,
            dropped,
        )
        self.exchange.lost = True
        self.lost()

    def _fell_back(self, part: Frontier) -> None:
        index = part.keys.index or 0
        dropped = self._let_go(lambda lease: part_of_id(lease.id) == index)
        again = self.exchange.kept.of(lambda push: self.frontier.part(push.domain) is part)
        self.exchange.endings.pushes[:0] = again
        self.stats.inc_value("seine/state_rolled_back")
        logger.warning(
            "state_rolled_back: Redis fell back to an older state of crawl %r (%s). Let go of %d "
            "leases, pushed %d seeds again; what Redis forgot is done again",
            self.frontier.keys.crawl,
            part.keys.prefix,
            dropped,
            len(again),
        )
        self.exchange.kick()
        if len(self.frontier.parts) > 1:
            task = asyncio.ensure_future(self._tell_of_links())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _tell_of_links(self) -> None:
        """Say how many links had reached the partition that fell back from pages of another one.

        Those pages are done, so that nobody brings the links again. What was sent and is neither
        on its way nor was taken in is lost; what was cleared on its way counts as well.
        """
        try:
            counts = await self.frontier.counts()
        except (RedisError, OSError) as error:
            logger.warning("links between partitions may be lost, uncounted: %s", error)
            return
        sent, arrived = (counts.totals.get(name, 0) for name in ("sent", "arrived"))
        if (lost := sent - arrived - counts.moving) > 0:
            self.stats.set_value("seine/links_lost", lost)
            logger.error(
                "links_lost: up to %d links of crawl %r, from pages that are done, are not in Redis"
                " any more: begin the crawl again (docs/runbooks/state-lost.md)",
                lost,
                self.frontier.keys.crawl,
            )

    def _let_go(self, of: Callable[[Lease], bool]) -> int:
        """Drop leases and their endings unsaid; returns how many there were."""
        dropped = self.inflight.abandon(of) + self.exchange.let_go(of)
        self.forget()
        return len(dropped)

    def rejoined(self) -> None:
        """The worker works on another state from now on: its latest seeds enter there."""
        self._lost = self.exchange.lost = False
        self.exchange.endings.pushes += self.exchange.kept.of(lambda push: True)
        self.exchange.kick()
