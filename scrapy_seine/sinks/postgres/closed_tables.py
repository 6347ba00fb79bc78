"""A worker exits if a table or the archive takes nothing and nobody mends it."""

from __future__ import annotations

import logging

from scrapy.crawler import Crawler

from scrapy_seine.engine.worker import worker_of

logger = logging.getLogger(__name__)


def exit_for_table(crawler: Crawler, reason: str) -> None:
    """End the worker; its pages return to the frontier, and are read again."""
    logger.error(
        "worker exits: no row was accepted for SEINE_OUTAGE_LIMIT by %s; restore or mend it, "
        "then start the worker: the pages of its rows are read again",
        reason,
    )
    worker_of(crawler).stop("outage")
