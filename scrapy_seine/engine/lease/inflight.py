"""The in-flight table: one entry, with its lease, for each request that a worker works on.

An entry begins when the scheduler gives its request to Scrapy. `page_end` says when an entry ends,
`statements` notes how.

How an item or a child finds its entry: a request has a task of its own
(engine.fastpath.request_task), where a context variable names the entry from the end of the
download on. That covers callbacks, errbacks after HTTP errors, and errbacks after failed downloads,
where no spider middleware runs.
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
from scrapy_seine.engine.lease.outcomes import whole
from scrapy_seine.engine.lease.page_end import Hold, PageEnds
from scrapy_seine.frontier.model import Lease

logger = logging.getLogger(__name__)


async def _nothing_more() -> bool:
    return False


class InFlightTable(PageEnds):
    """The entries of one process, and the pressure that keeps it from taking more."""

    def __init__(self) -> None:
        super().__init__()
        self._pressing: set[str] = set()
        #: Called when no sink presses any more, because by then nothing asks for requests.
        self.relieved: Callable[[], None] = lambda: None
        #: Rows and bytes that a sink has taken and not stored yet; the sink replaces it.
        self.waiting: Callable[[], tuple[int, int]] = lambda: (0, 0)
        #: Called when the crawl is complete, before the worker leaves, and when it joined another
        #: state of the crawl: says whether that brought more to do. Who keeps accounts of jobs
        #: replaces it.
        self.completed: Callable[[], Awaitable[bool]] = _nothing_more
        #: Sends the links of a page that is read but waits for its items; set by the worker.
        self.ahead: Callable[[InFlight], None] = lambda entry: None
        #: Sinks that write what they have before the worker signs off.
        self.flushers: list[Callable[[], Awaitable[None]]] = []
        #: Time of the server that a lease comes from, ms: workers' own clocks differ (I6).
        self.clock: Callable[[Lease], float] = lambda lease: time.time() * 1000

    def __len__(self) -> int:
        return len(self._all)

    @property
    def leases(self) -> list[Lease]:
        """Leases to be renewed: in Scrapy's hands or waiting for a commit."""
        return [entry.lease for entry in self._all]

    def urls(self, most: int) -> list[str]:
        """Return the addresses of some requests that are in Scrapy's hands."""
        return [entry.request.url for entry in islice(self._entries.values(), most)]

    @property
    def with_scrapy(self) -> list[InFlight]:
        """Entries whose requests are in Scrapy's hands."""
        return list(self._entries.values())

    @property
    def busy(self) -> bool:
        """Scrapy has a request; what is else in the table waits for a sink."""
        return bool(self._entries)

    def has(self, token: str) -> bool:
        """Scrapy has the request of this lease."""
        return any(entry.lease.token == token for entry in self._entries.values())

    @property
    def pressed(self) -> bool:
        """A store asks for a pause: take no new request."""
        return bool(self._pressing)

    def press(self, source: str, on: bool) -> None:
        """Ask for a pause, or take that back."""
        before = self.pressed
        (self._pressing.add if on else self._pressing.discard)(source)
        if before and not self.pressed:
            self.relieved()

    def begin(self, request: Request, lease: Lease) -> InFlight:
        """Scrapy has the request now."""
        # Read now: a middleware or the spider may clear the meta before the request fails.
        meta = request.meta
        tries = 0
        if m.RETRY_COUNT in meta and not m.is_own(meta, m.RETRY_COUNT):
            tries = whole(meta[m.RETRY_COUNT], 0)
        if m.RETRY_TIMES in meta:
            tries = max(tries, whole(meta[m.RETRY_TIMES], 0))
        entry = InFlight(request, lease, tries=tries, proxy=meta.get("proxy"))
        # By identity, not by meta: retries, redirects and users copy meta from page to page.
        self._entries[id(request)] = entry
        self._all.add(entry)
        return entry

    def now(self, entry: InFlight | None) -> datetime:
        """What time it is by the frontier's clock; by this machine's for what has no entry."""
        now_ms = self.clock(entry.lease) if entry is not None else time.time() * 1000
        return datetime.fromtimestamp(now_ms / 1000, UTC)

    def hold(self, item: object) -> Hold:
        """Keep the entry of the item at hand open until the hold is released."""
        return self.hold_on(current.get())

    def send_links(self, holds: Iterable[Hold]) -> bool:
        """Send the links of pages ahead that are read and held; whether any of them has some."""
        entries = [hold.entry for hold in holds if hold.entry is not None]
        for entry in entries:
            if entry.finished and entry.outcome == "done":
                self.ahead(entry)
        return any(entry.links_ahead for entry in entries)

    async def flush(self) -> None:
        """Have each sink write what it has; a sink that fails keeps the others from nothing."""
        for failed in await asyncio.gather(*(f() for f in self.flushers), return_exceptions=True):
            if failed is not None:
                logger.error("a sink failed to write all items of a page: %s", describe(failed))

    def abandon(self, of: Callable[[Lease], bool] = lambda lease: True) -> list[Lease]:
        """Forget entries, all or those *of* some leases; returns their leases."""
        gone = {entry for entry in self._all if of(entry.lease)}
        self._all -= gone
        self._entries = {at: entry for at, entry in self._entries.items() if entry not in gone}
        return [entry.lease for entry in gone]
