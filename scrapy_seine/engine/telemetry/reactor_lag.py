"""Measures how late the event loop wakes a sleeping task: the metric seine_reactor_lag_seconds."""

from __future__ import annotations

import asyncio
from time import monotonic

_TICK_S = 0.25


class ReactorLag:
    """The longest delay since the last read."""

    def __init__(self) -> None:
        self._lag_s = 0.0
        self._ticker: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start measuring, inside the running loop."""
        self._ticker = asyncio.ensure_future(self._tick())

    async def stop(self) -> None:
        """Stop measuring."""
        if self._ticker is not None:
            self._ticker.cancel()
            await asyncio.gather(self._ticker, return_exceptions=True)

    async def _tick(self) -> None:
        while True:
            began = monotonic()
            await asyncio.sleep(_TICK_S)
            self._lag_s = max(self._lag_s, monotonic() - began - _TICK_S)

    def take_s(self) -> float:
        """Return the longest delay since the last call, s."""
        lag_s, self._lag_s = self._lag_s, 0.0
        return lag_s
