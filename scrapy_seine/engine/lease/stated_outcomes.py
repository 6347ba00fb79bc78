"""Records how requests end, as stated by middlewares, callbacks and errbacks (I10).

An entry ends by its stated outcome (`engine.lease.outcomes` ranks outcomes). No request is done by
default: one without a statement has failed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from scrapy import Request
from scrapy.exceptions import CloseSpider, IgnoreRequest

from scrapy_seine import meta as m
from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.lease.error_text import describe, printable
from scrapy_seine.engine.lease.outcomes import (
    BY_STATUS,
    Outcome,
    blames_item,
    prevails,
    rule_of,
    seconds,
)
from scrapy_seine.engine.reading.reading_limit import Endless, Unreadable
from scrapy_seine.errors import BadRequest

#: How long a request waits for a lane or a proxy pool that no worker of the fleet has, s.
LACKING_S = 900.0
#: Key of `request.meta`: since when it waits, Unix seconds on the frontier's clock.
_SINCE = "lacking_since"


class RetryPolicy(Protocol):
    """Decides whether and when a failed request is tried again."""

    def __call__(
        self, kind: str, request: Request, tries: int, wait_s: float | None, /
    ) -> float | None:
        """Seconds to wait after *tries* failed ones, or None: give up. Never raises."""


class Statements(ABC):
    """Records statements about requests in flight. Of two statements, the stronger one counts."""

    def __init__(self) -> None:
        self._policy: RetryPolicy = lambda kind, request, tries, wait_s: None
        #: Called if parsing a page took too long.
        self.on_overrun: Callable[[InFlight], None] = lambda entry: None

    @abstractmethod
    def entry_of(self, request: Request | None) -> InFlight | None:
        """Return the entry of this very request object; None if the frontier did not issue it."""

    @abstractmethod
    def now(self, entry: InFlight | None) -> datetime:
        """The time by the frontier's clock; without an entry, by this machine's."""

    def retry(
        self, request: Request, *, kind: str, reason: str, wait_s: float | None = None
    ) -> Request | None:
        """Try a failed request again later.

        Returns a copy that a downloader middleware must return; None if the request is not the
        frontier's, or has no try left: then its lease will be buried with *reason*.
        """
        entry = self.entry_of(request)
        if entry is None:
            return None
        self.state_failure(entry, kind, reason, wait_s)
        return entry.copy if entry.outcome == "retry" else None

    def retry_download(self, request: Request, *, kind: str, reason: str) -> Request | None:
        """Like `retry`, for a download that raised.

        If no try is left, nothing is stated yet: another middleware may still return a response. If
        none does, the request is buried with *kind* and *reason*.
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
        """Send back a request that was not tried: it keeps its tries and its priority.

        Returns a copy that a downloader middleware must return; None if the request is not the
        frontier's, or has failed.
        """
        entry = self.entry_of(request)
        if entry is None or not self._state(entry, "retry", kind, reason):
            return None
        entry.wait_s = seconds(wait_s)
        entry.copy = entry.request.replace(meta=_unlacking(entry.request), dont_filter=True)
        return entry.copy

    def wait_for(
        self, request: Request, *, kind: str, reason: str, wait_s: float
    ) -> Request | None:
        """Send back a request that needs what the whole fleet lacks, for LACKING_S at most.

        Then it is buried, because a crawl that waits for ever never ends. Returns what a downloader
        middleware must return; None if it is buried, or not the frontier's.
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
        """Hand a request back unsent: it keeps its place, and no try is counted.

        Returns what a downloader middleware must return; None if it is not the frontier's, or has
        failed.
        """
        entry = self.entry_of(request)
        if entry is None or not self._state(entry, "release"):
            return None
        entry.copy = request.replace()
        return entry.copy

    def ignore(self, request: Request, rule: str) -> None:
        """End a request as *ignored*: a named rule forbids to parse its page.

        Rules: `robots`, `offsite`, `filter`, `cancelled`, `gone`, `http status`, `not modified`.
        No effect on a request that the frontier did not issue, or that failed already.
        """
        entry = self.entry_of(request)
        if entry is not None and self._state(entry, "ignored"):
            entry.rule = rule

    def bury(self, request: Request, kind: str, reason: str) -> None:
        """Give a request up at once, because another try would end the same way.

        The request becomes a dead letter of *kind* (frontier.retry_rules). No effect on a request
        that the frontier did not issue.
        """
        entry = self.entry_of(request)
        if entry is not None:
            self._state(entry, "bury", kind, reason)

    def state_done(self, entry: InFlight) -> None:
        """State that a response reached its callback, and that the callback ended."""
        self._state(entry, "done")

    def state_exception(self, entry: InFlight, error: BaseException) -> None:
        """State the outcome of an unhandled exception: ignored, or one more failed try."""
        if isinstance(error, IgnoreRequest):
            self._state_ignored(entry, error)
        elif isinstance(error, BadRequest):  # nobody can send it at another time either
            self._state(entry, "bury", "internal", describe(error))
        else:
            self.state_failure(entry, entry.kind or "internal", entry.reason or describe(error))

    def state_spider_exception(self, entry: InFlight, error: BaseException) -> None:
        """State that a callback or an errback raised: the same page would make it raise again."""
        if isinstance(error, IgnoreRequest):
            self._state_ignored(entry, error)
        elif isinstance(error, Unreadable):
            if isinstance(error, Endless):
                self._state(entry, "bury", "unreadable", str(error))
            self.state_failure(entry, "unreadable", str(error))
            self.on_overrun(entry)
        elif isinstance(error, CloseSpider):  # the page was not parsed to its end
            self.state_failure(entry, "closed", f"its callback closed the spider: {error.reason}")
        else:
            self._state(entry, "bury", "parse", describe(error))

    def state_item_exception(
        self, entry: InFlight, error: BaseException, component: str = ""
    ) -> None:
        """State that a pipeline or a feed (*component*) raised on one of the page's items."""
        reason = f"{component}{describe(error)}"
        if blames_item(error):  # another try would store the page's other items twice
            self._state(entry, "bury", "item", reason)
        else:
            self.state_failure(entry, "item", reason)

    def _state_ignored(self, entry: InFlight, error: IgnoreRequest) -> None:
        if self._state(entry, "ignored"):
            entry.rule = rule_of(error)
            entry.by = type(error).__name__ if entry.rule == "filter" else ""

    def withdraw(self, entry: InFlight) -> None:
        """Withdraw the statement, because an errback handled it: its own end counts."""
        entry.outcome, entry.handled = "", True
        entry.kind = entry.reason = entry.rule = entry.by = ""
        entry.copy = None

    def withdraw_status(self, entry: InFlight) -> None:
        """Withdraw a status's statement, because a callback handles the error status."""
        if entry.outcome == "bury" and entry.kind in BY_STATUS:
            self.withdraw(entry)

    def state_failure(
        self, entry: InFlight, kind: str, reason: str, wait_s: float | None = None
    ) -> None:
        """State a failure: the entry ends in a retry, or in a burial after the last one."""
        wait = self._policy(kind, entry.request, entry.tries, wait_s)
        if wait is None:
            self._state(entry, "bury", kind, reason)
            return
        try:
            copy = _next_try(entry)
        except Exception as error:  # a middleware left a value in the request that cannot be copied
            self._state(entry, "bury", kind, f"{reason}; it cannot be copied: {describe(error)}")
            return
        if self._state(entry, "retry", kind, reason):
            entry.wait_s, entry.copy = seconds(wait), copy

    @staticmethod
    def _state(entry: InFlight, outcome: Outcome, kind: str = "", reason: str = "") -> bool:
        """Record a statement unless a stronger one was made; returns whether it counts."""
        if not prevails(outcome, entry.outcome):
            return False
        entry.outcome = outcome
        if kind:
            entry.kind, entry.reason = kind, printable(reason)
        return True


def _unlacking(request: Request) -> dict[str, Any]:
    """Return a request's meta without the time since which it lacked something."""
    return {key: value for key, value in request.meta.items() if key != _SINCE}


def _next_try(entry: InFlight) -> Request:
    """Return the request with one more failed try, behind others of its priority."""
    request = entry.request
    tries = entry.tries + 1
    meta = {**_unlacking(request), m.RETRY_TIMES: tries}
    if not m.is_own(meta, m.RETRY_COUNT):
        meta[m.RETRY_COUNT] = tries
    return request.replace(meta=meta, priority=request.priority - 1, dont_filter=True)
