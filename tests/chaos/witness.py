"""Was it the crawler, or the machine? A thread that only sleeps, and notes when it overslept."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

#: How long the thread sleeps at a time, and from when on it overslept, seconds.
NAP_S, LATE_S = 0.01, 0.04
#: Work that piled up while a machine stood still is done for about this long after, seconds.
AFTER_S = 0.3


class Witness:
    """Times at which the machine ran nobody: a site's log says little about them."""

    def __init__(self) -> None:
        self.stalls: list[tuple[float, float]] = []
        self._over = threading.Event()

    def watch(self) -> None:
        """Sleep and look, until the end."""
        before = time.time()
        while not self._over.wait(NAP_S):
            now = time.time()
            if now - before > NAP_S + LATE_S:
                self.stalls.append((before, now))
            before = now

    def saw(self, start: float, end: float) -> bool:
        """Whether the machine stood still between these times, or shortly before."""
        return any(a <= end and b >= start - AFTER_S for a, b in self.stalls)

    def end(self) -> None:
        """Stop watching."""
        self._over.set()


@contextlib.contextmanager
def witness() -> Iterator[Witness]:
    """Watch as long as the block."""
    made = Witness()
    thread = threading.Thread(target=made.watch, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.end()
        thread.join()
