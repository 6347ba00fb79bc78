"""The id of a crawl's last frontier, in PostgreSQL, because Redis can lose its own copy.

The row also has the time of the last record by a worker, which only grows. Redis has a copy of that
time, because a difference shows that one of the stores was reset to an older state.
"""

from __future__ import annotations

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.sinks.postgres.database import transaction

_STORED = """
SELECT frontier_id, (extract(epoch FROM since) * 1000000)::bigint
FROM crawls WHERE crawl = %s FOR UPDATE
"""
_NOTE = """
INSERT INTO crawls (crawl, frontier_id, since) VALUES (%s, %s, clock_timestamp())
ON CONFLICT (crawl) DO UPDATE SET frontier_id = EXCLUDED.frontier_id,
    since = greatest(clock_timestamp(), crawls.since + interval '1 microsecond')
WHERE crawls.frontier_id <> EXCLUDED.frontier_id
    OR crawls.since < clock_timestamp() - interval '1 second'
RETURNING (extract(epoch FROM since) * 1000000)::bigint
"""


@attrs.frozen(eq=False, repr=False)
class RecordedFrontier(Value):
    """The recorded frontier of a crawl and its predecessor; times are Unix times, microseconds."""

    before: str | None
    """Id of the frontier before, if it is another; None: the same, or none was recorded."""
    was_at: int
    """When the crawl was recorded before; 0: never."""
    at: int


def note_frontier(database_url: str, crawl: str, frontier_id: str) -> RecordedFrontier:
    """Record a crawl's frontier.

    Another id means that the crawl's state in Redis was lost: a server was emptied or replaced.
    Only the first process to record the new id gets the old one, so that one process reports it.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(_STORED, (crawl,))
        stored_id, was_at = cursor.fetchone() or (frontier_id, 0)
        cursor.execute(_NOTE, (crawl, frontier_id))
        recorded_row = cursor.fetchone() or (was_at,)
        return RecordedFrontier(
            None if stored_id == frontier_id else str(stored_id), int(was_at), int(recorded_row[0])
        )
