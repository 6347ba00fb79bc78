"""The log of attempts, read for people: the newest ones, and sums by provider."""

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
    database: Database, *, hours: int = 1, domain: str = "", most: int | None = None
) -> list[Row]:
    """Sum the attempts of the last hours by provider and hour, the newest hour first.

    *most* bounds what the question costs: only so many of the newest attempts are summed.
    """
    return await database.rows(
        "SELECT date_trunc('hour', at) AS hour, coalesce(proxy_provider, 'direct') AS provider,"
        " count(*) AS attempts, count(*) FILTER (WHERE outcome = 'ok') AS ok,"
        " coalesce(sum(bytes), 0) AS bytes, coalesce(round(avg(duration_ms)), 0) AS mean_ms"
        " FROM (SELECT * FROM attempts WHERE at > now() - make_interval(hours => %(hours)s)"
        " AND (%(domain)s = '' OR domain = %(domain)s) ORDER BY at DESC LIMIT %(most)s) newest"
        " GROUP BY 1, 2 ORDER BY 1 DESC, 3 DESC LIMIT 500",
        {"hours": hours, "domain": domain, "most": most},
    )
