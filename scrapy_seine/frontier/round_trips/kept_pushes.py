"""Pushes that are kept for a while, because a frontier that is rolled back forgets them (I12)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from time import monotonic

from scrapy_seine.frontier.model import Push

#: For how long pushes that no page stands for are kept, s, and how many at most. Redis remembers
#: their marks as long, so that one that it did not forget does not enter twice.
KEPT_S, KEPT = 1200.0, 20_000


class Kept:
    """Pushes that entered lately and that no page would yield again: seeds, first requests."""

    def __init__(self) -> None:
        self._pushes: deque[tuple[float, Push]] = deque(maxlen=KEPT)

    def add(self, pushes: Iterable[Push]) -> None:
        """Keep what the frontier took in just now."""
        now = monotonic()
        self._pushes.extend((now, push) for push in pushes)
        while self._pushes and now - self._pushes[0][0] > KEPT_S:
            self._pushes.popleft()

    def of(self, mine: Callable[[Push], bool]) -> list[Push]:
        """Return those that are *mine*, oldest first."""
        now = monotonic()
        return [push for at, push in self._pushes if now - at <= KEPT_S and mine(push)]
