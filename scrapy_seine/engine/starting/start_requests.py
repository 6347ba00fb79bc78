"""Requests that no page yielded: those of `start` and of signal handlers.

They belong to a run of the crawl (`frontier.runs`), which the first one of this process begins or
joins; until the run is known they wait here. Workers that start together make the same ones: each
enters once a run. A start request with `dont_filter`, as Scrapy's of start_urls, is distinct from
links to the same URL, which are fetched as well, as in Scrapy.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import ClassVar

from scrapy import Request, Spider

from scrapy_seine import meta as m
from scrapy_seine.config import FrontierConfig
from scrapy_seine.engine.heartbeat import Heartbeat, process_age_s
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.starting import arguments
from scrapy_seine.fingerprint import within
from scrapy_seine.frontier.runs import asked_for, enter
from scrapy_seine.store_wait import RetryUntil

logger = logging.getLogger(__name__)
#: A crawl that begins this long after its process is not the one the process was started for, s.
_STARTUP_S = 60.0
_MAINS = {("scrapy", "__main__.py"), ("scrapyd", "runner.py")}
Enqueue = Callable[[Request], object]


def is_scrapys(program: str) -> bool:
    """Whether a program is Scrapy's command or Scrapyd's runner, and no script.

    >>> is_scrapys("/usr/bin/scrapy"), is_scrapys("/lib/scrapyd/runner.py"), is_scrapys("daily.py")
    (True, True, False)
    """
    path = Path(program)
    return path.stem == "scrapy" or path.parts[-2:] in _MAINS


class StartRequests:
    """Holds start requests back until their run is known."""

    #: Crawls that this process has joined before: a script may crawl again and again.
    _joined_crawls: ClassVar[set[str]] = set()
    #: Crawls on which spiders of this process work now, with their number.
    _spiders_by_crawl: ClassVar[Counter[str]] = Counter()

    def __init__(
        self,
        config: FrontierConfig,
        heartbeat: Heartbeat,
        ask_run: Callable[[], None],
        arguments_hash: str = "",
        known_count: Callable[[], int] = lambda: 0,
    ) -> None:
        self.config = config
        self.arguments_hash = arguments_hash
        """Hash of this worker's arguments; '' if it has none."""
        self.heartbeat = heartbeat
        self.number = 0
        """The run; 0: not known yet."""
        self.waiting: list[tuple[Request, Enqueue]] = []
        self.any = False
        """Whether there was a start request."""
        self._ask_run = ask_run
        self._known_count = known_count
        """Returns how many start requests the run had before."""
        self._logged_known = False
        self._starts_by_url: Counter[int] = Counter()
        self._start_ended = False
        self._made_at = monotonic()
        self._beat: asyncio.Task[None] | None = None

    def take(self, request: Request, enqueue: Enqueue) -> bool:
        """Assign a request to the run; False if it waits for *enqueue* until the run is known."""
        if self.number:
            request.meta[m.RUN] = self.number
            return True
        self.waiting.append((request, enqueue))
        if not self.any:
            self.any = True
            self._ask_run()
        return False

    def identity(self, spider: Spider, fingerprint: int | None) -> int | None:
        """Fingerprint of a start request with `dont_filter`: that of the n-th one to its URL.

        A FrontierSpider's is that of the URL, because its seeds are remembered.
        """
        if fingerprint is None or isinstance(spider, FrontierSpider):
            return fingerprint
        self._starts_by_url[fingerprint] += 1
        return within(f"start {self._starts_by_url[fingerprint]}", fingerprint)

    async def decide(self) -> None:
        """Begin or join the run, and enqueue the requests that wait for it.

        Raises:
            RedisError: Redis has not answered for SEINE_OUTAGE_LIMIT.
        """
        config, frontier = self.config, self.heartbeat.frontier

        async def begin_or_join() -> tuple[int, bool]:
            age_ms, keep = 1000 * self.age_s(), config.keep_alive
            return await enter(
                frontier, name=config.run, keep=keep, age_ms=age_ms, asked=self.arguments_hash
            )

        patience = RetryUntil(config.outage_s, logger.warning)
        number, began = await patience.try_until_async(begin_or_join)
        if not began:
            others_arguments = await patience.try_until_async(lambda: asked_for(frontier, number))
            arguments.warn_of_others(
                config.crawl,
                number,
                is_same_process=self._spiders_by_crawl[config.crawl] > 0,
                differs=others_arguments not in {None, self.arguments_hash},
            )
        self.number = number
        self._spiders_by_crawl[config.crawl] += 1
        self._joined_crawls.add(config.crawl)
        word = "begins" if began else "joins"
        logger.info("this worker %s run %d of crawl %r", word, self.number, config.crawl)
        self._report_starting(0 if self._start_ended else self.number)
        waiting, self.waiting = self.waiting, []
        for request, enqueue in waiting:
            enqueue(request)

    def record_end(self) -> None:
        """Record that `start` has ended: only then Scrapy asks for pending requests."""
        if not self._start_ended:
            self._start_ended = True
            if self.number:
                self._report_starting(0)

    def _report_starting(self, starting: int) -> None:
        """Report in the heartbeat for which run this worker still makes start requests."""
        self.heartbeat.starting = starting
        self._beat = asyncio.ensure_future(self.heartbeat.beat_if_possible())

    def age_s(self) -> float:
        """How long ago this crawl was asked for: when its process began, unless that did other
        work.

        A process of Scrapy does no other work before, however long a busy machine delays it.
        """
        object_age_s, process_age = monotonic() - self._made_at, process_age_s()
        if self.config.crawl in self._joined_crawls:
            return object_age_s
        did_more = process_age - object_age_s >= _STARTUP_S and not is_scrapys(sys.argv[0])
        return object_age_s if did_more else process_age

    def close(self) -> None:
        """End this spider's part of the run."""
        if self.number:
            self._spiders_by_crawl[self.config.crawl] -= 1
        self.log_known_requests()

    def log_known_requests(self) -> None:
        """Log once how many start requests the run had before, and how to fetch them again."""
        duplicates = self._known_count()
        if duplicates and not self._logged_known:
            self._logged_known = True
            remedy = "start once more when the run has ended"
            if self.config.keep_alive:
                remedy = "push them as seeds, because a worker that stays joins the latest run"
            logger.info(
                "%d start requests were known in run %d of crawl %r, and were not fetched again: "
                "%s, or name another run with -s SEINE_RUN=…",
                *(duplicates, self.number, self.config.crawl, remedy),
            )
