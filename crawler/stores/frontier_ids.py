"""The frontier that a crawl ran on last, by its id, kept where the loss of Redis does not reach.

The row also has the time when a worker noted it last, which only grows. Redis keeps the last that
it was told, so that each of the two notices when the other one fell back.
"""

from __future__ import annotations

import attrs

from scrapy_seine.records import Value
from scrapy_seine.sinks.postgres.database import transaction

_KNOWN = """
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
class Noted(Value):
    """What was noted of a crawl, and what was known before. Times are Unix times, microseconds."""

    before: str | None
    """Id of another frontier that it ran on; None: it is the same, or none was known."""
    was_at: int
    """When it was noted before; 0: never."""
    at: int


def note_frontier(database_url: str, crawl: str, frontier_id: str) -> Noted:
    """Note a crawl's frontier.

    Another id means that the crawl's state in Redis was lost: a server was emptied or replaced.
    The first process to note the new one is told the old one, so that one process says so.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(_KNOWN, (crawl,))
        known, was_at = cursor.fetchone() or (frontier_id, 0)
        cursor.execute(_NOTE, (crawl, frontier_id))
        at = cursor.fetchone() or (was_at,)
        return Noted(None if known == frontier_id else str(known), int(was_at), int(at[0]))
