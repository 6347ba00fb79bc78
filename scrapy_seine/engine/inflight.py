"""Which lease does this belong to, and how did the page end? One entry for each request in flight.

An entry begins when the scheduler gives its request to Scrapy. It ends when Scrapy is done with
the request *and* each of its items is stored: a pipeline takes a hold on an item's entry and
releases it after the commit (I4). Children wait in the entry and leave with its ack (I3).

An entry ends by the outcome that was stated for it (I10, scrapy_seine.engine.outcomes). Nothing is
done by default: a request of which nobody stated how it ended has failed.

How an item or a child finds its entry: a request has a task of its own
(engine.fastpath.request_task), where a context variable names the entry from the end of the
download on. That covers callbacks, errbacks after HTTP errors, and errbacks after failed downloads,
where no spider middleware runs.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Protocol

import attrs
from scrapy import Request
from scrapy.exceptions import CloseSpider, IgnoreRequest

from scrapy_seine import meta as m
from scrapy_seine.engine.limit import Unreadable
from scrapy_seine.engine.outcomes import (
    BY_STATUS,
    Outcome,
    describe,
    prevails,
    printable,
    rule_of,
    seconds,
    whole,
)
from scrapy_seine.frontier.model import Lease, Push

logger = logging.getLogger(__name__)
#: How long a request waits for a lane or a pool of proxies that nobody in the fleet has, s.
LACKING_S = 900.0
#: Key of `request.meta`: since when it does, Unix seconds on the frontier's clock.
_SINCE = "lacking_since"
#: What is told of a request that ended, though no code said how.
UNSTATED = "the request ended, and nothing stated how"


@attrs.define(eq=False)
class InFlight:
    """One leased request inside this process."""

    request: Request
    lease: Lease
    children: list[Push] = attrs.Factory(list)
    holds: int = 0
    finished: bool = False
    landed: bool = False
    answered_at: datetime | None = None
    """When the answer was here, by the frontier's clock."""
    spent_at: float | None = None
    """When its time to send was used up by something else, robots.txt (monotonic)."""
    waited_s: float = 0.0
    """Seconds that a connection waited for the time to send."""
    tries: int = 0
    """Tries that failed before this one."""
    proxy: Any = None
    """The proxy that the stored request names; a middleware may choose another one."""
    outcome: Outcome = ""
    """What was stated of its end; empty: nothing yet, and never success."""
    rule: str = ""
    """By which rule the request is ignored."""
    by: str = ""
    """Name of the exception that a third party ignores it by."""
    handled: bool = False
    """An errback, or a callback that takes error statuses, dealt with what had failed."""
    kind: str = ""
    reason: str = ""
    wait_s: float = 0.0
    copy: Request | None = None
    seen: Any = None
    """What a middleware notes of the page's state for the pipelines."""

    @property
    def open(self) -> bool:
        """Scrapy or a pipeline still needs it."""
        return not self.finished or self.holds > 0

    def take_proxy_back(self, copy: Request) -> None:
        """Have another try, or a redirect's target, choose a proxy anew.

        One that a middleware chose would come back as one that anybody may have named.
        """
        if self.proxy:
            copy.meta["proxy"] = self.proxy
        else:
            copy.meta.pop("proxy", None)


current: ContextVar[InFlight | None] = ContextVar("seine_entry", default=None)


class RetryPolicy(Protocol):
    """Decides whether and when a failed request is tried again."""

    def __call__(
        self, kind: str, request: Request, tries: int, wait_s: float | None, /
    ) -> float | None:
        """Seconds to wait after *tries* failed ones, or None: give up. Never raises."""


@attrs.define(eq=False)
class Hold:
    """A promise to say when an item is stored. Each hold is released or failed once."""

    inflight: InFlightTable
    entry: InFlight | None

    def release(self) -> None:
        """The item is committed, or rejected with its reason."""
        entry, self.entry = self.entry, None
        if entry is not None:
            entry.holds -= 1
            self.inflight.settle(entry)

    def fail(self, reason: str) -> None:
        """The item could not be stored: the page is to be tried again."""
        if self.entry is not None:
            self.inflight.mark(self.entry, "store", reason)
        self.release()


