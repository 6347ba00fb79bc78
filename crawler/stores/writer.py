"""One thread a process that writes rows to PostgreSQL, in batches, until they are committed.

`put` never waits and never asks the database. A batch leaves by count, bytes or age, whichever
comes first, in one transaction; then *done* hears which tickets are stored. What goes wrong is
sorted by what helps:

* the transaction lost against another (40…): the same batch again, after a random pause;
* the database is away, full, read-only or has no schema: *pressed(True)*, and again with growing
  pauses until it is back; nothing is dropped meanwhile, and what `put` takes is bounded;
* a row that PostgreSQL refuses: the batch is halved until the row is alone, which is then given
  to *refused*, and what that returns is stored in its place.

Nothing depends on a session: PgBouncer in transaction mode may sit between.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, Literal, Protocol

import attrs
import psycopg2
from psycopg2 import extensions

from crawler.config import redact
from crawler.errors import StoreError, StoreUnreachable

logger = logging.getLogger(__name__)

#: Classes of SQLSTATE that blame the row: data, integrity, limits such as an index entry's size.
_ROW = ("22", "23", "54")
_AGAIN = "40"
_CONNECT_S = 5
_WAITS_S = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)


class Table(Protocol):
    """Writes rows of one kind inside the writer's transaction; returns counts by outcome."""

    def __call__(self, cursor: extensions.cursor, rows: Sequence[Any], /) -> Counter[str]:
        """Write, or raise psycopg2.Error."""


@attrs.frozen(kw_only=True)
class Limits:
    """When a batch leaves, and how much may wait."""

    rows: int = 500
    """Rows in a batch, at most."""
    size: int = 4 << 20
    """Bytes in a batch, after which it leaves."""
    age_s: float = 0.3
    """A row waits this long for others, at most."""
    high: int = 16 << 20
    """Bytes waiting, after which *pressed* is called."""
    full: int = 128 << 20
    """Bytes waiting, after which `put` refuses."""


@attrs.frozen(eq=False)
class Piece:
    """A row on its way, with the ticket of whoever waits for its commit."""

    table: str
    row: Any
    size: int
    ticket: Any
    since: float


@attrs.frozen
class Report:
    """What happened to some pieces."""

    stored: list[Any] = attrs.Factory(list)
    """Tickets whose rows are committed."""
    failed: list[Any] = attrs.Factory(list)
    """Tickets whose rows are not, at the end of the process."""
    counts: Counter[str] = attrs.Factory(Counter)
    """Rows by outcome; batches, seconds, retries."""


