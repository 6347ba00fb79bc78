"""The demo's rows in PostgreSQL, by site id: deleted before a demo, read after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg2 import sql
from psycopg2.extras import RealDictCursor

from scrapy_seine.sinks.postgres.database import transaction

#: Every table with rows of a site.
TABLES = (
    "products",
    "product_versions",
    "product_urls",
    "sightings",
    "rejected_items",
    "doubtful",
    "site_templates",
    "accepted_doubts",
    "dead_ends",
)


def stored_products(database_url: str, site_id: str) -> list[dict[str, Any]]:
    """Read every product of one site, by external id.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with _cursor(database_url) as cursor:
        cursor.execute("SELECT * FROM products WHERE site_id = %s ORDER BY external_id", (site_id,))
        return [dict(row) for row in cursor.fetchall()]


def forget(database_url: str, site_id: str) -> None:
    """Delete all rows of one site.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with _cursor(database_url) as cursor:
        for table in TABLES:
            query = sql.SQL("DELETE FROM {} WHERE site_id = %s").format(sql.Identifier(table))
            cursor.execute(query, (site_id,))


@contextmanager
def _cursor(database_url: str) -> Iterator[RealDictCursor]:
    with (
        transaction(database_url) as connection,
        connection.cursor(cursor_factory=RealDictCursor) as cursor,
    ):
        yield cursor
