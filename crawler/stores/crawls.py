"""On which frontier a crawl runs: its random id in Redis, kept where Redis' loss does not reach."""

from __future__ import annotations

from scrapy_seine.sinks.postgres.database import transaction

_KNOWN = "SELECT frontier_id FROM crawls WHERE crawl = %s FOR UPDATE"
_NOTE = """
INSERT INTO crawls (crawl, frontier_id) VALUES (%s, %s)
ON CONFLICT (crawl) DO UPDATE SET frontier_id = EXCLUDED.frontier_id, since = now()
WHERE crawls.frontier_id <> EXCLUDED.frontier_id
"""


def known_frontier(database_url: str, crawl: str) -> str | None:
    """Return the id of the frontier that a crawl was last noted with, None where it never was.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(_KNOWN, (crawl,))
        row = cursor.fetchone()
        return None if row is None else str(row[0])


def note_frontier(database_url: str, crawl: str, frontier_id: str) -> str | None:
    """Note a crawl's frontier; returns the id of the one before, None where it is the same.

    Another id means that the crawl's state in Redis was lost: a server was emptied or replaced.
    The first process to note the new one is told the old one, so that one process says so.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(_KNOWN, (crawl,))
        row = cursor.fetchone()
        cursor.execute(_NOTE, (crawl, frontier_id))
        return None if row is None or row[0] == frontier_id else str(row[0])
