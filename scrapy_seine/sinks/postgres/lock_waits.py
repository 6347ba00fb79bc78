"""Logs a long wait for PostgreSQL, with the process that holds the lock, or what else it is for.

libpq waits silently for as long as another transaction lasts, a synchronous standby is away or a
disk stands still: a worker looked dead, or its site slow, while somebody's `psql` held a lock.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import attrs
import psycopg2
from psycopg2 import extensions

from scrapy_seine.printable import printable
from scrapy_seine.sinks.postgres.database import connect
from scrapy_seine.store_errors import first_line

logger = logging.getLogger(__name__)
#: A wait is logged after this time, at most twice as much, and again whenever it has lasted four
#: times as long, or an hour longer, s.
TELL_S = 5.0
_TELL_AGAIN, _MOST_SILENT_S = 4, 3600.0
#: A statement that waits for no lock may just be long, and is logged after this time, s.
LONG_S = 60.0
_HOLDERS = """
    SELECT pid, coalesce(nullif(application_name, ''), 'no name'),
        coalesce(extract(epoch FROM now() - xact_start), 0)
    FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids(%s)) ORDER BY xact_start LIMIT 3
"""
_EVENT = "SELECT coalesce(wait_event, '') FROM pg_stat_activity WHERE pid = %s"
#: What a commit waits for while a synchronous standby does not confirm it.
_STANDBY = "SyncRep"
#: What PostgreSQL waits for while this process computes between two statements, as an export does.
_OURS = frozenset({"ClientRead", "ClientWrite"})


@attrs.define(eq=False, repr=False)
class _Wait:
    """A running statement."""

    database_url: str
    pid: int
    began: float = attrs.field(factory=time.monotonic)
    logged_s: float = 0.0
    """How long it had lasted when it was logged last; 0: it was not."""

    @property
    def is_due(self) -> bool:
        """Whether it is to be logged, the first time or again."""
        silent_s = min(self.logged_s * (_TELL_AGAIN - 1), _MOST_SILENT_S)
        return self.lasted_s >= max(TELL_S, self.logged_s + silent_s)

    @property
    def lasted_s(self) -> float:
        """Time since its beginning, s."""
        return time.monotonic() - self.began


class _Watcher:
    """The single thread that checks running statements: a timer per batch would take 0.1 ms."""

    def __init__(self) -> None:
        self.waits: set[_Wait] = set()
        self.lock = threading.Lock()
        self.thread = threading.Thread()

    def begin(self, wait: _Wait) -> None:
        with self.lock:
            self.waits.add(wait)
            if not self.thread.is_alive():  # nor is it after a fork
                self.thread = threading.Thread(target=self._look, name="seine-locks", daemon=True)
                self.thread.start()

    def end(self, wait: _Wait) -> None:
        with self.lock:
            self.waits.discard(wait)

    def _look(self) -> None:
        while True:
            time.sleep(TELL_S)
            with self.lock:
                long_waits = [wait for wait in self.waits if wait.is_due]
            for wait in long_waits:
                _log_wait(wait)


_watcher = _Watcher()


@contextmanager
def lock_waits_logged(database_url: str, connection: extensions.connection) -> Iterator[None]:
    """Log what the block's statements wait for, and when they go on."""
    wait = _Wait(database_url, connection.info.backend_pid)
    _watcher.begin(wait)
    try:
        yield
    finally:
        _watcher.end(wait)
    if wait.logged_s:
        logger.warning("PostgreSQL went on after %.0f s", wait.lasted_s)


def _log_wait(wait: _Wait) -> None:
    if reason := _reason(wait):
        wait.logged_s = wait.lasted_s
        logger.warning(
            "PostgreSQL keeps us waiting, for %.0f s by now, %s; nothing is lost meanwhile",
            *(wait.logged_s, reason),
        )


def _reason(wait: _Wait) -> str:
    """Say what a statement waits for; '' where it may just be a long one."""
    is_long = wait.lasted_s >= LONG_S
    try:
        with closing(connect(wait.database_url)) as connection, connection.cursor() as cursor:
            cursor.execute(_HOLDERS, (wait.pid,))
            holders = cursor.fetchall()
            cursor.execute(_EVENT, (wait.pid,))
            (event,) = cursor.fetchone() or ("",)
    except (psycopg2.Error, ValueError) as error:
        return f"and takes no other connection: {first_line(error)}" if is_long else ""
    if holders:
        names = ", ".join(
            f"process {holder} ({printable(name)}, in a transaction for {age_s:.0f} s)"
            for holder, name, age_s in holders
        )
        end = f"SELECT pg_terminate_backend({holders[0][0]}) would end it"
        return f"for a lock that {names} holds ({end})"
    if event == _STANDBY:
        return "for a synchronous standby that does not confirm (synchronous_standby_names)"
    is_long = is_long and event not in _OURS
    return f"for one statement, which waits for {event or 'nothing'}" if is_long else ""
