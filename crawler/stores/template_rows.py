"""The templates of sites, shared by the fleet: each worker starts with those of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import attrs
import orjson
from psycopg2 import extensions

from crawler.stores.queries import query
from scrapy_seine.attrs_bases import Value
from scrapy_seine.sinks.postgres.database import transaction

#: Templates that a worker starts with: the newest, some KB each.
MAX_TEMPLATES = 1_000


@attrs.frozen(eq=False, repr=False)
class TemplateRow(Value):
    """The learned profile of one cluster of a site's pages."""

    site_id: str
    cluster: str
    version: int
    pages: int
    learned: bytes
    """The profile as JSON."""
    changed: str | None
    """The last change, where this worker noticed it."""
    at: datetime


def write_templates(cursor: extensions.cursor, rows: Sequence[TemplateRow]) -> Counter[str]:
    """Store a batch inside the caller's transaction: the newest row of each template.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    unique = {(row.site_id, row.cluster): row for row in rows}
    records = [
        {
            "s": row.site_id,
            "c": row.cluster,
            "v": row.version,
            "p": row.pages,
            "l": orjson.Fragment(row.learned),
            "n": row.changed,
            "t": row.at,
        }
        for row in unique.values()
    ]
    cursor.execute(query("add_templates"), {"rows": orjson.dumps(records).decode()})
    return Counter(templates=len(unique))


def read_templates(database_url: str, site_id: str | None = None) -> list[tuple[str, str, Any]]:
    """Return site, cluster and profile of the newest templates, of one site or of all.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(query("newest_templates"), {"site": site_id, "limit": MAX_TEMPLATES})
        return list(cursor.fetchall())


def stored_before(
    database_url: str, site_id: str, urls: Sequence[str]
) -> dict[str, dict[str, Any] | None]:
    """Return the products at these URLs as they were before the last readings; None: not stored.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(query("stored_before"), {"site": site_id, "urls": list(urls)})
        return dict.fromkeys(urls) | dict(cursor.fetchall())


def stored_currencies(database_url: str, site_id: str) -> list[tuple[str, str]]:
    """Return URLs and currencies of some products of a site, the oldest first.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(query("stored_currencies"), {"site": site_id})
        return list(cursor.fetchall())
