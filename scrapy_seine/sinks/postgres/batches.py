"""Back-pressure of PostgreSQL: how many rows may wait for it, and when a batch is written."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, deque
from typing import Any

import attrs

from scrapy_seine.attrs_bases import Value


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Limits(Value):
    """When a batch is written, and how much may wait."""

    rows: int = 500
    """Rows in a batch, at most."""
    size: int = 4 << 20
    """Bytes at which a batch is complete."""
    age_s: float = 0.3
    """How long a row waits for others, at most."""
    pause_bytes: int = 16 << 20
    """Waiting bytes beyond which *pressed* is called."""
    refuse_bytes: int = 128 << 20
    """Waiting bytes beyond which `put` refuses."""


#: The ticket of a row that was committed before: nobody waits for it, and it is no log's.
WRITTEN_AGAIN = object()


@attrs.frozen(eq=False, repr=False)
class Piece:
    """A row to write, with the ticket of the caller that waits for its commit."""

    table: str
    row: Any
    size: int
    ticket: Any
    since: float

    @property
    def is_awaited(self) -> bool:
        """Whether a caller waits for its commit."""
        return self.ticket is not None and self.ticket is not WRITTEN_AGAIN


@attrs.frozen(eq=False, repr=False)
class Report(Value):
    """The outcome of some pieces."""

    stored: list[Any] = attrs.Factory(list)
    """Tickets whose rows are committed."""
    failed: list[Any] = attrs.Factory(list)
    """Tickets whose rows are neither stored nor kept as refused."""
    reason: str = ""
    """Why they failed."""
    counts: Counter[str] = attrs.Factory(Counter)
    """Rows by outcome; batches, seconds, retries."""


class Queue:
    """Rows that wait for the writer's thread; any thread may add one."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._rows: deque[Piece] = deque()
        self._bytes = 0
        self._turn = threading.Condition()
        self.closed = False
        self._deadline = float("inf")

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def size(self) -> int:
        """Bytes that wait."""
        return self._bytes

    @property
    def is_over(self) -> bool:
        """Whether the time limit of `close` has passed."""
        return time.monotonic() >= self._deadline

    def put(self, table: str, row: Any, size: int, ticket: Any) -> bool:
        """Take a row; False if too many wait already, or the queue is closed."""
        if self._bytes > self.limits.refuse_bytes or self.closed:
            return False
        piece = Piece(table, row, size, ticket, time.monotonic())
        with self._turn:
            self._rows.append(piece)
            self._bytes += size
            if len(self._rows) in {1, self.limits.rows} or self._bytes > self.limits.size:
                self._turn.notify()
        return True

    def close(self, limit_s: float) -> None:
        """Take no more rows, and hand out the remaining ones for at most *limit_s* seconds."""
        with self._turn:
            self.closed = True
            self._deadline = time.monotonic() + limit_s
            self._turn.notify()

    def take(self, until: float) -> list[Piece]:
        """Wait for a batch; empty at the end, or if none is ready at *until* (monotonic s)."""
        limits, rows = self.limits, self._rows
        with self._turn:
            while not self.closed:
                now = time.monotonic()
                wait = until - now
                if rows:
                    wait = min(wait, rows[0].since + limits.age_s - now)
                    if len(rows) >= limits.rows or self._bytes >= limits.size:
                        break
                if wait <= 0:
                    break
                self._turn.wait(min(wait, threading.TIMEOUT_MAX))
            batch: list[Piece] = []
            size = 0
            if self.is_over:
                return batch
            while rows and len(batch) < limits.rows and size < limits.size:
                batch.append(rows.popleft())
                size += batch[-1].size
            self._bytes -= size
            return batch

    def sample(self, table: str, limit: int) -> list[Piece]:
        """Take some rows of a table at random, because rows of one site are adjacent."""
        with self._turn:
            candidates = [piece for piece in self._rows if piece.table == table]
            for piece in (sampled := random.sample(candidates, min(limit, len(candidates)))):
                self._rows.remove(piece)
                self._bytes -= piece.size
            return sampled

    def pause(self, wait_s: float) -> bool:
        """Wait, but not beyond the time limit of `close`; False if that has passed."""
        until = time.monotonic() + wait_s
        with self._turn:
            while (remaining_s := min(until, self._deadline) - time.monotonic()) > 0:
                self._turn.wait(remaining_s)
        return not self.is_over

    def remaining(self) -> list[Piece]:
        """Return the rows that were not taken."""
        return list(self._rows)
