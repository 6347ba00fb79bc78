"""Read PostgreSQL's records other than products for display: attempts, scores, rejections, jobs."""

from __future__ import annotations

from crawler.reads.database import Database, Row


async def attempts_of(database: Database, url: str, domain: str) -> list[Row]:
    """Return the newest attempts at a URL."""
    return await database.rows(
        "SELECT * FROM attempts WHERE domain = %(domain)s AND url = %(url)s"
        " ORDER BY at DESC LIMIT 20",
        {"url": url, "domain": domain},
    )


async def newest_attempts(
    database: Database, *, outcome: str = "", domain: str = "", limit: int = 100
) -> list[Row]:
    """Return the newest attempts of the last day, filtered."""
    return await database.rows(
        "SELECT * FROM attempts WHERE at > now() - interval '1 day'"
        " AND (%(outcome)s = '' OR outcome = %(outcome)s)"
        " AND (%(domain)s = '' OR domain = %(domain)s) ORDER BY at DESC LIMIT %(limit)s",
        {"outcome": outcome, "domain": domain, "limit": limit},
    )


async def attempts_by_provider(
    database: Database, *, hours: int = 1, domain: str = "", max_attempts: int | None = None
) -> list[Row]:
    """Sum the attempts of the last hours by provider and hour, the newest hour first.

    *max_attempts* limits the query's cost: only that many of the newest attempts are summed.
    """
    return await database.rows(
        "SELECT date_trunc('hour', at) AS hour, coalesce(proxy_provider, 'direct') AS provider,"
        " count(*) AS attempts, count(*) FILTER (WHERE outcome = 'ok') AS ok,"
        " coalesce(sum(bytes), 0) AS bytes, coalesce(round(avg(duration_ms)), 0) AS mean_ms"
        " FROM (SELECT * FROM attempts WHERE at > now() - make_interval(hours => %(hours)s)"
        " AND (%(domain)s = '' OR domain = %(domain)s) ORDER BY at DESC LIMIT %(most)s) newest"
        " GROUP BY 1, 2 ORDER BY 1 DESC, 3 DESC LIMIT 500",
        {"hours": hours, "domain": domain, "most": max_attempts},
    )


async def rejections(database: Database) -> list[Row]:
    """Return the reasons of the last day's rejections, the commonest first."""
    return await database.rows(
        "SELECT site_id, reason, sum(times) AS times, max(rejected_at) AS last_at"
        " FROM rejected_items WHERE rejected_at > now() - interval '1 day'"
        " GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 100"
    )


async def quality_scores(database: Database) -> dict[str, float]:
    """Return each site's latest score, 0 to 1."""
    rows = await database.rows("SELECT site_id, score FROM current_quality LIMIT 1000")
    return {row["site_id"]: row["score"] for row in rows}


async def scores(database: Database) -> list[Row]:
    """Return the latest kept measure of each site's quality, the worst first."""
    return await database.rows("SELECT * FROM current_quality ORDER BY score, site_id LIMIT 500")


async def recorded_jobs(database: Database, crawl: str) -> list[Row]:
    """Return the newest jobs of a crawl."""
    return await database.rows(
        "SELECT * FROM jobs WHERE crawl = %(crawl)s ORDER BY created_at DESC LIMIT 100",
        {"crawl": crawl},
    )
