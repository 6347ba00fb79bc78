"""One thread a process that writes rows to PostgreSQL, in batches, until they are committed.

`put` never waits and never asks the database. A batch leaves by count, bytes or age, whichever
comes first, in one transaction; then *done* hears which tickets are stored. What goes wrong is
sorted by who is to blame (scrapy_seine.sinks.postgres.sqlstates):

* another transaction: the same batch again, after a random pause;
* the server (away, full, read-only): *pressed(True)*, and again with growing pauses until it is
  back; nothing is dropped meanwhile, and what `put` takes is bounded;
* a row: the batch is halved until the row is alone, which is then given to *refused*, and what
  that returns is stored in its place. Where nothing is returned, or the place is refused too, the
  ticket fails with the reason: its page is tried again later, and ends as a dead letter;
* a table (it lacks a grant or a column): its rows wait, the others are written;
* a row or its table, nobody can tell (`doubts`): a table that refuses a batch without rows is to
  blame, otherwise what becomes of other rows decides: while many in succession wait, more are
  taken until a batch is full, because another site's may tell. Where none do, a row is refused for
  a lasting reason, and its ticket fails for one that is over after a while.

Nothing depends on a session: PgBouncer in transaction mode may sit between.
"""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import psycopg2
from psycopg2 import extensions

from scrapy_seine.errors import StoreError
from scrapy_seine.sinks.postgres.batches import Limits, Piece, Queue, Report
from scrapy_seine.sinks.postgres.committed import Committed
from scrapy_seine.sinks.postgres.database import CONNECT_S, connect
from scrapy_seine.sinks.postgres.lock_waits import lock_waits_told
from scrapy_seine.sinks.postgres.sqlstates import Refusal, refusal

logger = logging.getLogger(__name__)

#: A batch that loses so often against others, or breaks its connection so often, is halved.
_LOSSES, _BREAKS = 10, 4
#: So many rows of one table that are refused in succession by a doubtful code blame the server.
SUSPECT = 8
#: A row whose blame is in doubt waits this long for others to tell, s.
DOUBT_S = 5.0
#: Reasons of refusals that are told, for a table and a code.
_TOLD = 20
#: Bytes of committed rows, kept for a server that falls back; as objects they take twice as much.
_KEPT_BYTES = 1 << 20
_WAITS_S = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)


class Table(Protocol):
    """Writes rows of one kind inside the writer's transaction; returns counts by outcome."""

    def __call__(self, cursor: extensions.cursor, rows: Sequence[Any], /) -> Counter[str]:
        """Write, or raise psycopg2.Error; without rows: ask the same statements to write none."""


Refused = Callable[[str, Any, Refusal], tuple[str, Any, int] | None]