async def _nothing_more() -> bool:
    return False


class InFlightTable:
    """The entries of one process, and the pressure that keeps it from taking more."""

    def __init__(self) -> None:
        self._ended: Callable[[InFlight], None] = lambda entry: None
        self._policy: RetryPolicy = lambda kind, request, tries, wait_s: None
        self._entries: dict[int, InFlight] = {}
        self._all: set[InFlight] = set()
        self._pressing: set[str] = set()
        #: Called when the last pressure goes: nobody asks for requests by then.
        self.relieved: Callable[[], None] = lambda: None
        #: Rows and bytes that a sink has taken and not stored yet; the sink replaces it.
        self.waiting: Callable[[], tuple[int, int]] = lambda: (0, 0)
        #: Called when the crawl is complete, before the worker leaves, and when it joined another
        #: state of the crawl: says whether that brought more to do. Who keeps accounts of jobs
        #: replaces it.
        self.completed: Callable[[], Awaitable[bool]] = _nothing_more
        #: Called where reading a page took too long.
        self.overran: Callable[[InFlight], None] = lambda entry: None
        self._watchers: list[Callable[[InFlight], None]] = []
        #: Told when Scrapy is done with a request, its outcome stated, before its entry may end.
        self.finishing: list[Callable[[InFlight], None]] = []
        #: Sinks that write what they have before the worker signs off.
        self.flushers: list[Callable[[], Awaitable[None]]] = []
        #: Time of the server that a lease comes from, ms: workers' own clocks differ (I6).
        self.clock: Callable[[Lease], float] = lambda lease: time.time() * 1000

    def __len__(self) -> int:
        return len(self._all)

    def connect(self, ended: Callable[[InFlight], None], policy: RetryPolicy) -> None:
        """Say who hears of each end, and who decides on retries: the scheduler does."""
        self._ended, self._policy = ended, policy

    def watch(self, ended: Callable[[InFlight], None]) -> None:
        """Hear of each end as well, only to count it."""
        self._watchers.append(ended)

    @property
    def leases(self) -> list[Lease]:
        """Leases to be renewed: in Scrapy's hands or waiting for a commit."""
        return [entry.lease for entry in self._all]

    @property
    def busy(self) -> bool:
        """Scrapy has a request; what is else in the table waits for a sink."""
        return bool(self._entries)

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
        tries = whole(meta.get(m.RETRY_COUNT), 0)
        entry = InFlight(request, lease, tries=tries, proxy=meta.get("proxy"))
        # By identity, not by meta: retries, redirects and users copy meta from page to page.
        self._entries[id(request)] = entry
        self._all.add(entry)
        return entry

    def entry_of(self, request: Request | None) -> InFlight | None:
        """Entry of this very request object; None where the frontier did not issue it."""
        return self._entries.get(id(request))

    def now(self, entry: InFlight | None) -> datetime:
        """What time it is by the frontier's clock; by this machine's for what has no entry."""
        now_ms = self.clock(entry.lease) if entry is not None else time.time() * 1000
        return datetime.fromtimestamp(now_ms / 1000, UTC)

    def hold(self, item: object) -> Hold:
        """Keep the entry of the item at hand open until the hold is released."""
        entry = current.get()
        if entry is None or entry not in self._all:
            return Hold(self, None)
        entry.holds += 1
        return Hold(self, entry)

    def hold_for(self, request: Request) -> Hold:
        """The same by the request, for middlewares."""
        entry = self.entry_of(request)
        if entry is not None:
            entry.holds += 1
        return Hold(self, entry)

    def finished(self, request: Request) -> None:
        """Scrapy is done with a request, whatever became of it."""
        entry = self._entries.pop(id(request), None)
        if entry is not None:
            entry.finished = True
            try:
                for told in self.finishing:
                    told(entry)
            finally:
                self.settle(entry)

    async def flush(self) -> None:
        """Have each sink write what it has; a sink that fails keeps the others from nothing."""
        for failed in await asyncio.gather(*(f() for f in self.flushers), return_exceptions=True):
            if failed is not None:
                logger.error("a sink did not write all: %s", describe(failed))

    def settle(self, entry: InFlight) -> None:
        """End the entry if nothing needs it any more."""
        if entry.open or entry not in self._all:
            return
        self._all.remove(entry)
        if not entry.outcome:
            self.mark(entry, "internal", UNSTATED)
        try:
            for watcher in self._watchers:
                watcher(entry)
        finally:
            self._ended(entry)

    def retry(
        self, request: Request, *, kind: str, reason: str, wait_s: float | None = None
    ) -> Request | None:
        """Try a failed request again later.

        Returns a copy that a downloader middleware must return; None when the request is not the
        frontier's, or has no try left: then its lease will be buried with *reason*.
        """
        entry = self.entry_of(request)
        if entry is None:
            return None
        self.mark(entry, kind, reason, wait_s)
        return entry.copy if entry.outcome == "retry" else None

    def retry_download(self, request: Request, *, kind: str, reason: str) -> Request | None:
        """Like `retry`, for a download that raised.

        Where no try is left, nothing is stated yet: another middleware may still answer in the
        download's place. If none does, the request is buried with *kind* and *reason*.
        """
        entry = self.entry_of(request)
        if entry is None or entry.outcome:
            return None
        entry.kind, entry.reason = kind, printable(reason)
        if self._policy(kind, request, entry.tries, None) is None:
            return None
        return self.retry(request, kind=kind, reason=reason)

    def postpone(
        self, request: Request, *, kind: str, reason: str, wait_s: float
    ) -> Request | None:
        """Send a request back that was not tried: it keeps its tries and its priority.

        Returns a copy that a downloader middleware must return; None when the request is not the
        frontier's, or has failed.
        """
        entry = self.entry_of(request)
        if entry is None or not self._state(entry, "retry", kind, reason):
            return None
        entry.wait_s = seconds(wait_s)
        entry.copy = entry.request.replace(dont_filter=True)
        return entry.copy

    def wait_for(
        self, request: Request, *, kind: str, reason: str, wait_s: float
    ) -> Request | None:
        """Send a request back that needs what the whole fleet lacks, for LACKING_S at most.

        Then it is buried, because a crawl that waits for ever never ends. Returns what a
        downloader middleware must return; None when it is buried, or not the frontier's.
        """
        entry = self.entry_of(request)
        if entry is None:
            return None
        now_s = self.now(entry).timestamp()
        since = request.meta.get(_SINCE)
        since_s = since if isinstance(since, float) and since <= now_s else now_s
        if now_s - since_s > LACKING_S:
            self._state(entry, "bury", kind, f"{reason}, for {LACKING_S:.0f} s")
            return None
        copy = self.postpone(request, kind=kind, reason=reason, wait_s=wait_s)
        if copy is not None:
            copy.meta[_SINCE] = since_s
        return copy

    def hand_back(self, request: Request) -> Request | None:
        """Give a request back unsent: it keeps its place, and no try is counted.

        Returns what a downloader middleware must return; None when it is not the frontier's, or
        has failed.
        """
        entry = self.entry_of(request)
        if entry is None or not self._state(entry, "release"):
            return None
        entry.copy = request.replace()
        return entry.copy

    def ignore(self, request: Request, rule: str) -> None:
        """End a request as *ignored*: a named rule says that its page is not to be read.

        Rules: `robots`, `offsite`, `filter`, `cancelled`, `gone`, `http status`, `not modified`.
        Without effect on a request that the frontier did not issue, or that failed already.
        """
        entry = self.entry_of(request)
        if entry is not None and self._state(entry, "ignored"):
            entry.rule = rule

    def bury(self, request: Request, kind: str, reason: str) -> None:
        """Give a request up at once: another try would end the same way.

        The request becomes a dead letter of *kind* (frontier.backoff). Without effect on a
        request that the frontier did not issue.
        """
        entry = self.entry_of(request)
        if entry is not None:
            self._state(entry, "bury", kind, reason)

    def done(self, entry: InFlight) -> None:
        """State that a response reached its callback, and that the callback ended."""
        self._state(entry, "done")

    def raised(self, entry: InFlight, error: BaseException) -> None:
        """State what an exception means that nobody handled: ignored, or one more failed try."""
        if isinstance(error, IgnoreRequest):
            self._ignored(entry, error)
        else:
            self.mark(entry, entry.kind or "internal", entry.reason or describe(error))

    def spider_raised(self, entry: InFlight, error: BaseException) -> None:
        """State that a callback or an errback raised: the same page would make it raise again."""
        if isinstance(error, IgnoreRequest):
            self._ignored(entry, error)
        elif isinstance(error, Unreadable):
            self.mark(entry, "unreadable", str(error))
            self.overran(entry)
        elif isinstance(error, CloseSpider):  # the page was not read to its end
            self.mark(entry, "closed", f"its callback closed the spider: {error.reason}")
        else:
            self._state(entry, "bury", "parse", describe(error))

    def _ignored(self, entry: InFlight, error: IgnoreRequest) -> None:
        if self._state(entry, "ignored"):
            entry.rule = rule_of(error)
            entry.by = type(error).__name__ if entry.rule == "filter" else ""

    def handled(self, entry: InFlight) -> None:
        """Take back what was stated: an errback dealt with it, and how that ends counts."""
        entry.outcome, entry.handled = "", True
        entry.kind = entry.reason = entry.rule = entry.by = ""
        entry.copy = None

    def taken(self, entry: InFlight) -> None:
        """A callback takes an error status: what only the status had stated is taken back."""
        if entry.outcome == "bury" and entry.kind in BY_STATUS:
            self.handled(entry)

    def mark(self, entry: InFlight, kind: str, reason: str, wait_s: float | None = None) -> None:
        """State a failure: the entry ends in a retry, or in a burial after the last one."""
        wait = self._policy(kind, entry.request, entry.tries, wait_s)
        if wait is None:
            self._state(entry, "bury", kind, reason)
            return
        try:
            copy = _next_try(entry)
        except Exception as error:  # a middleware left something in the request that cannot be
            self._state(entry, "bury", kind, f"{reason}; it cannot be copied: {describe(error)}")
            return
        if self._state(entry, "retry", kind, reason):
            entry.wait_s, entry.copy = seconds(wait), copy

    @staticmethod
    def _state(entry: InFlight, outcome: Outcome, kind: str = "", reason: str = "") -> bool:
        """Note a statement unless a stronger one was made; True where it counts."""
        if not prevails(outcome, entry.outcome):
            return False
        entry.outcome = outcome
        if kind:
            entry.kind, entry.reason = kind, printable(reason)
        return True

    def abandon(self, of: Callable[[Lease], bool] = lambda lease: True) -> list[Lease]:
        """Forget entries, all or those *of* some leases; returns their leases."""
        gone = {entry for entry in self._all if of(entry.lease)}
        self._all -= gone
        self._entries = {at: entry for at, entry in self._entries.items() if entry not in gone}
        return [entry.lease for entry in gone]


def _next_try(entry: InFlight) -> Request:
    """The request with one more failed try, behind others of its priority."""
    request = entry.request
    meta = {**request.meta, m.RETRY_COUNT: entry.tries + 1}
    return request.replace(meta=meta, priority=request.priority - 1, dont_filter=True)
