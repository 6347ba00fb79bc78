"""Keeps pushes for a while, because a frontier that is rolled back forgets them (I12)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from time import monotonic

from scrapy_seine.frontier.model import Push

#: How long pushes without a page are kept, s, and how many at most. Redis keeps their marks as
#: long, so that a push that it did not forget does not enter twice.
KEPT_S, MAX_PUSHES = 1200.0, 20_000


class RecentPushes:
    """Recent pushes that no page would yield again: seeds, first requests."""

    def __init__(self) -> None:
        self._pushes: deque[tuple[float, Push]] = deque(maxlen=MAX_PUSHES)

    def add(self, pushes: Iterable[Push]) -> None:
        """Keep pushes that the frontier has just taken in."""
        now = monotonic()
        self._pushes.extend((now, push) for push in pushes)
        while self._pushes and now - self._pushes[0][0] > KEPT_S:
            self._pushes.popleft()

    def select(self, matches: Callable[[Push], bool]) -> list[Push]:
        """Return the pushes that *matches* selects, oldest first."""
        now = monotonic()
        return [
            push for added_at, push in self._pushes if now - added_at <= KEPT_S and matches(push)
        ]
