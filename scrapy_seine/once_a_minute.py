"""Limits log lines to one a minute, however often their cause returns."""

from __future__ import annotations

from collections.abc import Hashable
from time import monotonic

#: The same line is logged again after this time, s.
AGAIN_S = 60.0


class OnceAMinute:
    """The lines that were logged within the last minute."""

    def __init__(self) -> None:
        self._logged_at: dict[Hashable, float] = {}

    def is_due(self, line: Hashable) -> bool:
        """Whether *line* may be logged now; it counts as logged then.

        >>> said = OnceAMinute()
        >>> said.is_due("full disk"), said.is_due("full disk"), said.is_due("no network")
        (True, False, True)
        """
        now = monotonic()
        self._logged_at = {
            logged: at_s for logged, at_s in self._logged_at.items() if now - at_s < AGAIN_S
        }
        if line in self._logged_at:
            return False
        self._logged_at[line] = now
        return True
