"""The end of a complete crawl of a site: twins merged, what is gone marked, quality measured.

Call `finish_site` once, from whoever ends the job, after the last worker's rows are committed.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import attrs

from crawler.stores.database import transaction
from crawler.stores.quality import Quality, measure, save
from crawler.stores.queries import query

_KEEP = timedelta(days=2)


@attrs.frozen(kw_only=True)
class Finished:
    """What `finish_site` did."""

    known: int
    """Products of the site that were not gone before."""
    unseen: int
    """Of these, those that the crawl did not see."""
    gone: int
    """Of these, those that are marked now: all, or none where too many were missing."""
    merged: int
    """Keys that turned out to be another product's."""
    quality: Quality
    """What the crawl's data is worth; it is kept for the next crawl to be compared with."""


def finish_site(
    database_url: str,
    site_id: str,
    started_at: datetime,
    *,
    job_id: str | None = None,
    most: float = 0.5,
    now: datetime | None = None,
) -> Finished:
    """Merge twins, mark as gone what a complete crawl did not see, and measure the data.

    *started_at* is when the crawl began. A product counts as seen if *job_id* wrote it, or if its
    page was parsed since. Where more than the share *most* of the products was not seen, nothing
    is marked: it is the crawl that failed then, not the shop that emptied its shelves.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    now = now or datetime.now(UTC)
    values = {"site": site_id, "started": started_at, "job": job_id, "now": now}
    with transaction(database_url) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT seine_merge_twins(%(site)s)", values)
        merged = _one(cursor)[0]
        cursor.execute(query("plan_for_many"))
        cursor.execute(query("count_unseen"), values)
        known, unseen = _one(cursor)
        gone = 0
        if unseen <= known * most:
            cursor.execute(query("mark_gone"), values)
            gone = cursor.rowcount
        quality = measure(cursor, site_id, started_at, job_id)
        save(cursor, quality, job_id, now)
        cursor.execute(query("forget_sightings"), {"before": min(now - _KEEP, started_at)})
    return Finished(known=known, unseen=unseen, gone=gone, merged=merged, quality=quality)


def _one(cursor: Any) -> tuple[int, ...]:
    row: tuple[int, ...] = cursor.fetchone()
    return row
