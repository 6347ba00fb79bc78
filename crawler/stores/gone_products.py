"""The end of a complete crawl of a site: twins merged, what is gone marked, quality measured.

What a crawl did not see is not gone by that: a listing may be a dead letter. Gone is what its own
page says: `find_unseen` names the products to ask for by their own addresses
(crawler.catalogue.jobs.closing does so), `mark_vanished` notes what they answer, and `finish_site`
then marks them.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs

from crawler.stores.quality import Quality, measure, save
from crawler.stores.queries import query
from scrapy_seine.records import Value
from scrapy_seine.sinks.postgres.database import transaction

logger = logging.getLogger(__name__)
_KEEP = timedelta(days=2)
#: Doubts about products that were not seen for so long say nothing any more.
_KEEP_DOUBTS = timedelta(days=90)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Finished(Value):
    """What `finish_site` did."""

    known: int
    """Products of the site that were not gone before."""
    unseen: int
    """Of these, those that the crawl did not see."""
    missing: int
    """Of these, those whose own page is not there, or shows no product."""
    gone: int
    """Of these, those that are marked now: all, or none where too many are missing."""
    merged: int
    """Keys that turned out to be another product's."""
    quality: Quality
    """What the crawl's data is worth; it is kept for the next crawl to be compared with."""


@attrs.frozen(eq=False, repr=False)
class Unseen(Value):
    """A product that a crawl did not see."""

    url: str
    external_id: str
    name: str
    etag: str | None
    last_modified: str | None
    parser: str | None


def find_unseen(
    database_url: str,
    site_id: str,
    started_at: datetime,
    *,
    job_id: str | None = None,
    after: str = "",
    limit: int = 10_000,
) -> list[Unseen]:
    """Name products of a site that a crawl since *started_at* did not see, by their addresses.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    values = {
        "site": site_id,
        "started": started_at,
        "job": job_id,
        "now": datetime.now(UTC),
        "after": after,
        "limit": limit,
    }
    with transaction(database_url) as connection:
        cursor = connection.cursor()
        cursor.execute(query("plan_for_many"))
        cursor.execute(query("find_unseen"), values)
        return [Unseen(*row) for row in cursor.fetchall()]


def finish_site(
    database_url: str,
    site_id: str,
    started_at: datetime,
    *,
    job_id: str | None = None,
    most: float = 0.5,
    now: datetime | None = None,
) -> Finished | None:
    """Merge twins, mark as gone what is missing, and measure the data; None: it was done already.

    *started_at* is when the crawl began. A product counts as seen if *job_id* wrote it, or if its
    page was answered since. Where more than the share *most* of the products is missing, nothing is
    marked: it is the crawl that failed then, not the shop that emptied its shelves. Any number of
    processes may call this for one job: one of them does it.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    now = now or datetime.now(UTC)
    values = {"site": site_id, "started": started_at, "job": job_id, "now": now}
    with transaction(database_url) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%(site)s, 7366450))", values)
        if job_id is not None:
            cursor.execute(query("is_measured"), values)
            if _one(cursor)[0]:
                return None
        cursor.execute("SELECT seine_merge_twins(%(site)s)", values)
        merged = _one(cursor)[0]
        cursor.execute(query("plan_for_many"))
        cursor.execute(query("count_unseen"), values)
        known, unseen, missing = _one(cursor)
        gone = 0
        if missing <= known * most:
            cursor.execute(query("mark_gone"), values)
            gone = cursor.rowcount
        else:
            logger.warning(
                "site %s: %d of %d products are missing, so none is marked as gone",
                *(site_id, missing, known),
            )
        quality = measure(cursor, site_id, started_at, job_id)
        save(cursor, quality, job_id, now)
        cursor.execute(query("forget_sightings"), {"before": min(now - _KEEP, started_at)})
        cursor.execute(query("forget_doubtful"), {"before": now - _KEEP_DOUBTS})
    return Finished(
        known=known, unseen=unseen, missing=missing, gone=gone, merged=merged, quality=quality
    )


def _one(cursor: Any) -> tuple[int, ...]:
    row: tuple[int, ...] = cursor.fetchone()
    return row