class Writer:
    """The thread and its queue.

    *done*, *pressed* and *refused* are called on the writer's thread. *tables* are written in
    their order, which all writers must share, or they might wait for each other in a circle.
    """

    def __init__(
        self,
        database_url: str,
        tables: Mapping[str, Table],
        *,
        done: Callable[[Report], None],
        pressed: Callable[[bool], None],
        refused: Callable[[str, Any, str], tuple[str, Any, int] | None],
        limits: Limits | None = None,
    ) -> None:
        self._url = database_url
        self._tables = tables
        self._done, self._pressed, self._refused = done, pressed, refused
        self.limits = limits or Limits()
        self._queue: deque[Piece] = deque()
        self._bytes = 0
        self._turn = threading.Condition()
        self._closing = False
        self._until = float("inf")
        self._pressing = False
        self._away = False
        self._connection: extensions.connection | None = None
        self._thread = threading.Thread(target=self._run, name="seine-writer", daemon=True)

    def start(self) -> None:
        """Begin; the first connection is made with the first batch."""
        self._thread.start()

    def put(self, table: str, row: Any, size: int, ticket: Any = None) -> bool:
        """Take a row of about *size* bytes; False when too much waits already. Never waits."""
        if self._bytes > self.limits.full or self._closing:
            return False
        piece = Piece(table, row, size, ticket, time.monotonic())
        with self._turn:
            self._queue.append(piece)
            self._bytes += size
            if len(self._queue) in {1, self.limits.rows} or self._bytes > self.limits.size:
                self._turn.notify()
        if self._bytes > self.limits.high:
            self._press()
        return True

    @property
    def waiting(self) -> tuple[int, int]:
        """Rows and bytes that are not yet in a batch."""
        return len(self._queue), self._bytes

    def close(self, limit_s: float) -> None:
        """Write what is left, for at most *limit_s* seconds; waits. The rest is reported failed."""
        with self._turn:
            self._closing = True
            self._until = time.monotonic() + limit_s
            self._turn.notify()
        if self._thread.is_alive():
            self._thread.join(limit_s + _CONNECT_S + 1)

    # The thread

    def _run(self) -> None:
        try:
            while batch := self._take():
                self._store(batch)
                self._press()
        except Exception:  # a mistake of ours must not leave leases open for ever
            logger.exception("the writer stops")
            self._away = True
            self._press()
        finally:
            self._closing = True
            left = [piece.ticket for piece in self._queue if piece.ticket is not None]
            if left:
                self._done(Report(failed=left))
            self._disconnect()

    def _take(self) -> list[Piece]:
        """Wait for a batch; empty at the end."""
        limits, queue = self.limits, self._queue
        with self._turn:
            while not self._closing:
                wait = None
                if queue:
                    wait = queue[0].since + limits.age_s - time.monotonic()
                    if wait <= 0 or len(queue) >= limits.rows or self._bytes >= limits.size:
                        break
                self._turn.wait(wait)
            batch: list[Piece] = []
            size = 0
            if time.monotonic() >= self._until:
                return batch
            while queue and len(batch) < limits.rows and size < limits.size:
                batch.append(queue.popleft())
                size += batch[-1].size
            self._bytes -= size
            return batch

    def _press(self) -> None:
        """Ask for a pause, or take that back, when that changes."""
        # Both threads come here: what was said last must be what is noted.
        with self._turn:
            level = self.limits.high // 2 if self._pressing else self.limits.high
            wanted = self._away or self._bytes > level
            if wanted != self._pressing:
                self._pressing = wanted
                self._pressed(wanted)

    def _store(self, batch: list[Piece]) -> None:
        """Write a batch, whatever it takes."""
        turn = 0
        while True:
            verdict, reason = self._try(batch)
            if verdict == "stored":
                return
            if verdict == "row":
                self._split(batch, reason)
                return
            turn += 1
            if not self._pause(verdict, turn, reason):
                tickets = [piece.ticket for piece in batch if piece.ticket is not None]
                self._done(Report(failed=tickets))
                return

    def _try(self, batch: list[Piece]) -> tuple[Verdict, str]:
        began = time.monotonic()
        counts: Counter[str] = Counter()
        try:
            connection = self._connected()
            with connection, connection.cursor() as cursor:
                for name, table in self._tables.items():
                    rows = [piece.row for piece in batch if piece.table == name]
                    if rows:
                        counts += table(cursor, rows)
        except Exception as error:  # whatever a row sets off, it must not take its batch along
            verdict = judge(error)
            if verdict == "away":
                self._disconnect()
            return verdict, redact(" ".join(str(error).split()))[:300] or type(error).__name__
        self._back()
        counts["batches"] += 1
        counts["milliseconds"] += round((time.monotonic() - began) * 1000)
        stored = [piece.ticket for piece in batch if piece.ticket is not None]
        self._done(Report(stored=stored, counts=counts))
        return "stored", ""

    def _split(self, batch: list[Piece], reason: str) -> None:
        if len(batch) > 1:
            half = len(batch) // 2
            self._store(batch[:half])
            self._store(batch[half:])
            return
        piece = batch[0]
        logger.warning("a row for %s was refused: %s", piece.table, reason)
        other = self._refused(piece.table, piece.row, reason)
        if other is None:
            tickets = [] if piece.ticket is None else [piece.ticket]
            self._done(Report(stored=tickets, counts=Counter(lost=1)))
            return
        table, row, size = other
        self._store([Piece(table, row, size, piece.ticket, piece.since)])

    def _pause(self, verdict: Verdict, turn: int, reason: str) -> bool:
        """Wait before the next try; False when the process ends and time is over."""
        if verdict == "again":
            wait = random.uniform(0.001, 0.02) * min(turn, 10)
        else:
            if not self._away:
                logger.warning("the store takes nothing, the crawl waits for it: %s", reason)
            self._away = True
            self._press()
            wait = _WAITS_S[min(turn, len(_WAITS_S)) - 1] * random.uniform(0.8, 1.2)
        until = time.monotonic() + wait
        with self._turn:
            while (left := min(until, self._until) - time.monotonic()) > 0:
                self._turn.wait(left)
        return time.monotonic() < self._until

    def _back(self) -> None:
        if self._away:
            self._away = False
            logger.warning("the store is back")
            self._press()

    def _connected(self) -> extensions.connection:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._url)
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except psycopg2.Error:
                logger.debug("closing a broken connection", exc_info=True)


Verdict = Literal["stored", "row", "again", "away"]


def judge(error: Exception) -> Verdict:
    """Say what an error asks for; see the module's docstring.

    >>> judge(ValueError("A string literal cannot contain NUL")), judge(psycopg2.InterfaceError())
    ('row', 'away')
    """
    if isinstance(error, StoreError | OSError):
        return "away"
    if not isinstance(error, psycopg2.Error):
        return "row"
    code = error.pgcode or ""
    if code.startswith(_AGAIN):
        return "again"
    if code.startswith(_ROW):
        return "row"
    return "row" if not code and isinstance(error, psycopg2.DataError) else "away"


def connect(database_url: str) -> extensions.connection:
    """Connect so that a dead peer is noticed within half a minute.

    Raises:
        psycopg2.Error: the database does not answer.
    """
    options = extensions.parse_dsn(database_url)
    for name, value in (
        ("connect_timeout", _CONNECT_S),
        ("application_name", "seine"),
        ("keepalives_idle", 10),
        ("keepalives_interval", 5),
        ("keepalives_count", 3),
        ("tcp_user_timeout", 30_000),
    ):
        options.setdefault(name, value)
    connection: extensions.connection = psycopg2.connect(**options)
    return connection


@contextmanager
def transaction(database_url: str) -> Iterator[extensions.connection]:
    """Connect for one transaction: committed at the end of the block, rolled back if it raises.

    Raises:
        StoreUnreachable: the database does not answer, or goes away meanwhile.
    """
    try:
        with closing(connect(database_url)) as connection, connection:
            yield connection
    except psycopg2.OperationalError as error:
        raise StoreUnreachable(f"DATABASE_URL: {' '.join(str(error).split())}") from None
