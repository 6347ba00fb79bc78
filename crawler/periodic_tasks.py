"""A worker's periodic tasks for the whole crawl.

A worker checks whether jobs are lost or complete, stores what it learned of sites, and creates
partitions of the log of attempts ahead. The coordinator checks jobs each second, but is optional.
"""

from __future__ import annotations

import asyncio
import logging
import random
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler

from crawler.access.shared_state import fleet_name
from crawler.catalogue.jobs.closing import end_jobs
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.restoring import restore_jobs
from crawler.extract.links.dead_ends import DeadEnds
from crawler.extract.template import Book
from crawler.learned_sites import Templates, dead_end_rows, template_rows
from crawler.stores.attempts import keep_days
from crawler.stores.tables import DEAD_END, OVERHEAD, TEMPLATE
from scrapy_seine.config import StoreConfig, number
from scrapy_seine.engine.ending.shutdown import cancel
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.sinks.postgres.writer import Writer
from scrapy_seine.store_wait import RetryUntil, log_failure

logger = logging.getLogger(__name__)

#: Pages learned since a template was stored, at least, to store it again.
_LEARNED = 20
#: Interval at which partitions of the log of attempts are created, s.
_CHORES_S = 6 * 3600
#: Interval at which a worker checks whether jobs are complete or lost, s.
REVIEW_S = 30.0


class Upkeep:
    """One worker's periodic tasks, from joining the crawl until the worker stops."""

    def __init__(self, crawler: Crawler, config: StoreConfig, writer: Writer, url: str) -> None:
        self.crawler, self.config, self.writer, self.url = crawler, config, writer, url
        self.inflight = worker_of(crawler).inflight
        self.outage_s = number(crawler.settings, "SEINE_OUTAGE_LIMIT", 600)
        self._later: asyncio.TimerHandle | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start the partitions' task now, and the others when the spider opens."""
        if self.config.attempts:
            self._make_partitions()
        self.inflight.completed = self._review_jobs
        templates = Templates(self.url)

        def joined() -> None:  # pydispatch calls no functools.partial
            self.join(templates)

        self.crawler.signals.connect(joined, signals.spider_opened, weak=False)
        loop, patience = asyncio.get_running_loop(), RetryUntil(self.outage_s, logger.warning)
        await patience.try_until_async(lambda: loop.run_in_executor(None, templates.read))

    def join(self, templates: Templates) -> None:
        """Start the tasks of jobs and templates, because the worker has joined the crawl."""
        self._tasks = [asyncio.ensure_future(self._keep_reviewing())]
        book = self._book
        if book is not None:
            templates.hand_over(book)
            self._tasks.append(asyncio.ensure_future(templates.keep_recalling(book)))

    async def stop(self) -> None:
        """Cancel the tasks."""
        if self._later is not None:
            self._later.cancel()
        await cancel(self._tasks)

    def save_templates(self, least: int = _LEARNED) -> None:
        """Store what was learned of sites, unless the writer's queue is long: products go first.

        Never raises, because the jobs' review and the last rows follow.
        """
        try:
            self._save_templates(least)
        except Exception as error:
            log_failure(logger, "what was learned of sites is not shared", error)

    def _save_templates(self, least: int) -> None:
        book = self._book
        if book is None or self.writer.waiting[1] > self.config.buffer_bytes:
            return
        for row in template_rows(book, least, self.inflight.now(None)):
            self.writer.put(TEMPLATE, row, len(row.learned) + OVERHEAD)
        dead_ends: DeadEnds | None = getattr(self._spider, "dead_ends", None)
        if dead_ends is not None:
            for dead_end in dead_end_rows(dead_ends, self.inflight.now(None)):
                self.writer.put(DEAD_END, dead_end, OVERHEAD)

    @property
    def _spider(self) -> Any:
        """The crawler's spider; None before it is made."""
        return getattr(self.crawler, "spider", None)

    @property
    def _book(self) -> Book | None:
        return getattr(self._spider, "book", None)

    async def _keep_reviewing(self) -> None:
        """Review the crawl's jobs when the worker has joined, and every REVIEW_S.

        Redis may have lost the jobs' state, and a worker that is idle or busy with another job
        notices a job's end only by a review.
        """
        while True:
            try:
                await self.inflight.completed()
            except Exception as error:  # the next review repeats it
                log_failure(logger, "the crawl's jobs are left as they are", error)
            self.save_templates()
            await asyncio.sleep(REVIEW_S * random.uniform(0.7, 1.3))

    async def _review_jobs(self) -> bool:
        """Restore lost jobs, end complete ones; returns whether that added work."""
        member = worker_of(self.crawler).member
        if member is None:  # another scheduler's crawl: it has no jobs
            return False
        jobs, fleet = Jobs(member.frontier), fleet_name(self.crawler.settings)
        patience = RetryUntil(self.outage_s, logger.warning)
        if await patience.try_until_async(lambda: restore_jobs(jobs, self.url)):
            return True
        if not await patience.try_until_async(jobs.running):
            return False
        await patience.try_until_async(lambda: end_jobs(jobs, self.url, fleet=fleet))
        return not await patience.try_until_async(jobs.frontier.idle)

    def _make_partitions(self) -> None:
        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, keep_days, self.url, self.config.attempts_days)
        self._later = loop.call_later(_CHORES_S, self._make_partitions)
