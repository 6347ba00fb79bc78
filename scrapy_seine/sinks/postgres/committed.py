"""What was committed lately, for a server that comes back without it.

PostgreSQL may lose what it confirmed: an asynchronous replica takes over, synchronous_commit or
fsync was off when the machine failed, somebody restores a backup. The pages of these rows are done
by then, so nobody asks for them again. Each transaction has a number, and a server tells what
became of it (`txid_status`); a number that it has not given yet is of a state that it lacks.

One connection's transactions are lost from some point on, so that the last number of a second
stands for all that was committed before it. Another process may have been given a lost number
since. So a server that was started meanwhile gets all rows of the last minute again, in silence.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import attrs
from psycopg2 import extensions

from scrapy_seine.records import Record

#: A number is asked for at most so often, s.
EVERY_S = 1.0
#: Rows are kept so long after their commit, s; replicas are behind by less, as a rule.
KEPT_S = 60.0
#: A number beyond the newest is not asked for: that would be an error.
_STARTED = "SELECT pg_postmaster_start_time()::text"
_MISSING = """
    SELECT number FROM unnest(%s::bigint[]) AS asked (number)
    WHERE CASE WHEN number < txid_snapshot_xmax(txid_current_snapshot())
        THEN coalesce(txid_status(number), 'committed') <> 'committed' ELSE true END
"""


@attrs.define(eq=False, repr=False)
class Stretch(Record):
    """Rows that were committed up to a transaction."""

    rows: list[Any] = attrs.Factory(list)
    size: int = 0
    number: int | None = None
    """The transaction's; None: not yet known."""
    at: float = 0.0
    """When it was committed, monotonic s."""


@attrs.define(eq=False, repr=False)
class Missing(Record):
    """What a server does not have."""

    rows: list[Any] = attrs.Factory(list)
    """To be written again; some of them may be there."""
    known: bool = False
    """The server did confirm some of them."""
    more: bool = False
    """There were others, which are not kept any more."""


@attrs.define(eq=False, repr=False)
class Committed(Record):
    """The rows that a server confirmed, the oldest first."""

    most: int
    """Bytes that are kept, at most."""
    stretches: deque[Stretch] = attrs.Factory(deque)
    _open: Stretch = attrs.Factory(Stretch)
    _dropped: bool = False
    """Older ones are not kept any more."""
    _started: str = ""
    """When the server was started that committed them."""

    def number(self, cursor: extensions.cursor) -> int | None:
        """Ask for the number of a transaction at its end; None: it wrote nothing, or too soon.

        Raises:
            psycopg2.Error: the server does not answer.
        """
        now = time.monotonic()
        if self.stretches and now - self.stretches[-1].at < EVERY_S:
            return None
        cursor.execute("SELECT txid_current_if_assigned()")
        found = cursor.fetchone()
        return None if found is None else found[0]

    def note(self, rows: list[Any], size: int, number: int | None) -> None:
        """Keep the rows of a transaction."""
        made = self._open
        made.rows += rows
        made.size += size
        if number is None and made.size <= self.most:
            return
        made.number, made.at = number, time.monotonic()
        self.stretches.append(made)
        self._open = Stretch()
        kept = sum(stretch.size for stretch in self.stretches)
        while kept > self.most or self.stretches[0].at < made.at - KEPT_S:
            if len(self.stretches) == 1:
                made.rows, made.size = [], 0
                return
            kept -= self.stretches.popleft().size
            self._dropped = True

    def take_missing(self, connection: extensions.connection) -> Missing:
        """Tell what a server does not have, to which a new connection was made.

        Raises:
            psycopg2.Error: it does not answer.
        """
        asked = [s.number for s in self.stretches if s.number is not None]
        with connection, connection.cursor() as cursor:
            cursor.execute(_STARTED)
            ((started,),) = cursor.fetchall()
            cursor.execute(_MISSING, (asked,))
            missing = {number for (number,) in cursor.fetchall()}
        is_other, self._started = self._started not in ("", started), started
        return self._take(missing, time.monotonic() - KEPT_S if is_other else float("inf"))

    def _take(self, missing: set[int], since: float) -> Missing:
        """Take out what is missing, what is younger than *since*, and what nobody knows of."""
        stretches = [*self.stretches, self._open]
        there = [
            n
            for n, s in enumerate(stretches)
            if s.number is not None and s.number not in missing and s.at < since
        ]
        first = there[-1] + 1 if there else 0
        lost = stretches[first:]
        self.stretches, self._open = deque(stretches[:first]), Stretch()
        return Missing(
            rows=[row for stretch in lost for row in stretch.rows],
            known=bool(missing),
            more=bool(missing)
            and ((first == 0 and self._dropped) or not all(s.rows for s in lost if s.number)),
        )
