"""A line in the log for who waits for a lock of PostgreSQL, with the process that holds it.

libpq waits in silence, for as long as another transaction likes: a worker looked dead, or its site
slow, while somebody's `psql` held a table.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg2
from psycopg2 import extensions

from scrapy_seine.printable import printable
from scrapy_seine.sinks.postgres.database import connect

logger = logging.getLogger(__name__)
#: A wait is told of after this time, s.
TELL_S = 5.0
_HOLDERS = """
    SELECT pid, coalesce(nullif(application_name, ''), 'no name'),
        coalesce(extract(epoch FROM now() - xact_start), 0)
    FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids(%s)) ORDER BY xact_start LIMIT 3
"""


@contextmanager
def lock_waits_told(database_url: str, connection: extensions.connection) -> Iterator[None]:
    """Say who holds the lock that the block's statements wait for, once, and when they go on."""
    began, told = time.monotonic(), threading.Event()
    pid = connection.info.backend_pid
    timer = threading.Timer(TELL_S, _tell, (database_url, pid, told))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if told.is_set():
        logger.warning("PostgreSQL went on after %.0f s", time.monotonic() - began)


def _tell(database_url: str, pid: int, told: threading.Event) -> None:
    try:
        with closing(connect(database_url)) as connection, connection.cursor() as cursor:
            cursor.execute(_HOLDERS, (pid,))
            holders = cursor.fetchall()
    except (psycopg2.Error, ValueError) as error:
        logger.debug("nobody knows who holds a lock: %s", error)
        return
    if holders:
        named = ", ".join(
            f"process {holder} ({printable(name)}, in a transaction for {age_s:.0f} s)"
            for holder, name, age_s in holders
        )
        told.set()
        logger.warning(
            "PostgreSQL keeps us waiting for a lock that %s holds; nothing is lost meanwhile. "
            "SELECT pg_terminate_backend(%d) would end it",
            *(named, holders[0][0]),
        )
