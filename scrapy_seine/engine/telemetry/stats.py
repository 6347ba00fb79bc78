"""Scrapy's counters in memory, without a look at each call.

Scrapy 2.19 finds each method of a stats collector through a hook that watches for an argument on
its way out, `spider`. A page counts some forty things, and half of their cost was the hook.
"""

from __future__ import annotations

from scrapy.statscollectors import MemoryStatsCollector


class Stats(MemoryStatsCollector):
    """Counts as Scrapy's own; a `spider` argument is taken as before, and nobody warns of it."""

    __getattribute__ = object.__getattribute__
