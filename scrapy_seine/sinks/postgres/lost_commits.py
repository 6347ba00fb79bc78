"""Keeps recently committed rows, for a server that comes back without them.

PostgreSQL may lose what it confirmed: an asynchronous replica takes over, synchronous_commit or
fsync was off when the machine failed, a backup is restored. The pages of these rows are done by
then, and are not fetched again. Each transaction has a number, and a server reports its outcome
(`txid_status`); a number that it has not assigned yet belongs to a state that it lacks.

A connection's transactions are lost from some point on, so that the last number of a second stands
for everything committed before it. Meanwhile a lost number may have been assigned to another
process. So a server that was restarted meanwhile gets all rows of the last minute again.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import attrs
from psycopg2 import extensions

from scrapy_seine.attrs_bases import Record

#: A number is requested at most this often, s.
EVERY_S = 1.0
#: How long rows are kept after their commit, s; replicas usually lag by less.
KEPT_S = 60.0
#: A number beyond the newest is not queried, because that is an error.
_STARTED = "SELECT pg_postmaster_start_time()::text"
_MISSING = """
    SELECT number FROM unnest(%s::bigint[]) AS asked (number)
    WHERE CASE WHEN number < txid_snapshot_xmax(txid_current_snapshot())
        THEN coalesce(txid_status(number), 'committed') <> 'committed' ELSE true END
"""


@attrs.define(eq=False, repr=False)
class CommittedRows(Record):
    """Rows that were committed up to a transaction."""

    rows: list[Any] = attrs.Factory(list)
    size: int = 0
    number: int | None = None
    """The transaction's; None: not yet known."""
    committed_at: float = 0.0
    """When it was committed, monotonic s."""


@attrs.define(eq=False, repr=False)
class LostRows(Record):
    """Rows that a server lost."""

    rows: list[Any] = attrs.Factory(list)
    """Rows to write again; the server may have some of them."""
    is_confirmed: bool = False
    """Whether the server had confirmed some of them."""
    is_incomplete: bool = False
    """Whether more were lost, which are not kept any more."""


@attrs.define(eq=False, repr=False)
class Committed(Record):
    """The rows that a server confirmed, the oldest first."""

    max_bytes: int
    """Bytes that are kept, at most."""
    stretches: deque[CommittedRows] = attrs.Factory(deque)
    _open: CommittedRows = attrs.Factory(CommittedRows)
    _dropped: bool = False
    """Whether older rows are not kept any more."""
    _server_started_at: str = ""
    """Start time of the server that committed them."""

    def number(self, cursor: extensions.cursor) -> int | None:
        """Return the number of a transaction at its end; None: it wrote nothing, or too soon.

        Raises:
            psycopg2.Error: the server does not answer.
        """
        now = time.monotonic()
        if self.stretches and now - self.stretches[-1].committed_at < EVERY_S:
            return None
        cursor.execute("SELECT txid_current_if_assigned()")
        row = cursor.fetchone()
        return None if row is None else row[0]

    def note(self, rows: list[Any], size: int, number: int | None) -> None:
        """Keep the rows of a transaction."""
        stretch = self._open
        stretch.rows += rows
        stretch.size += size
        if number is None and stretch.size <= self.max_bytes:
            return
        stretch.number, stretch.committed_at = number, time.monotonic()
        self.stretches.append(stretch)
        self._open = CommittedRows()
        kept_bytes = sum(older.size for older in self.stretches)
        while (
            kept_bytes > self.max_bytes
            or self.stretches[0].committed_at < stretch.committed_at - KEPT_S
        ):
            if len(self.stretches) == 1:
                stretch.rows, stretch.size = [], 0
                return
            kept_bytes -= self.stretches.popleft().size
            self._dropped = True

    def take_missing(self, connection: extensions.connection) -> LostRows:
        """Return the rows that the server of a new connection lacks.

        Raises:
            psycopg2.Error: the server does not answer.
        """
        numbers = [s.number for s in self.stretches if s.number is not None]
        with connection, connection.cursor() as cursor:
            cursor.execute(_STARTED)
            ((started_at,),) = cursor.fetchall()
            cursor.execute(_MISSING, (numbers,))
            missing_numbers = {number for (number,) in cursor.fetchall()}
        is_other, self._server_started_at = (
            self._server_started_at not in ("", started_at),
            started_at,
        )
        return self._take(missing_numbers, time.monotonic() - KEPT_S if is_other else float("inf"))

    def _take(self, missing_numbers: set[int], since: float) -> LostRows:
        """Remove and return rows that are missing, younger than *since*, or of unknown outcome."""
        stretches = [*self.stretches, self._open]
        present = [
            n
            for n, s in enumerate(stretches)
            if s.number is not None and s.number not in missing_numbers and s.committed_at < since
        ]
        first_lost = present[-1] + 1 if present else 0
        lost_stretches = stretches[first_lost:]
        self.stretches, self._open = deque(stretches[:first_lost]), CommittedRows()
        return LostRows(
            rows=[row for stretch in lost_stretches for row in stretch.rows],
            is_confirmed=bool(missing_numbers),
            is_incomplete=bool(missing_numbers)
            and (
                (first_lost == 0 and self._dropped)
                or not all(s.rows for s in lost_stretches if s.number)
            ),
        )
