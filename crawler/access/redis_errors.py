"""Counts errors of the Redis in which the fleet shares what it learns of sites and proxies."""

from __future__ import annotations

from scrapy.crawler import Crawler

from scrapy_seine.frontier.round_trips.redis_refusals import Refusals


class RedisErrors:
    """Counts each error under one stat, and logs a refusal, because that lasts until somebody acts.

    An outage is not logged here: the frontier, which asks the same server, says that it waits.
    """

    def __init__(self, crawler: Crawler, stat: str) -> None:
        self._stats, self._stat = crawler.stats, stat
        self._refusals = Refusals(count=lambda _, __: None)  # each error is counted below

    def note(self, error: Exception, meanwhile: str) -> None:
        """Count an error; *meanwhile* describes what happens until Redis accepts."""
        if self._stats is not None:
            self._stats.inc_value(self._stat)
        self._refusals.log_refusal(error, meanwhile)
