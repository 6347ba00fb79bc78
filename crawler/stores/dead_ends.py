"""Shapes of URLs that led to no product, stored for operators; each worker learns its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import attrs
import orjson
from psycopg2 import extensions

from crawler.stores.queries import query
from scrapy_seine.attrs_bases import Value
from scrapy_seine.sinks.postgres.database import transaction


@attrs.frozen(eq=False, repr=False)
class DeadEnd(Value):
    """A shape of URLs whose further pages are not crawled."""

    shape: str
    """Host and path, `*` for what differs from page to page, and the names of the query."""
    site_id: str
    pages: int
    """Pages that led to no product; 0: a later page led to one."""
    at: datetime

    @property
    def host(self) -> str:
        """The host of the shape, without a port."""
        return self.shape.partition("/")[0].partition(":")[0]


def write_dead_ends(cursor: extensions.cursor, rows: Sequence[DeadEnd]) -> Counter[str]:
    """Store a batch inside the caller's transaction: the newest row of each shape.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    unique = {row.shape[:500]: row for row in rows}
    records = [
        {"h": shape, "s": row.site_id, "p": row.pages, "t": row.at}
        for shape, row in sorted(unique.items())
    ]
    cursor.execute(query("add_dead_ends"), {"rows": orjson.dumps(records).decode()})
    cursor.execute(query("forget_dead_ends"))
    return Counter()


def read_dead_ends(database_url: str) -> list[DeadEnd]:
    """Return the newest thousand dead ends of all workers, ordered by host.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(query("newest_dead_ends"))
        return [DeadEnd(*row) for row in cursor.fetchall()]
