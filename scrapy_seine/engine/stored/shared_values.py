"""Reports requests that share a list, dict or set, because each gets a copy of it.

Spiders collect a page's parts in one object that several requests carry, and yield it when a
counter beside it is zero. A stored request carries a copy, so the counter never gets there and
nothing fails. Whether callbacks change a shared value cannot be known: it is logged once, and only
the first requests of a worker are checked, which costs a page nothing.
"""

from __future__ import annotations

import logging
from typing import Any

from scrapy import Request

from scrapy_seine.meta import key_of

logger = logging.getLogger(__name__)
#: Requests of a worker that are checked.
MAX_CHECKED = 300
_CHANGEABLE = frozenset({dict, list, set})


class SharedValues:
    """The values in meta and cb_kwargs of a worker's first stored requests."""

    def __init__(self) -> None:
        self.unchecked_count = MAX_CHECKED
        """Requests that are still to be checked."""
        self._carried: dict[int, Any] = {}

    def check(self, request: Request) -> None:
        """Check a request that is stored; log if an earlier one has the same object."""
        self.unchecked_count -= 1
        for place, values in (("meta", request.meta), ("cb_kwargs", request.cb_kwargs)):
            for key, value in values.items():
                if type(value) not in _CHANGEABLE or key_of(key) is not None:
                    continue
                if id(value) in self._carried:
                    self._log(request, f"{place}[{key!r}]", type(value).__name__)
                    self.unchecked_count = 0
                self._carried[id(value)] = value  # kept, so that no other object gets its id
        if self.unchecked_count <= 0:
            self._carried.clear()

    def _log(self, request: Request, place: str, kind: str) -> None:
        name = getattr(request.callback, "__qualname__", None) or "parse"
        logger.info(
            "requests with callback %s share one %s in %s: each gets a copy, so what a callback "
            "changes in it no other callback sees. Pass an Item to share it: its requests stay in "
            "one worker",
            name,
            kind,
            place,
        )
