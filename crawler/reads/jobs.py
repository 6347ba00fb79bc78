"""The jobs that PostgreSQL keeps, read for people."""

from __future__ import annotations

from crawler.reads.database import Database, Row


async def jobs(database: Database, crawl: str) -> list[Row]:
    """Return the newest jobs of a crawl."""
    return await database.rows(
        "SELECT * FROM jobs WHERE crawl = %(crawl)s ORDER BY created_at DESC LIMIT 100",
        {"crawl": crawl},
    )
