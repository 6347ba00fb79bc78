"""The parse queue: pages are parsed one by one, with an iteration of the event loop in between.

Parsing responses back to back would block the event loop (32 pages: 60 ms). Meanwhile no request
would be sent and no lease would arrive, and afterwards there would be nothing left to parse. So one
page is parsed, then the loop runs once, in which the network and Redis make progress.
"""

from __future__ import annotations

import asyncio
from collections import deque


class ParseQueue:
    """A queue of the pages that one process parses."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Return when it is this page's turn."""
        turn: asyncio.Future[None] = self._loop.create_future()
        if not self._waiting:  # else the next call is already scheduled
            self._loop.call_soon(self._next)
        self._waiting.append(turn)
        await turn

    def _next(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # the page may have been cancelled
                turn.set_result(None)
                break
        if self._waiting:
            self._loop.call_soon(self._next)
