"""Warns that the fleet's workers have different lists of proxies."""

from __future__ import annotations

import logging

from crawler.access.proxies.pool import Registered

logger = logging.getLogger(__name__)
#: Seconds between two registrations of a worker's list.
_REGISTER_S = 300.0
#: Seconds for which workers may have different lists: they read a changed file at different times.
_SETTLE_S = 30.0


class DifferentLists:
    """Counts registrations that found other lists."""

    def __init__(self) -> None:
        self._times = 0

    def note(self, registered: Registered) -> float:
        """Warn once if other lists stay; return in how many seconds to register again."""
        self._times = 0 if registered.lists == 1 else self._times + 1
        if self._times == 2:  # noqa: PLR2004
            logger.warning(
                "the fleet's workers have %d different lists of proxies; each uses its own. "
                "Only here: %s; only elsewhere: %s",
                registered.lists,
                registered.only_here,
                registered.only_elsewhere,
            )
        return _SETTLE_S if self._times == 1 else _REGISTER_S
