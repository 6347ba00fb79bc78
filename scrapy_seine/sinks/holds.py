"""`scrapy_seine.hold(crawler)`: a page counts as done only when its item is durable in your sink.

    class KafkaPipeline:
        def process_item(self, item):
            hold = scrapy_seine.hold(self.crawler)
            self.producer.produce("items", encode(item), on_delivery=partial(delivered, hold))
            return item

    def delivered(hold, error, message):      # on a thread of the producer
        hold.fail(str(error)) if error else hold.release()

A pipeline that waits within `process_item` for its sink needs no hold, because the page waits for
each of its pipelines. A hold is for a sink that takes the item now and confirms it later.
"""

from __future__ import annotations

import asyncio
import logging
import threading

from scrapy.crawler import Crawler

from scrapy_seine.engine.lease.entry import current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.page_end import Hold
from scrapy_seine.engine.worker import worker_of

logger = logging.getLogger(__name__)
#: Items that may wait for their sinks in one worker; beyond it the worker takes no request until
#: half of them are durable, because each keeps its page, and the page's links, in memory.
MOST_HELD = 10_000
_SOURCE = "holds"
DROPPED = "a sink dropped its hold and did not say whether the item is durable"


class _HoldCounter:
    """Counts the open holds of one crawler, and asks for a pause if there are too many."""

    def __init__(self, inflight: InFlightTable, loop: asyncio.AbstractEventLoop) -> None:
        self.inflight = inflight
        self.loop = loop
        self.open = 0

    @classmethod
    def of(cls, crawler: Crawler) -> _HoldCounter:
        """Count the holds of a crawler, on the loop that runs."""
        return cls(worker_of(crawler).inflight, asyncio.get_running_loop())

    def add(self, n: int) -> None:
        """Add *n*, which may be negative, to the number of holds; on the event loop's thread."""
        self.open += n
        if self.open >= MOST_HELD:
            self.inflight.request_pause(_SOURCE, True)
        elif self.open <= MOST_HELD // 2:
            self.inflight.request_pause(_SOURCE, False)


class ItemHold:
    """Keeps the page of an item open until the item is durable, or until it has failed.

    `release` and `fail` may be called from any thread. The first call counts. A hold that is
    garbage collected without either counts as failed.
    """

    def __init__(self, counter: _HoldCounter | None = None, hold: Hold | None = None) -> None:
        self._counter = counter
        # A list, because its pop is one step under the interpreter's lock.
        self._open = [hold] if hold is not None else []
        if counter is not None:
            self._thread = threading.get_ident()
            counter.add(1)

    @property
    def is_open(self) -> bool:
        """Whether a page waits for this hold. Never for an item without a leased page."""
        return bool(self._open)

    def release(self) -> None:
        """Say that the item is durable, or that it is refused for good and kept elsewhere."""
        self._end(None)

    def fail(self, reason: str) -> None:
        """Say that the item could not be stored: its page is tried again later.

        Args:
            reason: for people; stands in the dead letter if no try is left.
        """
        self._end(str(reason) or "the sink named no reason")

    def _end(self, reason: str | None) -> None:
        try:
            hold = self._open.pop()
        except IndexError:
            return
        assert self._counter is not None
        if threading.get_ident() == self._thread:
            _settle(self._counter, hold, reason)
            return
        try:
            self._counter.loop.call_soon_threadsafe(_settle, self._counter, hold, reason)
        except RuntimeError:  # the loop is closed: the page's lease expires, and the page returns
            logger.debug("an item's sink answered after the worker had ended")

    def __del__(self) -> None:
        if self._open:
            logger.error("a page is tried again: %s", DROPPED)
            self._end(DROPPED)


def _settle(counter: _HoldCounter, hold: Hold, reason: str | None) -> None:
    counter.add(-1)
    if reason is None:
        hold.release()
    else:
        hold.fail(reason)


def hold(crawler: Crawler) -> ItemHold:
    """Keep the current page open until an item of it is durable; for pipelines and sinks.

    Call it where Scrapy calls `process_item` and receivers of `item_scraped`, on the event loop's
    thread. It never waits. Without the shared frontier, and for an item without a leased page (one
    that `start()` yields), the returned hold does nothing.

    Args:
        crawler: the pipeline's crawler (`from_crawler`).

    Raises:
        RuntimeError: it is called on another thread.
    """
    if current.get() is None:
        return ItemHold()
    counter = worker_of(crawler).part(_HoldCounter.of)
    asyncio.get_running_loop()  # fails before the page is held, or it would never be released
    page_hold = counter.inflight.hold(None)
    return ItemHold(counter, page_hold) if page_hold.entry is not None else ItemHold()
