"""How good each site's data is, and why items were rejected, read for people."""

from __future__ import annotations

from crawler.reads.database import Database, Row


async def rejections(database: Database) -> list[Row]:
    """Return why items were rejected in the last day, the commonest first."""
    return await database.rows(
        "SELECT site_id, reason, sum(times) AS times, max(rejected_at) AS last_at"
        " FROM rejected_items WHERE rejected_at > now() - interval '1 day'"
        " GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 100"
    )


async def quality_scores(database: Database) -> dict[str, float]:
    """Return each site's score, 0 to 1, as the last crawl left it."""
    rows = await database.rows("SELECT site_id, score FROM current_quality LIMIT 1000")
    return {row["site_id"]: row["score"] for row in rows}


async def scores(database: Database) -> list[Row]:
    """Return the latest measure of each site's quality that was kept, the worst first."""
    return await database.rows("SELECT * FROM current_quality ORDER BY score, site_id LIMIT 500")
