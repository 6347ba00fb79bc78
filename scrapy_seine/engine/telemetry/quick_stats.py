"""Scrapy's counters in memory, without Scrapy's hook around each call.

Scrapy 2.19 passes each call of a stats collector through a hook that looks for a deprecated
argument, `spider`. A page counts some forty things, and the hook was half of their cost.
"""

from __future__ import annotations

from typing import Any

from scrapy import Spider
from scrapy.statscollectors import MemoryStatsCollector

#: Scrapy's scheduler and dupefilter stats -> the stats that replace them here.
COUNTED_AS = {
    "scheduler/enqueued": ("seine/enqueued",),
    "scheduler/enqueued/memory": ("seine/enqueued",),
    "scheduler/dequeued": ("seine/dequeued",),
    "scheduler/dequeued/memory": ("seine/dequeued",),
    "dupefilter/filtered": ("seine/duplicates", "seine/duplicates_local"),
}


class Stats(MemoryStatsCollector):
    """Counts as Scrapy's own; a `spider` argument is accepted as before, without a warning."""

    __getattribute__ = object.__getattribute__

    def get_value(self, key: str, default: Any = None, spider: Spider | None = None) -> Any:
        """Return a stat, or *default*; a stat of Scrapy's scheduler is read from its replacement.

        A spider compares `scheduler/enqueued` with a number, so that it is 0 in a worker if other
        workers queued everything.
        """
        stats = self.get_stats()
        if key in COUNTED_AS and key not in stats:
            total = sum(stats.get(name, 0) for name in COUNTED_AS[key])
            return total if total or default is None else default
        return stats.get(key, default)
