"""An alarm that rings once, at the earliest of the times that it was asked for."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable


def at_random(most_s: float) -> float:
    """Return a time of half of *most_s* to all of it: else what woke a fleet once keeps it in step.

    >>> 5 <= at_random(10) <= 10
    True
    """
    return random.uniform(most_s / 2, most_s)


class Timer:
    """Calls *ring* on the running event loop; it may be set anew from then on."""

    def __init__(self, ring: Callable[[], object]) -> None:
        self._ring = ring
        # The time is kept here: uvloop's handle of a call that is due at once does not know it.
        self._set: tuple[float, asyncio.Handle] | None = None

    def within(self, delay_s: float) -> None:
        """Ring in *delay_s* seconds, or earlier where that was asked for before."""
        loop = asyncio.get_running_loop()
        when = loop.time() + delay_s
        if self._set is not None:
            if self._set[0] <= when:
                return
            self._set[1].cancel()
        self._set = when, loop.call_at(when, self._due)

    def cancel(self) -> None:
        """Do not ring until asked again."""
        if self._set is not None:
            self._set[1].cancel()
            self._set = None

    def _due(self) -> None:
        self._set = None
        self._ring()
