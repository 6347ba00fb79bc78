"""Lines that are worth one a minute, however often their cause returns."""

from __future__ import annotations

from collections.abc import Hashable
from time import monotonic

#: The same is said again after this time, s.
AGAIN_S = 60.0


class OnceAMinute:
    """What was said within the last minute."""

    def __init__(self) -> None:
        self._said: dict[Hashable, float] = {}

    def is_due(self, what: Hashable) -> bool:
        """Whether *what* is to be said now; it counts as said then.

        >>> said = OnceAMinute()
        >>> said.is_due("full disk"), said.is_due("full disk"), said.is_due("no network")
        (True, False, True)
        """
        now = monotonic()
        self._said = {known: at for known, at in self._said.items() if now - at < AGAIN_S}
        if what in self._said:
            return False
        self._said[what] = now
        return True
