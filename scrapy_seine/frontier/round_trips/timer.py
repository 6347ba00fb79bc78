"""A timer that fires once, at the earliest of the requested times."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable


def at_random(most_s: float) -> float:
    """Return a random time between half of *most_s* and *most_s*, so that a woken fleet spreads
    out.

    >>> 5 <= at_random(10) <= 10
    True
    """
    return random.uniform(most_s / 2, most_s)


class Timer:
    """Calls *ring* on the running event loop; it may be set again after that."""

    def __init__(self, ring: Callable[[], object]) -> None:
        self._ring = ring
        # The time is stored here, because uvloop's handle of a call that is due at once lacks it.
        self._set: tuple[float, asyncio.Handle] | None = None

    def within(self, delay_s: float) -> None:
        """Fire in *delay_s* seconds, or earlier if that was requested before."""
        loop = asyncio.get_running_loop()
        at_s = loop.time() + delay_s
        if self._set is not None:
            if self._set[0] <= at_s:
                return
            self._set[1].cancel()
        self._set = at_s, loop.call_at(at_s, self._fire)

    def cancel(self) -> None:
        """Cancel the pending call."""
        if self._set is not None:
            self._set[1].cancel()
            self._set = None

    def _fire(self) -> None:
        self._set = None
        self._ring()
