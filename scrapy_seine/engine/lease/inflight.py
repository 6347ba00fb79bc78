"""The in-flight table: one entry, with its lease, for each request that a worker works on.

An entry begins when the scheduler gives its request to Scrapy. `page_end` decides when an entry
ends, `statements` records how.

Items and children find their entry by a context variable: a request has a task of its own
(engine.fastpath.request_task), in which the variable names the entry from the end of the download
on. That covers callbacks, errbacks after HTTP errors, and errbacks after failed downloads, where no
spider middleware runs.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from itertools import islice

from scrapy import Request

from scrapy_seine import meta as m
from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.lease.error_text import describe
from scrapy_seine.engine.lease.outcomes import whole_number
from scrapy_seine.engine.lease.page_end import Hold, PageEnds
from scrapy_seine.frontier.model import Lease

logger = logging.getLogger(__name__)


async def _no_more_work() -> bool:
    return False


class InFlightTable(PageEnds):
    """The entries of one process, and the pressure that stops it from taking more."""

    def __init__(self) -> None:
        super().__init__()
        self._pausing_sinks: set[str] = set()
        #: Called when no sink asks for a pause any more, because by then nothing requests leases.
        self.on_pause_end: Callable[[], None] = lambda: None
        #: Rows and bytes that a sink has taken and not stored yet; the sink replaces it.
        self.waiting: Callable[[], tuple[int, int]] = lambda: (0, 0)
        #: Called when the crawl is complete, before the worker exits, and when it joined another
        #: state of the crawl: returns whether that brought more work. Code that keeps jobs replaces
        #: it.
        self.completed: Callable[[], Awaitable[bool]] = _no_more_work
        #: Sends the links of a page that is parsed but waits for its items; the worker sets it.
        self.ahead: Callable[[InFlight], None] = lambda entry: None
        #: Sinks that write their rows before the worker signs off.
        self.flushers: list[Callable[[], Awaitable[None]]] = []
        #: Time on the server of a lease, ms, because workers' own clocks differ (I6).
        self.clock: Callable[[Lease], float] = lambda lease: time.time() * 1000

    def __len__(self) -> int:
        return len(self._all)

    @property
    def leases(self) -> list[Lease]:
        """Leases to renew: held by Scrapy or waiting for a commit."""
        return [entry.lease for entry in self._all]

    def urls(self, limit: int) -> list[str]:
        """Return the URLs of up to *limit* requests held by Scrapy."""
        return [entry.request.url for entry in islice(self._entries.values(), limit)]

    @property
    def with_scrapy(self) -> list[InFlight]:
        """Entries whose requests Scrapy holds."""
        return list(self._entries.values())

    @property
    def scrapy_holds_any(self) -> bool:
        """Whether Scrapy holds a request; other entries wait for a sink."""
        return bool(self._entries)

    def has(self, token: str) -> bool:
        """Whether Scrapy holds the request of this lease."""
        return any(entry.lease.token == token for entry in self._entries.values())

    @property
    def is_pause_requested(self) -> bool:
        """Whether a store asks for a pause: take no new request."""
        return bool(self._pausing_sinks)

    def request_pause(self, source: str, on: bool) -> None:
        """Ask for a pause, or end it."""
        was_requested = self.is_pause_requested
        (self._pausing_sinks.add if on else self._pausing_sinks.discard)(source)
        if was_requested and not self.is_pause_requested:
            self.on_pause_end()

    def begin(self, request: Request, lease: Lease) -> InFlight:
        """Add an entry for a request that Scrapy gets now."""
        # Read here: a middleware or the spider may clear the meta before the request fails.
        meta = request.meta
        tries = 0
        if m.RETRY_COUNT in meta and not m.is_own(meta, m.RETRY_COUNT):
            tries = whole_number(meta[m.RETRY_COUNT], 0)
        if m.RETRY_TIMES in meta:
            tries = max(tries, whole_number(meta[m.RETRY_TIMES], 0))
        entry = InFlight(request, lease, tries=tries, proxy=meta.get("proxy"))
        # By identity, not by meta, because retries, redirects and users copy meta between pages.
        self._entries[id(request)] = entry
        self._all.add(entry)
        return entry

    def now(self, entry: InFlight | None) -> datetime:
        """The time by the frontier's clock; without an entry, by this machine's."""
        now_ms = self.clock(entry.lease) if entry is not None else time.time() * 1000
        return datetime.fromtimestamp(now_ms / 1000, UTC)

    def hold(self, item: object) -> Hold:
        """Keep the entry of the current item open until the hold is released."""
        return self.hold_on(current.get())

    def send_links(self, holds: Iterable[Hold]) -> bool:
        """Send the links of held pages that are parsed; returns whether any were sent early."""
        entries = [hold.entry for hold in holds if hold.entry is not None]
        for entry in entries:
            if entry.finished and entry.outcome == "done":
                self.ahead(entry)
        return any(entry.links_ahead for entry in entries)

    async def flush(self) -> None:
        """Make each sink write its rows; one that fails does not stop the others."""
        for result in await asyncio.gather(*(f() for f in self.flushers), return_exceptions=True):
            if result is not None:
                logger.error("a sink failed to write all items of a page: %s", describe(result))

    def abandon(self, selects: Callable[[Lease], bool] = lambda lease: True) -> list[Lease]:
        """Remove all entries, or those whose lease *selects* selects; returns their leases."""
        removed = {entry for entry in self._all if selects(entry.lease)}
        self._all -= removed
        self._entries = {key: entry for key, entry in self._entries.items() if entry not in removed}
        return [entry.lease for entry in removed]
