"""The parse queue: pages are read one after the other, with a round of the event loop between two.

Reading responses back to back would block the event loop (32 pages: 60 ms). Meanwhile no request
would be sent and no lease would arrive, and afterwards there would be nothing left to read. So one
page is read, then the loop has a round, in which the network and Redis get their work done.
"""

from __future__ import annotations

import asyncio
from collections import deque


class ParseQueue:
    """A queue of pages that are to be read by one process."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Return once it is this page's turn."""
        turn: asyncio.Future[None] = self._loop.create_future()
        if not self._waiting:  # else somebody's turn is about to be called
            self._loop.call_soon(self._next)
        self._waiting.append(turn)
        await turn

    def _next(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # whoever waited may have been cancelled
                turn.set_result(None)
                break
        if self._waiting:
            self._loop.call_soon(self._next)
