"""The demo's own rows in PostgreSQL: cleared before, read after, and nobody else's touched."""

from __future__ import annotations

from typing import Any

import psycopg2
from psycopg2.extras import RealDictCursor


def stored(database_url: str, site_id: str) -> list[dict[str, Any]]:
    """Read every product of one site, by external id."""
    with psycopg2.connect(database_url) as connection, _cursor(connection) as cursor:
        cursor.execute("SELECT * FROM products WHERE site_id = %s ORDER BY external_id", (site_id,))
        rows = [dict(row) for row in cursor.fetchall()]
    connection.close()
    return rows


def forget(database_url: str, site_id: str) -> None:
    """Delete the products of one site."""
    with psycopg2.connect(database_url) as connection, _cursor(connection) as cursor:
        cursor.execute("DELETE FROM products WHERE site_id = %s", (site_id,))
    connection.close()


def _cursor(connection: Any) -> Any:
    return connection.cursor(cursor_factory=RealDictCursor)
