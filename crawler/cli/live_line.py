"""The output of `scrapy crawl`: a live line on a terminal, else plain lines; a block at the end.

Scrapy's own lines about its parts and statistics are logged at DEBUG: SEINE_LOG_LEVEL=DEBUG shows
them, STATS_DUMP=1 the statistics alone.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
import time
from collections import deque
from typing import Any, TextIO

import attrs
from redis.exceptions import RedisError
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.log import get_scrapy_root_handler

from crawler.reads.crawl_report import LIMIT_SETTINGS, End, Moment, closing_block, live_line
from scrapy_seine.config import flag
from scrapy_seine.endpoints import missing_stores
from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import StoreError
from scrapy_seine.frontier.model import Counts
from scrapy_seine.printable import printable

logger = logging.getLogger(__name__)
#: Loggers whose lines below WARNING concern Scrapy's parts, not the crawl. A warning of theirs says
#: that a part of the settings is disabled, as a pipeline whose package is missing.
_PARTS = ("scrapy.utils.log", "scrapy.addons", "scrapy.middleware", "scrapy.crawler")
#: Loggers whose lines the live line and the closing block replace.
_REPLACED = ("scrapy.extensions.logstats", "scrapy.spidermiddlewares.httperror")
_STATS = "scrapy.statscollectors"
#: Seconds between two updates of the live line, and between two plain lines.
LIVE_S, PLAIN_S = 0.5, 60.0
#: Largest number of counted sites.
_MAX_SITES = 10_000
#: Interval over which the speed is measured, seconds.
_WINDOW_S = 10.0


def _lower(record: logging.LogRecord) -> bool:
    """Log a line as DEBUG, unless it is a warning or an error."""
    if logging.DEBUG < record.levelno < logging.WARNING:
        record.levelno, record.levelname = logging.DEBUG, "DEBUG"
    return True


def quiet(settings: BaseSettings) -> None:
    """Log Scrapy's lines about its parts at DEBUG, and its statistics too, without STATS_DUMP."""
    shows_stats = flag(settings, "STATS_DUMP")
    for name in (*_PARTS, *_REPLACED, *(() if shows_stats else (_STATS,))):
        source = logging.getLogger(name)
        if _lower not in source.filters:
            source.addFilter(_lower)


@attrs.define(eq=False, repr=False)
class Line:
    """A status line at the end of a terminal, redrawn in place; log lines appear above it."""

    output: TextIO
    _is_shown: bool = False

    def show(self, text: str) -> None:
        """Replace the line."""
        width = shutil.get_terminal_size().columns
        self.output.write(f"\r\x1b[2K{printable(text)[: width - 1]}")
        self.output.flush()
        self._is_shown = True

    def clear(self) -> None:
        """Remove the line."""
        if self._is_shown:
            self._is_shown = False
            self.output.write("\r\x1b[2K")
            self.output.flush()

    def filter(self, record: logging.LogRecord) -> bool:
        """Clear the line before a log line, as a filter of the handler that writes it."""
        self.clear()
        return True


