"""One thread per process that writes rows to PostgreSQL, in batches, until they are committed.

`put` never waits and never asks the database. A batch is written by count, bytes or age, whichever
comes first, in one transaction; then *done* gets the stored tickets. Errors are handled by who is
to blame (scrapy_seine.sinks.postgres.sqlstates):

* another transaction: the same batch again, after a random pause;
* the server (away, full, read-only): *pressed(True)*, and again with growing pauses until it is
  back; nothing is dropped meanwhile, and the number of queued rows is limited. For a store beside
  PostgreSQL (the archive) *on_table_closed* is called after a while, as for a table;
* a row: the batch is halved until the row is alone. It is given to *refused*, and the row that this
  returns is stored instead. If it returns None, or that row is refused too, the ticket fails with
  the reason: its page is tried again later, and ends as a dead letter;
* a table (it lacks a grant or a column, or is gone): its rows wait, the others are written. If
  nobody has mended the table after a while, *on_table_closed* is called with the reason;
* a row or its table (`doubts`): a table that refuses a batch without rows is to blame, otherwise
  the outcome of other rows decides: while several in succession wait, more are taken until a batch
  is full, because another site's rows may decide. If none do, a row with a lasting reason is
  refused, and the ticket of one with a temporary reason fails after a while.

Nothing depends on a session: PgBouncer in transaction mode may be in between.
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
from scrapy_seine.once_a_minute import OnceAMinute
from scrapy_seine.sinks.postgres.batches import WRITTEN_AGAIN, Limits, Piece, Queue, Report
from scrapy_seine.sinks.postgres.database import CONNECT_S, connect
from scrapy_seine.sinks.postgres.lock_waits import lock_waits_logged
from scrapy_seine.sinks.postgres.lost_commits import Committed
from scrapy_seine.sinks.postgres.sqlstates import Refusal, refusal

logger = logging.getLogger(__name__)

#: A batch that fails this often against other transactions, or by broken connections, is halved.
_LOSSES, _BREAKS = 10, 4
#: So many rows of one table that are refused in succession by a doubtful code blame the server.
SUSPECT = 8
#: How long a doubtful row waits for the outcome of others, s.
DOUBT_S = 5.0
#: Reasons of refusals that are logged, for a table and a code.
_MOST_LOGGED = 20
#: Bytes of committed rows kept for a server that falls back; as objects they take twice as much.
_KEPT_BYTES = 1 << 20
_WAITS_S = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)


class Table(Protocol):
    """Writes rows of one kind inside the writer's transaction; returns counts by outcome."""

    def __call__(self, cursor: extensions.cursor, rows: Sequence[Any], /) -> Counter[str]:
        """Write, or raise psycopg2.Error; without rows: run the same statements to write none."""


Refused = Callable[[str, Any, Refusal], tuple[str, Any, int] | None]


