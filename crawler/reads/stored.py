"""What PostgreSQL keeps, read for people: products, their history, attempts, jobs, quality."""

from __future__ import annotations

from typing import Any

import attrs

from crawler.reads.database import Database, Row

_PRODUCT = (
    "site_id, external_id, name, price, currency, availability, brand, url,"
    " scraped_at, updated_at, first_seen, gone_at"
)


#: Orders of a list of products.
ORDERS = {
    "changed": "updated_at DESC",
    "cheapest": "price ASC NULLS LAST",
    "dearest": "price DESC NULLS LAST",
    "newest": "first_seen DESC",
}


@attrs.frozen(kw_only=True)
class ProductFilter:
    """Which products are listed; an empty text asks for nothing."""

    words: str = ""
    """A part of name or brand; or a whole number or URL."""
    site: str = ""
    stock: str = ""
    """schema.org ItemAvailability."""
    gone: bool = True
    """Also what the shop shows no more."""
    order: str = "changed"
    """One of ORDERS."""


async def attempts_of(database: Database, url: str, domain: str) -> list[Row]:
    """Return the newest attempts at a URL."""
    return await database.rows(
        "SELECT * FROM attempts WHERE domain = %(domain)s AND url = %(url)s"
        " ORDER BY at DESC LIMIT 20",
        {"url": url, "domain": domain},
    )


async def product_at(database: Database, url: str) -> Row | None:
    """Return the product that a URL shows, or None."""
    rows = await database.rows(
        f"SELECT {_PRODUCT} FROM products"  # noqa: S608  # our own list of columns
        " WHERE hashtextextended(url, 0) = hashtextextended(%(url)s, 0) AND url = %(url)s LIMIT 1",
        {"url": url},
    )
    return rows[0] if rows else None


async def search_products(
    database: Database, wanted: ProductFilter, *, limit: int = 50, start: int = 0
) -> list[Row]:
    """Return the products that a filter matches, in its order."""
    words = wanted.words
    escaped = words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    order = ORDERS.get(wanted.order, ORDERS["changed"])
    return await database.rows(
        f"SELECT {_PRODUCT} FROM products"  # noqa: S608  # our own columns and orders
        " WHERE (%(words)s = '' OR name ILIKE %(like)s OR brand ILIKE %(like)s"
        " OR external_id = %(words)s OR sku = %(words)s OR gtin = %(words)s OR url = %(words)s)"
        " AND (%(site)s = '' OR site_id = %(site)s)"
        " AND (%(stock)s = '' OR availability = %(stock)s)"
        " AND (%(gone)s OR gone_at IS NULL)"
        f" ORDER BY {order}, external_id LIMIT %(limit)s OFFSET %(start)s",
        {
            "words": words,
            "like": f"%{escaped}%",
            "site": wanted.site,
            "stock": wanted.stock,
            "gone": wanted.gone,
            "limit": limit,
            "start": start,
        },
    )


async def sites(database: Database) -> list[str]:
    """Return the sites that something was stored of."""
    rows = await database.rows("SELECT site_id FROM sites ORDER BY site_id LIMIT 500")
    return [row["site_id"] for row in rows]


async def product(database: Database, site_id: str, external_id: str) -> Row | None:
    """Return one product with the whole item, or None."""
    rows = await database.rows(
        f"SELECT {_PRODUCT}, item FROM products"  # noqa: S608  # our own list of columns
        " WHERE site_id = %(site)s AND external_id = %(id)s",
        {"site": site_id, "id": external_id},
    )
    return rows[0] if rows else None


async def changes(database: Database, site_id: str, external_id: str) -> list[Row]:
    """Return the newest changes of one product."""
    return await database.rows(
        "SELECT changed_at, field, old, new FROM product_versions"
        " WHERE site_id = %(site)s AND external_id = %(id)s ORDER BY changed_at DESC LIMIT 200",
        {"site": site_id, "id": external_id},
    )


async def estimate(database: Database, table: str) -> int:
    """Return about how many rows a table has, from the server's statistics."""
    n: Any = await database.value(
        "SELECT coalesce(nullif(n_live_tup, 0), 0) FROM pg_stat_user_tables"
        " WHERE relname = %(table)s",
        {"table": table},
    )
    return int(n or 0)


async def jobs(database: Database, crawl: str) -> list[Row]:
    """Return the newest jobs of a crawl."""
    return await database.rows(
        "SELECT * FROM jobs WHERE crawl = %(crawl)s ORDER BY created_at DESC LIMIT 100",
        {"crawl": crawl},
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
    database: Database, *, hours: int = 1, domain: str = ""
) -> list[Row]:
    """Sum the attempts of the last hours by provider and hour, the newest hour first."""
    return await database.rows(
        "SELECT date_trunc('hour', at) AS hour, coalesce(proxy_provider, 'direct') AS provider,"
        " count(*) AS attempts, count(*) FILTER (WHERE outcome = 'ok') AS ok,"
        " coalesce(sum(bytes), 0) AS bytes, coalesce(round(avg(duration_ms)), 0) AS mean_ms"
        " FROM attempts WHERE at > now() - make_interval(hours => %(hours)s)"
        " AND (%(domain)s = '' OR domain = %(domain)s)"
        " GROUP BY 1, 2 ORDER BY 1 DESC, 3 DESC LIMIT 500",
        {"hours": hours, "domain": domain},
    )


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