class Watch:
    """Shows the progress of one worker, from its start to the closing block."""

    def __init__(self, crawler: Crawler, stream: TextIO | None = None, site: str = "") -> None:
        self.crawler = crawler
        self.site = site
        stream = stream or sys.stderr
        plain = not stream.isatty() or crawler.settings.get("LOG_FILE")
        self.line = None if plain else Line(stream)
        self.began = time.monotonic()
        self.crawl = crawler.spidercls.name
        self.sites: set[str] = set()
        self.pages = self.errors = 0
        self.first_counts: Counts | None = None
        self.last_counts: Counts | None = None
        #: Readings within the window: time (monotonic, s), ended pages and known pages.
        self.readings: deque[tuple[float, int, int]] = deque()
        self._task: asyncio.Task[None] | None = None
        crawler.signals.connect(self._start_following, signals.spider_opened)
        crawler.signals.connect(self._stop_following, signals.spider_closed)

    def _page_ended(self, entry: InFlight) -> None:
        if entry.outcome == "release":
            return
        self.pages += entry.outcome != "retry"  # a page that is retried is not done
        self.errors += entry.outcome in {"retry", "bury"}
        if len(self.sites) < _MAX_SITES:
            self.sites.add(entry.lease.domain)

    def _start_following(self) -> None:
        worker = worker_of(self.crawler)
        worker.inflight.watch(self._page_ended)
        # Not by spider_closed, which a worker whose pages do not end never sends.
        worker.signed_off.append(self.read_counts)
        handler = get_scrapy_root_handler()
        if self.line is not None and handler is not None:
            handler.addFilter(self.line.filter)
        self._task = asyncio.ensure_future(self._follow())

    async def _follow(self) -> None:
        every_s = PLAIN_S if self.line is None else LIVE_S
        while True:
            await self.read_counts()
            if self.last_counts is not None:
                self._render()
            await asyncio.sleep(every_s)

    async def read_counts(self) -> None:
        """Read the crawl's counters; keep the previous ones if Redis does not answer."""
        member = worker_of(self.crawler).member
        if member is None:
            return
        self.crawl = member.frontier.keys.crawl
        try:
            counts = await member.frontier.counts()
        except (RedisError, OSError, StoreError):
            return
        ended_pages = counts.totals.get("done", 0) + counts.dead
        self.readings.append((time.monotonic(), ended_pages, ended_pages + counts.undone))
        while len(self.readings) > 2 and self.readings[-1][0] - self.readings[0][0] > _WINDOW_S:  # noqa: PLR2004
            self.readings.popleft()
        self.first_counts, self.last_counts = self.first_counts or counts, counts

    def moment(self) -> Moment:
        """Return the crawl's progress."""
        first_s, first_ended, first_known = self.readings[0]
        last_s, last_ended, last_known = self.readings[-1]
        return Moment(
            crawl=self.crawl,
            pages=self.pages,
            rate=(last_ended - first_ended) / (last_s - first_s) if last_s > first_s else 0.0,
            products=self._items,
            sites=len(self.sites),
            errors=self.errors,
            waiting=last_known - last_ended,
            growing=last_known > first_known,
        )

    def _render(self) -> None:
        if self.line is not None:
            self.line.show(live_line(self.moment()))
        elif self.pages:
            logger.info("%s", live_line(self.moment()))

    async def _stop_following(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self.line is not None:
            self.line.clear()

    def print_end(self) -> None:
        """Print the closing block on a terminal, else log it as one message."""
        if self.first_counts is None:
            return  # the worker never joined its crawl, and logged the reason
        lines = closing_block(self.end())
        if self.line is not None:
            self.line.clear()
            print("", *map(printable, lines), sep="\n", file=self.line.output)
        else:
            logger.info("%s", "\n".join(lines))

    def end(self) -> End:
        """Return how the worker ended."""
        stats: dict[str, Any] = getattr(self.crawler.stats, "get_stats", dict)()
        first_counts, last_counts = self.first_counts, self.last_counts
        settings = self.crawler.settings
        pipelines = settings.getwithbase("ITEM_PIPELINES")
        return End(
            crawl=self.crawl,
            reason=str(stats.get("finish_reason") or "stopped"),
            seconds=time.monotonic() - self.began,
            sites=len(self.sites),
            stats=stats,
            known_links=_increase(first_counts, last_counts, "duplicate"),
            refused_links={
                limit: _increase(first_counts, last_counts, limit) for limit in LIMIT_SETTINGS
            },
            waiting=last_counts.undone if last_counts else 0,
            dead=last_counts.dead if last_counts else 0,
            stores=any("upsert" in str(path).lower() for path in pipelines),
            embedded=bool(missing_stores(settings)),
            site=self.site,
            feeds=tuple(map(str, settings.getdict("FEEDS"))),
        )

    @property
    def _items(self) -> int:
        stats: Any = self.crawler.stats
        return int(stats.get_value("item_scraped_count", 0))


def _increase(earlier: Counts | None, later: Counts | None, name: str) -> int:
    if earlier is None or later is None:
        return 0
    return max(0, later.totals.get(name, 0) - earlier.totals.get(name, 0))
