"""Logs that requests wait, because no proxy of their pool is listed, or all of a site's rest."""

from __future__ import annotations

import logging

from scrapy_seine.once_a_minute import OnceAMinute
from scrapy_seine.printable import printable

logger = logging.getLogger(__name__)


class LackOfProxies:
    """What a worker has logged of this."""

    def __init__(self) -> None:
        self._unlisted: set[tuple[str, str]] = set()
        self._resting = OnceAMinute()

    def log_unlisted(self, pool: str, country: str) -> None:
        """Log once that requests wait for a proxy that no worker lists."""
        if (pool, country) in self._unlisted:
            return
        self._unlisted.add((pool, country))
        place = f" in {country}" if country else ""
        logger.error(
            "no proxy of pool %r%s is listed: its requests wait, and are given up in the end; "
            "list one, or change SEINE_PROXY_POOL or meta['proxy_pool']",
            pool or "any",
            place,
        )

    def log_resting(self, site: str, wait_s: float) -> None:
        """Log once a minute that requests to a site wait until a banned proxy may be used again."""
        if self._resting.is_due(site):
            logger.warning(
                "all proxies that %s may use are banned there: its requests wait, for %.0f s at"
                " least (SEINE_PROXY_QUARANTINE_SECONDS); list others, or end the crawl",
                printable(site),
                wait_s,
            )