class Writer:
    """The thread and its queue.

    *done*, *pressed* and *refused* are called on the writer's thread. *tables* are written in their
    order, which all writers must share to avoid deadlocks. *refused* returns the table, row and
    size to store instead of a refused row, None if there is no such place. Rows without a ticket
    are a log's: nothing waits for them.
    """

    def __init__(
        self,
        database_url: str,
        tables: Mapping[str, Table],
        *,
        on_report: Callable[[Report], None],
        on_pause: Callable[[bool], None],
        replacement_of: Refused,
        on_table_closed: Callable[[str], None] = lambda reason: None,
        closed_limit_s: float = float("inf"),
        limits: Limits | None = None,
    ) -> None:
        self._url = database_url
        self._tables = tables
        self._on_report, self._on_pause, self._replacement_of = on_report, on_pause, replacement_of
        self._on_table_closed, self._closed_limit_s = on_table_closed, closed_limit_s
        self.queue = Queue(limits or Limits())
        self._level = threading.RLock()
        self._is_pausing = False
        self._away = self._admits = self._is_wait_logged = self._is_closed_reported = False
        self._log_limiter = OnceAMinute()
        self._doubts: dict[str, list[Piece]] = {}
        """By table: waiting rows that were refused by a doubtful code."""
        self._doubts_until = float("inf")
        self._refusals: Counter[str] = Counter()
        """By table: rows refused since one was stored."""
        self._undecided: Counter[str] = Counter()
        """By table: rows among them that no other row's outcome decided, and that wait no more."""
        self._proven: set[tuple[str, str]] = set()
        """Tables and doubtful reasons that turned out to be about single rows."""
        self._logged_reasons: dict[str, set[str]] = {}
        """By table and code: logged reasons of refusals."""
        self._committed = Committed(min(self.queue.limits.size, _KEPT_BYTES))
        self._lost_rows: list[Piece] = []
        """Rows that a server lost after their commit."""
        self._connection: extensions.connection | None = None
        self._thread = threading.Thread(target=self._run, name="seine-writer", daemon=True)

    def start(self) -> None:
        """Start the thread; it connects with the first batch."""
        self._thread.start()

    def put(self, table: str, row: Any, size: int, ticket: Any = None) -> bool:
        """Take a row of about *size* bytes; False if too many wait already. Never waits."""
        if not self.queue.put(table, row, size, ticket):
            return False
        if self._admits or self.queue.size > self.queue.limits.pause_bytes:
            self._update_pause()
        return True

    @property
    def waiting(self) -> tuple[int, int]:
        """Rows and bytes that are not yet in a batch."""
        return len(self.queue), self.queue.size

    def close(self, limit_s: float) -> None:
        """Write the remaining rows, waiting *limit_s* s at most; the rest is reported failed."""
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
                self._update_pause()
        except Exception:  # a bug must not leave leases open for ever
            logger.exception("the writer stops")
            self._away, self._admits = True, False
            self._update_pause()
        finally:
            self.queue.closed = True
            doubtful = [piece for pieces in self._doubts.values() for piece in pieces]
            reason = "PostgreSQL did not take it before the worker stopped"
            self._fail([*self.queue.remaining(), *doubtful], reason)
            self._disconnect()

    def _update_pause(self) -> None:
        """Ask for a pause, or end it, if that changes."""
        # Both threads call this: the last call made must be the one recorded.
        with self._level:
            level = (
                self.queue.limits.pause_bytes // 2
                if self._is_pausing
                else self.queue.limits.pause_bytes
            )
            away = self._away and (not self._admits or len(self.queue) >= self.queue.limits.rows)
            presses = away or self.queue.size > level
            if presses != self._is_pausing:
                self._is_pausing = presses
                self._on_pause(presses)

    def _store(self, batch: list[Piece]) -> None:
        """Write a batch, and retry until its outcome is decided."""
        turn, breaks, since = 0, 0, time.monotonic()
        while (fault := self._try(batch)) is not None:
            turn, breaks = turn + 1, breaks + fault.broke
            if turn == 1 and fault.broke:
                continue  # servers and proxies close idle connections: try a new one
            is_hopeless = fault.blame == "again" and turn > _LOSSES
            if fault.blame in {"row", "doubt", "table"} or is_hopeless or breaks > _BREAKS:
                self._store_in_parts(batch, fault)
                return
            self._report_closed(fault.table, fault, since)
            if not self._pause(fault, turn):
                self._fail(batch, f"not stored before the worker stopped: {fault.reason}")
                return

    def _try(self, batch: Sequence[Piece]) -> Refusal | None:
        """Write a batch in one transaction; returns why it failed, or None."""
        began, name, connected = time.monotonic(), "", False
        counts: Counter[str] = Counter()
        try:
            connection = self._connected()
            while self._lost_rows:
                fallen, self._lost_rows = self._lost_rows, []
                self._store(fallen)
                connection = self._connected()
            connected = True
            waits = lock_waits_logged(self._url, connection)
            with waits, connection, connection.cursor() as cursor:  # the commit may wait, too
                for name, table in self._tables.items():  # the handler needs it
                    rows = [piece.row for piece in batch if piece.table == name]
                    if rows:
                        counts += table(cursor, rows)
                name = ""
                number = self._committed.number(cursor)
        except Exception as error:  # whatever a row causes, it must not fail its whole batch
            away = self._connection is None or bool(self._connection.closed)
            fault = refusal(error, name, broke=connected and away)
            if fault.blame == "server":
                self._disconnect()
            return fault
        self._on_return()
        counts["batches"] += 1
        counts["milliseconds"] += round((time.monotonic() - began) * 1000)
        ticketed = [piece for piece in batch if piece.is_awaited]
        committed_rows = [(piece.table, piece.row, piece.size) for piece in ticketed]
        self._committed.note(committed_rows, sum(size for _, _, size in committed_rows), number)
        self._on_report(Report(stored=[piece.ticket for piece in ticketed], counts=counts))
        self._clear_doubts({piece.table for piece in batch})
        return None

    def _store_in_parts(self, batch: list[Piece], fault: Refusal) -> None:
        """Write a refused batch in parts, so that the row to blame is alone in the end."""
        own_rows = [piece for piece in batch if piece.table == fault.table]
        other_rows = [piece for piece in batch if piece.table != fault.table]
        if len(batch) == 1:
            self._refuse(batch[0], fault)
        elif own_rows and other_rows:
            self._store(other_rows)
            self._store(own_rows)
        elif self._refusals[fault.table] > SUSPECT and not any(p.ticket for p in batch):
            self._fail(batch, fault.reason)  # a log that accepts no row: do not try row by row
        else:
            half = len(batch) // 2
            self._store(batch[:half])
            self._store(batch[half:])

    def _refuse(self, piece: Piece, fault: Refusal) -> None:
        """Decide about a row that was refused alone."""
        self._refusals[piece.table] += 1
        # A single table is waited for, wherever refused rows go.
        is_only_table = len(self._tables) == 1
        has_place = is_only_table or self._replacement_of(piece.table, piece.row, fault) is not None
        proven = (piece.table, fault.reason) in self._proven
        if fault.blame == "row" or proven or piece.ticket is None or not has_place:
            self._reject(piece, fault)
            return
        is_suspect = self._doubt(piece) + self._undecided[piece.table] >= SUSPECT
        if is_suspect or self._is_closed(piece.table, fault):
            self._wait_for_table(piece.table, fault)

    def _doubt(self, piece: Piece) -> int:
        """Keep a row for a while, until others decide; returns how many of its table wait."""
        doubtful = self._doubts.setdefault(piece.table, [])
        doubtful.append(piece)
        self._doubts_until = min(self._doubts_until, time.monotonic() + DOUBT_S)
        return len(doubtful)

    def _is_closed(self, table: str, fault: Refusal) -> bool:
        """Whether a table that refused a row would refuse any: it takes no batch without rows."""
        if fault.blame == "table" or (fault.blame == "server" and not fault.broke):
            return True
        try:
            connection = self._connected()
            with connection.cursor() as cursor:
                self._tables[table](cursor, [])
            connection.rollback()
        except (psycopg2.Error, StoreError, OSError):  # also in an outage: wait for its end
            self._disconnect()
            return True
        return False

    def _reject(self, piece: Piece, fault: Refusal) -> None:
        """Store the replacement of a refused row; if that fails, its ticket fails."""
        self._log_refusal(piece.table, fault)
        replacement = self._replacement_of(piece.table, piece.row, fault)
        if replacement is None:
            self._fail([piece], f"PostgreSQL refused a row for {piece.table}: {fault.reason}")
            return
        table, row, size = replacement
        self._store([Piece(table, row, size, piece.ticket, piece.since)])

    def _log_refusal(self, table: str, fault: Refusal) -> None:
        """Log why a row was refused, each reason once."""
        reasons = self._logged_reasons.setdefault(f"{table} {fault.code}", set())
        if fault.reason not in reasons and len(reasons) < _MOST_LOGGED:
            reasons.add(fault.reason)
            kinds = "of other reasons" if len(reasons) == _MOST_LOGGED else "of this reason"
            text = "a row for %s was refused: %s; further ones %s are only counted"
            logger.warning(text, table, fault.reason, kinds)

    def _wait_for_table(self, table: str, fault: Refusal) -> None:
        """Wait until a table takes rows again: it is closed, or many in succession were refused.

        Some new rows are tried each time, because one bad site must not block all others.
        """
        turn, since = 0, time.monotonic()
        while doubtful := self._doubts.get(table):
            turn += 1
            self._report_closed(table, fault, since)
            admits = len(doubtful) < self.queue.limits.rows and not self._is_closed(table, fault)
            if not self._pause(fault, turn, admits=admits):
                return
            for piece in (doubtful.pop(0), *self.queue.sample(table, SUSPECT)):
                retry_fault = self._try([piece])
                if retry_fault is not None and retry_fault.blame == "row":
                    self._reject(piece, retry_fault)
                elif retry_fault is not None:
                    fault = retry_fault
                    self._doubt(piece)
            waiting = len(self._doubts.get(table, ()))
            if not waiting:
                self._doubts.pop(table, None)
            elif waiting + self._undecided[table] < SUSPECT and not self._is_closed(table, fault):
                return  # it is open again: these rows are in doubt as any other

    def _report_closed(self, table: str, fault: Refusal, since: float) -> None:
        """Report, once, that nobody has mended a table or its store for the limit."""
        is_over = time.monotonic() - since > self._closed_limit_s
        if is_over and fault.is_for_operator and not self._is_closed_reported:
            self._is_closed_reported = True
            place = "" if fault.is_other_store else f"the table {table}: "
            self._on_table_closed(place + fault.reason)

    def _clear_doubts(self, tables: set[str]) -> None:
        """Try doubtful rows again, because their tables take rows: one refused now is at fault."""
        for table in tables:
            self._refusals.pop(table, None)
            self._undecided.pop(table, None)
            for piece in self._doubts.pop(table, ()):
                retry_fault = self._try([piece])
                if (
                    retry_fault is not None
                    and retry_fault.blame != "row"
                    and self._is_closed(table, retry_fault)
                ):
                    self._store([piece])
                elif retry_fault is not None:
                    if retry_fault.is_lasting:
                        self._proven.add((table, retry_fault.reason))
                    self._reject(piece, retry_fault)
        if not self._doubts:
            self._doubts_until = float("inf")

    def _end_doubts(self) -> None:
        """Decide without other rows' outcome: the table takes a batch without rows."""
        self._doubts_until = float("inf")
        for table in list(self._doubts):
            for piece in self._doubts.pop(table, ()):
                retry_fault = self._try([piece])
                if retry_fault is not None:
                    self._end_doubt(piece, retry_fault)

    def _end_doubt(self, piece: Piece, fault: Refusal) -> None:
        """Decide about a row that was refused alone, and refused again after a while."""
        if fault.blame == "row":
            self._reject(piece, fault)
        elif not self.queue.is_over and self._is_closed(piece.table, fault):
            self._store([piece])  # which waits
        else:
            self._undecided[piece.table] += 1
            if fault.is_lasting and not self.queue.is_over:
                self._reject(piece, fault)
            else:  # its page is tried again later
                self._fail([piece], f"PostgreSQL refuses rows for {piece.table}: {fault.reason}")

    def _fail(self, batch: Sequence[Piece], reason: str) -> None:
        tickets = [piece.ticket for piece in batch if piece.is_awaited]
        counts = +Counter(lost=len(batch) - len(tickets))
        if batch:
            self._on_report(Report(failed=tickets, reason=reason, counts=counts))

    def _pause(self, fault: Refusal, turn: int, *, admits: bool = False) -> bool:
        """Wait before the next try, and take rows if it *admits*; False if the time is over."""
        if fault.blame == "again":
            wait = random.uniform(0.001, 0.02) * min(turn, 10)
        else:
            self._log_wait(fault)
            self._away, self._admits = True, admits
            self._update_pause()
            wait = _WAITS_S[min(turn, len(_WAITS_S)) - 1] * random.uniform(0.8, 1.2)
        return self.queue.pause(wait)

    def _log_wait(self, fault: Refusal) -> None:
        """Log what is waited for, once a minute, however often it comes back in between."""
        is_one = fault.blame in {"doubt", "table"}
        refused_rows = f"no row for {fault.table}" if is_one else "nothing"
        text = f"the store accepts {refused_rows}; the crawl waits for the store: {fault.reason}"
        if fault.is_for_operator and self._closed_limit_s < float("inf"):
            text += f"; mend it, because the worker exits after {self._closed_limit_s:g} s"
        if self._log_limiter.is_due(text):
            logger.warning("%s", text)
            self._is_wait_logged = True

    def _on_return(self) -> None:
        if self._away:
            self._away = False
            if self._is_wait_logged:
                logger.warning("the store is back")
            self._is_wait_logged = False
            self._update_pause()

    def _connected(self) -> extensions.connection:
        if self._connection is None or self._connection.closed:
            connection = connect(self._url)
            try:
                self._recover_lost_rows(connection)
            except psycopg2.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _recover_lost_rows(self, connection: extensions.connection) -> None:
        """Write again what a server lost though it had confirmed it (I12)."""
        missing, now = self._committed.take_missing(connection), time.monotonic()
        self._lost_rows += [
            Piece(table, row, size, WRITTEN_AGAIN, now) for table, row, size in missing.rows
        ]
        if missing.is_confirmed:
            logger.error(
                "state_rolled_back: PostgreSQL fell back to an older state; %d rows that it had "
                "confirmed are written again%s",
                len(missing.rows),
                "; older ones may be missing, crawl their sites again"
                if missing.is_incomplete
                else "",
            )
            self._on_report(Report(counts=Counter(rolled_back=len(missing.rows))))

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except psycopg2.Error:
                logger.debug("closing a broken connection", exc_info=True)


def on_loop(loop: asyncio.AbstractEventLoop, call: Any, argument: Any) -> None:
    """Call on the reactor's thread; if that is gone, the call is dropped."""
    try:
        loop.call_soon_threadsafe(call, argument)
    except RuntimeError:
        logger.debug("the loop is closed")
