"""The log of attempts: one row for each download that was tried, kept for some days."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import attrs
import orjson
import psycopg2
from psycopg2 import errors, extensions

from crawler.stores.queries import query
from crawler.stores.rows import fitting
from scrapy_seine.attrs_bases import Value
from scrapy_seine.sinks.postgres.database import connect, line_of

logger = logging.getLogger(__name__)

#: Days for which partitions are made ahead: a fleet may stand still over a holiday.
AHEAD = 7
_SMALL, _BIG = 2**15 - 1, 2**31 - 1


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Attempt(Value):
    """One download that was tried."""

    url: str
    domain: str
    outcome: str
    """`ok`, the verdict on the response, or the kind of failure."""
    status: int | None = None
    """HTTP status; None where no response came."""
    site_id: str | None = None
    job_id: str | None = None
    task_id: str | None = None
    worker: str | None = None
    proxy_provider: str | None = None
    proxy_id: str | None = None
    lane: str | None = None
    retry: int = 0
    """Failed attempts before this one."""
    size: int | None = None
    """Bytes of the response."""
    duration_ms: int | None = None
    """Time from the request to the response, in milliseconds."""

    def row(self) -> bytes:
        """Return the attempt as JSON with the current time.

        Raises:
            TypeError: a value has no JSON form, such as half a surrogate pair.
        """
        row = {
            "at": datetime.now(UTC),
            "url": self.url[:2048],
            "domain": self.domain,
            "outcome": self.outcome,
            "status": _within(self.status, _SMALL),
            "site_id": self.site_id,
            "job_id": self.job_id,
            "task_id": self.task_id,
            "worker": self.worker,
            "proxy_provider": self.proxy_provider,
            "proxy_id": self.proxy_id,
            "lane": self.lane,
            "retry": _within(self.retry, _SMALL),
            "bytes": self.size,
            "duration_ms": _within(self.duration_ms, _BIG),
        }
        return fitting(orjson.dumps(row))


def _within(value: int | None, limit: int) -> int | None:
    return None if value is None else max(0, min(value, limit))


def write_attempts(cursor: extensions.cursor, rows: Sequence[bytes]) -> Counter[str]:
    """Store a batch inside the caller's transaction.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    fragments: list[Any] = [orjson.Fragment(row) for row in rows]
    cursor.execute(query("add_attempts"), {"rows": orjson.dumps(fragments).decode()})
    return +Counter(attempts=cursor.rowcount, lost=len(rows) - cursor.rowcount)


def keep_days(database_url: str, days: int) -> int:
    """Create partitions ahead and drop those older than *days*; return how many were created.

    A failure is logged and does not stop the worker, because rows then go to the default partition.
    """
    try:
        with closing(connect(database_url)) as connection, connection:
            cursor = connection.cursor()
            # A long query may lock the log; the next call tries again.
            cursor.execute("SET LOCAL lock_timeout = '3s'")
            cursor.execute("SELECT seine_attempt_days(%s, %s)", (AHEAD, days))
            return int((cursor.fetchone() or (0,))[0])
    except psycopg2.Error as error:
        is_right = isinstance(error, errors.InsufficientPrivilege)
        advice = " (the tables' owner can make them: docs/deploying.md)" if is_right else ""
        logger.warning("partitions of attempts: %s%s", line_of(error), advice)
        return 0
