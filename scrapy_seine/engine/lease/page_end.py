"""When a page ends: Scrapy has finished its request, and each of its items is stored (I4).

A pipeline takes a hold on the entry of an item, and releases it after the commit. Only then the
entry ends, and the frontier ends its lease. Its children are sent with that (I3).
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
from scrapy import Request

from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.lease.stated_outcomes import RetryPolicy, Statements

#: The reason of a request that ended without a stated outcome.
UNSTATED = "the request ended, and nothing stated how"


@attrs.define(eq=False, repr=False)
class Hold:
    """Keeps a page open until an item is stored. Each hold is released or failed once."""

    inflight: PageEnds
    entry: InFlight | None

    @property
    def is_abandoned(self) -> bool:
        """Whether the page's lease was given away meanwhile, because Redis lost it."""
        return self.entry is not None and not self.inflight.has_entry(self.entry)

    def release(self) -> None:
        """The item is committed, or rejected with a reason."""
        entry, self.entry = self.entry, None
        if entry is not None:
            entry.holds -= 1
            self.inflight.settle(entry)

    def fail(self, reason: str) -> None:
        """The item could not be stored: try the page again."""
        if self.entry is not None:
            self.inflight.state_failure(self.entry, "store", reason)
        self.release()


class PageEnds(Statements):
    """Ends each entry when nothing needs it any more, never before."""

    def __init__(self) -> None:
        super().__init__()
        self._on_end: Callable[[InFlight], None] = lambda entry: None
        self._entries: dict[int, InFlight] = {}
        self._all: set[InFlight] = set()
        self._watchers: list[Callable[[InFlight], None]] = []
        #: Called when Scrapy has finished a request, its outcome stated, before its entry may end.
        self.finishing: list[Callable[[InFlight], None]] = []

    def connect(self, on_end: Callable[[InFlight], None], policy: RetryPolicy) -> None:
        """Set the callback for each end, and the retry policy; the scheduler calls it."""
        self._on_end, self._policy = on_end, policy

    def watch(self, on_end: Callable[[InFlight], None]) -> None:
        """Add a callback for each end, for counts."""
        self._watchers.append(on_end)

    def entry_of(self, request: Request | None) -> InFlight | None:
        """Return the entry of this very request object; None if the frontier did not issue it."""
        return self._entries.get(id(request))

    def has_entry(self, entry: InFlight) -> bool:
        """Whether an entry has not ended, and was not abandoned."""
        return entry in self._all

    def hold_on(self, entry: InFlight | None) -> Hold:
        """Keep an entry open until the hold is released; without an entry the hold does nothing."""
        if entry is None or not self.has_entry(entry):
            return Hold(self, None)
        entry.holds += 1
        return Hold(self, entry)

    def hold_for(self, request: Request) -> Hold:
        """Keep the entry of a request open, for middlewares."""
        return self.hold_on(self.entry_of(request))

    def record_finished(self, request: Request) -> None:
        """Record that Scrapy has finished a request, whatever its outcome."""
        entry = self._entries.pop(id(request), None)
        if entry is not None:
            entry.finished = True
            try:
                for callback in self.finishing:
                    callback(entry)
            finally:
                self.settle(entry)

    def settle(self, entry: InFlight) -> None:
        """End the entry if nothing needs it any more."""
        if entry.open or entry not in self._all:
            return
        self._all.remove(entry)
        if not entry.outcome:
            self.state_failure(entry, "internal", UNSTATED)
        try:
            for watcher in self._watchers:
                watcher(entry)
        finally:
            self._on_end(entry)
