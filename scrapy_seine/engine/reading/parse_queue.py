"""The parse queue: pages are parsed one by one, with an iteration of the event loop in between.

Parsing responses back to back would block the event loop (32 pages: 60 ms). Meanwhile no request
would be sent and no lease would arrive, and afterwards there would be nothing left to parse. So one
page is parsed, then the loop runs once, in which the network and Redis make progress. After a page
that takes seconds, the loop runs for a while, because an answer to a probe needs several
iterations.

A page that has begun goes on before others begin, because its tree, ten times as large as its
bytes, is freed at its end. Of 32 pages of 285 kB that arrived together, all trees existed: 50 MB.
"""

from __future__ import annotations

import asyncio
from collections import deque

#: Seconds that the loop runs after a page that took long.
_PAUSE_S = 0.05
#: Turns that a page takes before others begin; a callback that never ends must not keep them out.
FIRST_TURNS = 50


class ParseQueue:
    """A queue of the pages that one process parses."""

    def __init__(self) -> None:
        self.is_busy = False
        """Whether the process computes for long (`reading_limit`): all code that can wait does so
        here then, not only the code that parses a page."""
        self.needs_pause = False
        """Whether the page that is parsed takes long."""
        self._is_scheduled = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self, turns: int = 0) -> None:
        """Return when it is the turn of a page that has had so many *turns*."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        if not self._is_scheduled:
            self._is_scheduled = True
            loop.call_soon(self._next, loop)
        if 0 < turns <= FIRST_TURNS:
            self._waiting.appendleft(turn)
        else:
            self._waiting.append(turn)
        await turn

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        if self.needs_pause:
            self.needs_pause = False
            loop.call_later(_PAUSE_S, self._next, loop)
            return
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # the page may have been cancelled
                turn.set_result(None)
                loop.call_soon(self._next, loop)
                return
        self._is_scheduled = self.is_busy = False
