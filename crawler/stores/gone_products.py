"""Finish a complete crawl of a site: merge twins, mark gone products, measure the quality.

A product that a crawl did not see is not gone, because a listing may be a dead letter. Its own
page decides: `find_unseen` lists the products to request by their own URLs
(crawler.catalogue.jobs.closing does so), `mark_vanished` records the responses, and `finish_site`
marks the products.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs

from crawler.stores.quality import Quality, measure, save
from crawler.stores.queries import query
from scrapy_seine.attrs_bases import Value
from scrapy_seine.sinks.postgres.database import transaction

logger = logging.getLogger(__name__)
_KEEP_SIGHTINGS = timedelta(days=2)
#: Doubts about products that were not seen for this long are deleted.
_KEEP_DOUBTS = timedelta(days=90)
#: Share of a site's products that may be gone at once; if more are missing, the crawl has failed.
_MAX_GONE = 0.5


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Finished(Value):
    """The result of `finish_site`."""

    known: int
    """Products of the site that were not gone before."""
    unseen: int
    """Of these, those that the crawl did not see."""
    missing: int
    """Of these, those whose own page does not exist or shows no product."""
    gone: int
    """Of these, those that are marked now: all, or none if too many are missing."""
    merged: int
    """Keys that were merged into another product's."""
    quality: Quality
    """The quality of the crawl's data; it is stored for comparison with the next crawl."""


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
    """List the products of a site that a crawl since *started_at* did not see, ordered by URL.

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
) -> Finished | None:
    """Merge twins, mark missing products as gone, and measure the quality; None: done already.

    *started_at* is when the crawl began. A product counts as seen if *job_id* wrote it, or if its
    page was answered since. If more than half of the products are missing, none is
    marked, because then the crawl has failed rather than the shop removed them. Any number of
    processes may call this for one job: one of them does the work.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    now = datetime.now(UTC)
    values = {"site": site_id, "started": started_at, "job": job_id, "now": now}
    with transaction(database_url) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%(site)s, 7366450))", values)
        if job_id is not None:
            cursor.execute(query("is_measured"), values)
            if _only_row(cursor)[0]:
                return None
        cursor.execute("SELECT seine_merge_twins(%(site)s)", values)
        merged_count = _only_row(cursor)[0]
        cursor.execute(query("plan_for_many"))
        cursor.execute(query("exchange_urls"), values)
        cursor.execute(query("count_unseen"), values)
        known_count, unseen_count, missing_count = _only_row(cursor)
        gone_count = 0
        if missing_count <= known_count * _MAX_GONE:
            cursor.execute(query("mark_gone"), values)
            gone_count = cursor.rowcount
        else:
            logger.warning(
                "site %s: %d of %d products are missing, so none is marked as gone",
                *(site_id, missing_count, known_count),
            )
        cursor.execute(query("forget_accepted"), {"site": site_id})
        quality = measure(cursor, site_id, started_at, job_id)
        save(cursor, quality, job_id, now)
        cursor.execute(
            query("forget_sightings"), {"before": min(now - _KEEP_SIGHTINGS, started_at)}
        )
        cursor.execute(query("forget_doubtful"), {"site": site_id, "before": now - _KEEP_DOUBTS})
    return Finished(
        known=known_count,
        unseen=unseen_count,
        missing=missing_count,
        gone=gone_count,
        merged=merged_count,
        quality=quality,
    )


def _only_row(cursor: Any) -> tuple[int, ...]:
    row: tuple[int, ...] = cursor.fetchone()
    return row
