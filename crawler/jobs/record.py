"""Jobs in PostgreSQL: the record that stays when Redis is cleared."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg2.extras import execute_values

from crawler.jobs.model import Job
from crawler.stores.database import transaction

_UPSERT = """
INSERT INTO jobs (job_id, crawl, site_id, kind, state, total, done, ignored, failed, cancelled,
    started_at, finished_at)
VALUES %s
ON CONFLICT (job_id) DO UPDATE SET
    state = EXCLUDED.state, total = EXCLUDED.total, done = EXCLUDED.done,
    ignored = EXCLUDED.ignored, failed = EXCLUDED.failed, cancelled = EXCLUDED.cancelled,
    started_at = EXCLUDED.started_at,
    finished_at = EXCLUDED.finished_at
-- Who read the job a moment before it ended must not write that it runs. Begun anew, it does.
WHERE EXCLUDED.state IN ('finished', 'cancelled')
   OR jobs.state NOT IN ('finished', 'cancelled')
   OR jobs.started_at IS DISTINCT FROM EXCLUDED.started_at
"""
_ROW = "(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, to_timestamp(%s), to_timestamp(%s))"


def record(database_url: str, crawl: str, jobs: Sequence[Job]) -> None:
    """Write the jobs as they stand now.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    rows = [_row(crawl, job) for job in jobs]
    with transaction(database_url) as connection:
        execute_values(connection.cursor(), _UPSERT, rows, template=_ROW)


def _row(crawl: str, job: Job) -> tuple[object, ...]:
    counters = (job.total, job.done, job.ignored, job.failed, job.cancelled)
    return (
        *(job.id, crawl, job.site_id, job.kind, job.state),
        *counters,
        *(job.started_at, job.finished_at),
    )