class Writer:
    """The thread and its queue.

    *done*, *pressed* and *refused* are called on the writer's thread. *tables* are written in
    their order, which all writers must share, or they might wait for each other in a circle.
    *refused* gives the table, row and size to be stored instead of a refused row, None where there
    is no such place. Rows without a ticket are a log's: nothing waits for them.
    """

    def __init__(
        self,
        database_url: str,
        tables: Mapping[str, Table],
        *,
        done: Callable[[Report], None],
        pressed: Callable[[bool], None],
        refused: Refused,
        limits: Limits | None = None,
    ) -> None:
        self._url = database_url
        self._tables = tables
        self._done, self._pressed, self._refused = done, pressed, refused
        self.queue = Queue(limits or Limits())
        self._level = threading.RLock()
        self._pressing = False
        self._away = self._admits = False
        self._doubts: dict[str, list[Piece]] = {}
        """By table: rows that wait, which were refused by a doubtful code."""
        self._doubts_until = float("inf")
        self._refusals: Counter[str] = Counter()
        """By table: rows that were refused since one of it was stored."""
        self._untold: Counter[str] = Counter()
        """By table: rows among them that no other row told of, and that do not wait any more."""
        self._proven: set[tuple[str, str]] = set()
        """Tables and doubtful reasons that turned out to be about single rows."""
        self._told: dict[str, set[str]] = {}
        """By table and code: reasons of refusals that were told."""
        self._committed = Committed(min(self.queue.limits.size, _KEPT_BYTES))
        self._fallen: list[Piece] = []
        """Rows that a server lost after their commit."""
        self._connection: extensions.connection | None = None
        self._thread = threading.Thread(target=self._run, name="seine-writer", daemon=True)

    def start(self) -> None:
        """Begin; the first connection is made with the first batch."""
        self._thread.start()

    def put(self, table: str, row: Any, size: int, ticket: Any = None) -> bool:
        """Take a row of about *size* bytes; False when too much waits already. Never waits."""
        if not self.queue.put(table, row, size, ticket):
            return False
        if self._admits or self.queue.size > self.queue.limits.high:
            self._press()
        return True

    @property
    def waiting(self) -> tuple[int, int]:
        """Rows and bytes that are not yet in a batch."""
        return len(self.queue), self.queue.size

    def close(self, limit_s: float) -> None:
        """Write what is left, for at most *limit_s* seconds; waits. The rest is reported failed."""
        self.queue.close(limit_s)
        if self._thread.is_alive():
            self._thread.join(limit_s + CONNECT_S + 1)

    # The thread

    def _run(self) -> None:
        try:
            while (batch := self.queue.take(self._doubts_until)) or self._doubts:
                if batch:
                    self._store(batch)
                if not batch or time.monotonic() >= self._doubts_until:
                    self._end_doubts()
                self._press()
        except Exception:  # a mistake of ours must not leave leases open for ever
            logger.exception("the writer stops")
            self._away, self._admits = True, False
            self._press()
        finally:
            self.queue.closed = True
            doubtful = [piece for kept in self._doubts.values() for piece in kept]
            why = "PostgreSQL did not take it before the worker stopped"
            self._fail([*self.queue.left(), *doubtful], why)
            self._disconnect()

    def _press(self) -> None:
        """Ask for a pause, or take that back, when that changes."""
        # Both threads come here: what was said last must be what is noted.
        with self._level:
            level = self.queue.limits.high // 2 if self._pressing else self.queue.limits.high
            away = self._away and (not self._admits or len(self.queue) >= self.queue.limits.rows)
            wanted = away or self.queue.size > level
            if wanted != self._pressing:
                self._pressing = wanted
                self._pressed(wanted)

    def _store(self, batch: list[Piece]) -> None:
        """Write a batch, whatever it takes."""
        turn = breaks = 0
        while (found := self._try(batch)) is not None:
            turn, breaks = turn + 1, breaks + found.broke
            if turn == 1 and found.broke:
                continue  # servers and proxies end idle connections: a new one tells more
            lost = found.blame == "again" and turn > _LOSSES
            if found.blame in {"row", "doubt", "table"} or lost or breaks > _BREAKS:
                self._split(batch, found)
                return
            if not self._pause(found, turn):
                self._fail(batch, f"not stored before the worker stopped: {found.reason}")
                return

    def _try(self, batch: Sequence[Piece]) -> Refusal | None:
        """Write a batch in one transaction; returns why not."""
        began, name, connected = time.monotonic(), "", False
        counts: Counter[str] = Counter()
        try:
            connection = self._connected()
            while self._fallen:
                fallen, self._fallen = self._fallen, []
                self._store(fallen)
                connection = self._connected()
            connected = True
            waits = lock_waits_told(self._url, connection)
            with connection, waits, connection.cursor() as cursor:
                for name, table in self._tables.items():  # the handler needs it
                    rows = [piece.row for piece in batch if piece.table == name]
                    if rows:
                        counts += table(cursor, rows)
                name = ""
                number = self._committed.number(cursor)
        except Exception as error:  # whatever a row sets off, it must not take its batch along
            away = self._connection is None or bool(self._connection.closed)
            found = refusal(error, name, broke=connected and away)
            if found.blame == "server":
                self._disconnect()
            return found
        self._back()
        counts["batches"] += 1
        counts["milliseconds"] += round((time.monotonic() - began) * 1000)
        held = [piece for piece in batch if piece.ticket is not None]
        kept = [(piece.table, piece.row, piece.size) for piece in held]
        self._committed.note(kept, sum(size for _, _, size in kept), number)
        self._done(Report(stored=[piece.ticket for piece in held], counts=counts))
        self._clear_doubts({piece.table for piece in batch})
        return None

    def _split(self, batch: list[Piece], found: Refusal) -> None:
        """Write a refused batch in parts, so that the row to blame is alone in the end."""
        mine = [piece for piece in batch if piece.table == found.table]
        others = [piece for piece in batch if piece.table != found.table]
        if len(batch) == 1:
            self._refuse(batch[0], found)
        elif mine and others:
            self._store(others)
            self._store(mine)
        elif self._refusals[found.table] > SUSPECT and not any(p.ticket for p in batch):
            self._fail(batch, found.reason)  # a log that nothing gets into: not row by row
        else:
            half = len(batch) // 2
            self._store(batch[:half])
            self._store(batch[half:])

    def _refuse(self, piece: Piece, found: Refusal) -> None:
        """Decide about a row that was refused alone."""
        self._refusals[piece.table] += 1
        # A table beside which there is no other one is waited for, wherever refused rows go.
        alone = len(self._tables) == 1
        has_place = alone or self._refused(piece.table, piece.row, found) is not None
        proven = (piece.table, found.reason) in self._proven
        if found.blame == "row" or proven or piece.ticket is None or not has_place:
            self._reject(piece, found)
            return
        many = self._doubt(piece) + self._untold[piece.table] >= SUSPECT
        if many or self._is_closed(piece.table, found):
            self._wait_for_table(piece.table, found)

    def _doubt(self, piece: Piece) -> int:
        """Keep a row until others tell of it, for a while; returns how many of its table wait."""
        kept = self._doubts.setdefault(piece.table, [])
        kept.append(piece)
        self._doubts_until = min(self._doubts_until, time.monotonic() + DOUBT_S)
        return len(kept)

    def _is_closed(self, table: str, found: Refusal) -> bool:
        """Whether a table that refused a row would refuse any: it takes no batch without rows."""
        if found.blame == "table" or (found.blame == "server" and not found.broke):
            return True
        try:
            connection = self._connected()
            with connection.cursor() as cursor:
                self._tables[table](cursor, [])
            connection.rollback()
        except (psycopg2.Error, StoreError, OSError):  # an outage too: the wait is until its end
            self._disconnect()
            return True
        return False

    def _reject(self, piece: Piece, found: Refusal) -> None:
        """Store what says that a row is refused; where that cannot be stored, its ticket fails."""
        self._tell_of(piece.table, found)
        other = self._refused(piece.table, piece.row, found)
        if other is None:
            self._fail([piece], f"PostgreSQL refused a row for {piece.table}: {found.reason}")
            return
        table, row, size = other
        self._store([Piece(table, row, size, piece.ticket, piece.since)])

    def _tell_of(self, table: str, found: Refusal) -> None:
        """Say why a row was refused, each reason once."""
        told = self._told.setdefault(f"{table} {found.code}", set())
        if found.reason not in told and len(told) < _TOLD:
            told.add(found.reason)
            more = "of other reasons" if len(told) == _TOLD else "of this reason"
            text = "a row for %s was refused: %s; further ones %s are only counted"
            logger.warning(text, table, found.reason, more)

    def _wait_for_table(self, table: str, found: Refusal) -> None:
        """Wait until a table takes rows again: it is closed, or many in succession were refused.

        Some new rows are tried with each of them: one bad site must not hold back all others.
        """
        turn = 0
        while kept := self._doubts.get(table):
            turn += 1
            admits = len(kept) < self.queue.limits.rows and not self._is_closed(table, found)
            if not self._pause(found, turn, admits=admits):
                return
            for piece in (kept.pop(0), *self.queue.sample(table, SUSPECT)):
                again = self._try([piece])
                if again is not None and again.blame == "row":
                    self._reject(piece, again)
                elif again is not None:
                    found = again
                    self._doubt(piece)
            left = len(self._doubts.get(table, ()))
            if not left:
                self._doubts.pop(table, None)
            elif left + self._untold[table] < SUSPECT and not self._is_closed(table, found):
                return  # it is open again: these rows are in doubt as any other

    def _clear_doubts(self, tables: set[str]) -> None:
        """Try doubted rows again, because their tables take rows: one refused now is at fault."""
        for table in tables:
            self._refusals.pop(table, None)
            self._untold.pop(table, None)
            for piece in self._doubts.pop(table, ()):
                again = self._try([piece])
                if again is not None and again.blame != "row" and self._is_closed(table, again):
                    self._store([piece])
                elif again is not None:
                    if again.is_lasting:
                        self._proven.add((table, again.reason))
                    self._reject(piece, again)
        if not self._doubts:
            self._doubts_until = float("inf")

    def _end_doubts(self) -> None:
        """No other row told whose fault it is: the table takes a batch without rows."""
        self._doubts_until = float("inf")
        for table in list(self._doubts):
            for piece in self._doubts.pop(table, ()):
                again = self._try([piece])
                if again is not None:
                    self._end_doubt(piece, again)

    def _end_doubt(self, piece: Piece, found: Refusal) -> None:
        """Decide about a row that was refused alone, and refused again after a while."""
        if found.blame == "row":
            self._reject(piece, found)
        elif not self.queue.is_over and self._is_closed(piece.table, found):
            self._store([piece])  # which waits
        else:
            self._untold[piece.table] += 1
            if found.is_lasting and not self.queue.is_over:
                self._reject(piece, found)
            else:  # its page is tried again later
                self._fail([piece], f"PostgreSQL refuses rows for {piece.table}: {found.reason}")

    def _fail(self, batch: Sequence[Piece], reason: str) -> None:
        tickets = [piece.ticket for piece in batch if piece.ticket is not None]
        counts = +Counter(lost=len(batch) - len(tickets))
        if batch:
            self._done(Report(failed=tickets, reason=reason, counts=counts))

    def _pause(self, found: Refusal, turn: int, *, admits: bool = False) -> bool:
        """Wait before the next try, and take rows where it *admits*; False when time is over."""
        if found.blame == "again":
            wait = random.uniform(0.001, 0.02) * min(turn, 10)
        else:
            if not self._away:
                is_one = found.blame in {"doubt", "table"}
                what = f"no row for {found.table}" if is_one else "nothing"
                logger.warning(
                    "the store accepts %s; the crawl waits for the store: %s", what, found.reason
                )
            self._away, self._admits = True, admits
            self._press()
            wait = _WAITS_S[min(turn, len(_WAITS_S)) - 1] * random.uniform(0.8, 1.2)
        return self.queue.pause(wait)

    def _back(self) -> None:
        if self._away:
            self._away = False
            logger.warning("the store is back")
            self._press()

    def _connected(self) -> extensions.connection:
        if self._connection is None or self._connection.closed:
            made = connect(self._url)
            try:
                self._find_fallen(made)
            except psycopg2.Error:
                made.close()
                raise
            self._connection = made
        return self._connection

    def _find_fallen(self, connection: extensions.connection) -> None:
        """Write again what a server that was away does not have, though it confirmed it (I12)."""
        missing, now = self._committed.take_missing(connection), time.monotonic()
        self._fallen += [Piece(table, row, size, None, now) for table, row, size in missing.rows]
        if missing.known:
            logger.error(
                "state_rolled_back: PostgreSQL fell back to an older state; %d rows that it had "
                "confirmed are written again%s",
                len(missing.rows),
                "; older ones may be missing, crawl their sites again" if missing.more else "",
            )
            self._done(Report(counts=Counter(rolled_back=len(missing.rows))))

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except psycopg2.Error:
                logger.debug("closing a broken connection", exc_info=True)


def on_loop(loop: asyncio.AbstractEventLoop, call: Any, argument: Any) -> None:
    """Call on the reactor thread; there is nobody to tell once that is gone."""
    try:
        loop.call_soon_threadsafe(call, argument)
    except RuntimeError:
        logger.debug("the loop is closed")
