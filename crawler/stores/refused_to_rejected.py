"""A row that PostgreSQL refuses becomes a row of the rejected items, with the reason."""

from __future__ import annotations

import logging
from typing import Any

import attrs
import orjson

from crawler.stores.archive.warc import Page
from crawler.stores.rows import Confirmed, ProductRow, Vanished, rejected_row
from crawler.stores.tables import CONFIRMED, OVERHEAD, PAGE, PRODUCT, REJECTED, VANISHED
from scrapy_seine.sinks.postgres.sqlstates import Refusal

logger = logging.getLogger(__name__)

#: The reason that is stored with a refused row, by its table.
_REASONS = {
    PRODUCT: "PostgreSQL refused it",
    PAGE: "the page cannot be archived",
    CONFIRMED: "PostgreSQL refused to note that it is unchanged",
    VANISHED: "PostgreSQL refused to note that it is gone",
}


def refused(table: str, row: Any, refusal: Refusal) -> tuple[str, Any, int] | None:
    """Turn a row that PostgreSQL refused into a rejected row; None: its table has none."""
    if table == PRODUCT and isinstance(row, ProductRow):
        body: dict[str, Any] = {"site_id": row.site_id, "url": row.url, "job_id": row.job_id}
        try:
            body = {**body, **orjson.loads(row.body)}
        except ValueError:
            logger.debug("a body that is no JSON", exc_info=True)
    elif table == PAGE and isinstance(row, Page):
        body = {"site_id": row.site_id, "url": row.url, "job_id": row.job_id, "status": row.status}
    elif isinstance(row, Confirmed):
        body = {"site_id": row.site_id, "url": row.url, "job_id": row.job_id}
    elif isinstance(row, Vanished):
        body = {"site_id": row.site_id, "url": row.url}
    else:
        return None
    reason = _REASONS[table]
    rejected = attrs.evolve(
        rejected_row(body, f"{reason}: {refusal.reason}"),
        code=refusal.code or None,
        constraint_name=refusal.constraint,
    )
    return REJECTED, rejected, len(rejected.body) + OVERHEAD
