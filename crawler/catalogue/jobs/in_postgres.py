"""Jobs in PostgreSQL: the record that survives the loss of Redis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
from psycopg2.extras import execute_values

from crawler.catalogue.jobs.model import Job
from scrapy_seine.attrs_bases import Value
from scrapy_seine.sinks.postgres.database import transaction

_UPSERT = """
INSERT INTO jobs (job_id, crawl, site_id, kind, state, total, done, ignored, failed, cancelled,
    started_at, finished_at, params)
VALUES %s
ON CONFLICT (job_id) DO UPDATE SET
    state = EXCLUDED.state, total = EXCLUDED.total, done = EXCLUDED.done,
    ignored = EXCLUDED.ignored, failed = EXCLUDED.failed, cancelled = EXCLUDED.cancelled,
    started_at = EXCLUDED.started_at,
    finished_at = EXCLUDED.finished_at,
    params = CASE WHEN EXCLUDED.params = '{}' THEN jobs.params ELSE EXCLUDED.params END
-- A lost job's counters count nothing, whoever still has them.
-- Who read the job a moment before it ended must not write that it runs. Begun anew, it does.
WHERE jobs.state <> 'lost' AND (
      EXCLUDED.state IN ('finished', 'cancelled')
   OR jobs.state NOT IN ('finished', 'cancelled')
   OR jobs.started_at IS DISTINCT FROM EXCLUDED.started_at)
"""
_ROW = "(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, to_timestamp(%s), to_timestamp(%s), %s)"
_UNENDED = """
SELECT job_id, coalesce(site_id, ''), kind, state = 'paused', coalesce(params->'urls', '[]'),
    coalesce(params->'fields', '{}')
FROM jobs WHERE crawl = %s AND state IN ('running', 'paused') ORDER BY started_at
"""
_LOST = "UPDATE jobs SET state = 'lost', note = %s WHERE job_id = %s"


@attrs.frozen(eq=False, repr=False)
class Unended(Value):
    """A job that has not ended, as recorded in PostgreSQL."""

    id: str
    site_id: str
    kind: str
    paused: bool
    urls: Sequence[str]
    """The job's seeds; empty: it has none, or an older version began it."""
    fields: Mapping[str, object]
    """Further fields of its seeds' requests."""


def record(database_url: str, crawl: str, jobs: Sequence[Job]) -> None:
    """Write the current state of the jobs.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    rows = [_row(crawl, job) for job in jobs]
    with transaction(database_url) as connection:
        execute_values(connection.cursor(), _UPSERT, rows, template=_ROW)


def unended(database_url: str, crawl: str) -> list[Unended]:
    """Return a crawl's jobs that have not ended, oldest first.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(_UNENDED, (crawl,))
        return [Unended(*row) for row in cursor.fetchall()]


def mark_lost(database_url: str, job_id: str, note: str) -> None:
    """Mark a job as lost by Redis; no later record changes that state.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(_LOST, (note, job_id))


def note_on(database_url: str, job_id: str, note: str) -> None:
    """Store a note on a job.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE jobs SET note = %s WHERE job_id = %s", (note, job_id))


def notes(database_url: str, job_ids: Sequence[str]) -> dict[str, str]:
    """Return the notes on these jobs, by job.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT job_id, note FROM jobs WHERE job_id = ANY(%s) AND note IS NOT NULL",
            (list(job_ids),),
        )
        return dict(cursor.fetchall())


def recorded_state(database_url: str, job_id: str) -> str | None:
    """Return a job's recorded state: one of Redis' states, or `lost`; None: not recorded.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT state FROM jobs WHERE job_id = %s", (job_id,))
        row = cursor.fetchone()
        return None if row is None else str(row[0])


def _row(crawl: str, job: Job) -> tuple[object, ...]:
    counters = (job.total, job.done, job.ignored, job.failed, job.cancelled)
    return (
        *(job.id, crawl, job.site_id, job.kind, job.state),
        *counters,
        *(job.started_at, job.finished_at, job.plan or "{}"),
    )
