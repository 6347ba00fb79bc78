"""Logs a wait for a lock of PostgreSQL, with the process that holds it.

libpq waits silently for as long as another transaction lasts: a worker looked dead, or its site
slow, while somebody's `psql` held a table lock.
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

logger = logging.getLogger(__name__)
#: A wait is logged after this time, at most twice as much, and again whenever it has lasted four
#: times as long, or an hour longer, s.
TELL_S = 5.0
_TELL_AGAIN, _MOST_SILENT_S = 4, 3600.0
_HOLDERS = """
    SELECT pid, coalesce(nullif(application_name, ''), 'no name'),
        coalesce(extract(epoch FROM now() - xact_start), 0)
    FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids(%s)) ORDER BY xact_start LIMIT 3
"""


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
                _log_holders(wait)


_watcher = _Watcher()


@contextmanager
def lock_waits_logged(database_url: str, connection: extensions.connection) -> Iterator[None]:
    """Log who holds the lock that the block's statements wait for, and when they go on."""
    wait = _Wait(database_url, connection.info.backend_pid)
    _watcher.begin(wait)
    try:
        yield
    finally:
        _watcher.end(wait)
    if wait.logged_s:
        logger.warning("PostgreSQL went on after %.0f s", wait.lasted_s)


def _log_holders(wait: _Wait) -> None:
    try:
        with closing(connect(wait.database_url)) as connection, connection.cursor() as cursor:
            cursor.execute(_HOLDERS, (wait.pid,))
            holders = cursor.fetchall()
    except (psycopg2.Error, ValueError) as error:
        logger.debug("nobody knows who holds a lock: %s", error)
        return
    if holders:
        holder_names = ", ".join(
            f"process {holder} ({printable(name)}, in a transaction for {age_s:.0f} s)"
            for holder, name, age_s in holders
        )
        wait.logged_s = wait.lasted_s
        logger.warning(
            "PostgreSQL keeps us waiting, for %.0f s by now, for a lock that %s holds; nothing is "
            "lost meanwhile. SELECT pg_terminate_backend(%d) would end it",
            *(wait.logged_s, holder_names, holders[0][0]),
        )
