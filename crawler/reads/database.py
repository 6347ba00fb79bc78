"""Short read-only queries to PostgreSQL, sent from a thread so that no event loop waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import psycopg2
from psycopg2.extras import RealDictCursor

from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.printable import redact, storable
from scrapy_seine.store_errors import refusal_line

#: A query that takes longer is cancelled, ms.
TIMEOUT_MS = 3000
#: Sent with the query, as one transaction, because each round trip is a wait on a busy machine.
#: Parallel workers and JIT are off, because they take longer to start than such a query to run.
_BEGIN = (
    f"SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = {TIMEOUT_MS};"
    " SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off; "
)

Row = dict[str, Any]


def _sendable(params: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        name: storable(value) if isinstance(value, str) else value for name, value in params.items()
    }


class Database:
    """One connection, opened at the first query and reopened after a failure."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection: Any = None
        self._lock = threading.Lock()

    async def rows(self, sql: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """Run one SELECT.

        Raises:
            StoreUnreachable: the database does not answer, lacks the table, or takes too long.
        """
        return await asyncio.to_thread(self._rows, sql, _sendable(params or {}))

    async def value(self, sql: str, params: Mapping[str, Any] | None = None) -> Any:
        """Run one SELECT and return the first column of its first row, or None."""
        rows = await self.rows(sql, params)
        return next(iter(rows[0].values())) if rows else None

    def _rows(self, sql: str, params: Mapping[str, Any]) -> list[Row]:
        if not self.url:
            raise StoreUnreachable("DATABASE_URL is empty: there are no products to show")
        with self._lock:
            try:
                return self._ask(sql, params)
            except (psycopg2.Error, ValueError) as error:
                self._close()
                text = redact(" ".join(str(error).split())) or type(error).__name__
                raise StoreUnreachable(refusal_line(error) or f"PostgreSQL: {text}") from None

    def _ask(self, sql: str, params: Mapping[str, Any]) -> list[Row]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg2.connect(
                self.url, connect_timeout=3, cursor_factory=RealDictCursor
            )
            self._connection.autocommit = True
        with self._connection.cursor() as cursor:
            cursor.execute(_BEGIN + sql, params)
            return [dict(row) for row in cursor.fetchall()]

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def aclose(self) -> None:
        """Close the connection."""
        await asyncio.to_thread(self._locked_close)

    def _locked_close(self) -> None:
        with self._lock:
            self._close()


async def estimate(database: Database, table: str) -> int:
    """Return about how many rows a table has, from the server's statistics."""
    n: Any = await database.value(
        # By the table's OID, because a demo has tables of the same names in its own schema.
        "SELECT pg_stat_get_live_tuples(to_regclass(%(table)s))",
        {"table": table},
    )
    return int(n or 0)
