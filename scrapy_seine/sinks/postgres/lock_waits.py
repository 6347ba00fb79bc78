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
#: A wait is logged after this time, at most twice as much, s.
TELL_S = 5.0
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
    was_logged: bool = False


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
                long_waits = [
                    wait for wait in self.waits if time.monotonic() - wait.began >= TELL_S
                ]
            for wait in long_waits:
                if not wait.was_logged:
                    _log_holders(wait)


_watcher = _Watcher()


@contextmanager
def lock_waits_logged(database_url: str, connection: extensions.connection) -> Iterator[None]:
    """Log once who holds the lock that the block's statements wait for, and when they go on."""
    wait = _Wait(database_url, connection.info.backend_pid)
    _watcher.begin(wait)
    try:
        yield
    finally:
        _watcher.end(wait)
    if wait.was_logged:
        logger.warning("PostgreSQL went on after %.0f s", time.monotonic() - wait.began)


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
        wait.was_logged = True
        logger.warning(
            "PostgreSQL keeps us waiting for a lock that %s holds; nothing is lost meanwhile. "
            "SELECT pg_terminate_backend(%d) would end it",
            *(holder_names, holders[0][0]),
        )
