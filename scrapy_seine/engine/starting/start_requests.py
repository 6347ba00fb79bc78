"""Requests that no page yielded: what `start` and handlers of signals make.

They belong to a run of the crawl (`frontier.runs`), which the first one of this process begins or
joins; until that is known they wait here. Workers that start together make the same ones: each
enters once a run. What a spider marks with `dont_filter`, as Scrapy does with start_urls, is told
from the links to the same address, which are fetched as well, as in Scrapy.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from scrapy import Request, Spider

from scrapy_seine import meta as m
from scrapy_seine.config import FrontierConfig
from scrapy_seine.engine.heartbeat import Heartbeat, process_age_s
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.starting import arguments
from scrapy_seine.fingerprint import within
from scrapy_seine.frontier.runs import asked_for, enter
from scrapy_seine.retry_until import RetryUntil

logger = logging.getLogger(__name__)
#: A crawl that begins this long after its process is not what the process was started for, s.
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
    """Holds start requests back until the run that they belong to is known."""

    #: Crawls of whose runs this process knows already: a script may crawl again and again.
    _here: ClassVar[set[str]] = set()
    #: Crawls on which spiders of this process work now, with their number.
    _at_work: ClassVar[Counter[str]] = Counter()

    def __init__(
        self,
        config: FrontierConfig,
        heartbeat: Heartbeat,
        ask: Callable[[], None],
        asked: str = "",
    ) -> None:
        self.config = config
        self.asked = asked
        """Tells what this worker's arguments are from others; '' for none that matter."""
        self.heartbeat = heartbeat
        self.number = 0
        """The run; 0: not known yet."""
        self.waiting: list[tuple[Request, Enqueue]] = []
        self.any = False
        """There was one."""
        self._ask = ask
        self._seen: Counter[int] = Counter()
        self._over = False
        self._made_at = monotonic()
        self._beat: asyncio.Task[None] | None = None

    def take(self, request: Request, enqueue: Enqueue) -> bool:
        """Mark a request as one of the run; False where it waits for *enqueue*, to know its run."""
        if self.number:
            request.meta[m.RUN] = self.number
            return True
        self.waiting.append((request, enqueue))
        if not self.any:
            self.any = True
            self._ask()
        return False

    def identity(self, spider: Spider, fingerprint: int | None) -> int | None:
        """Fingerprint of a start request with `dont_filter`: of the n-th one to its address.

        A FrontierSpider's is that of the address, because its seeds are remembered.
        """
        if fingerprint is None or isinstance(spider, FrontierSpider):
            return fingerprint
        self._seen[fingerprint] += 1
        return within(f"start {self._seen[fingerprint]}", fingerprint)

    async def decide(self) -> None:
        """Begin or join the run, and let those go that wait for it.

        Raises:
            RedisError: Redis has not answered for SEINE_OUTAGE_LIMIT.
        """
        config, frontier = self.config, self.heartbeat.frontier

        async def begin_or_join() -> tuple[int, bool]:
            age_ms, keep = 1000 * self.age_s(), config.keep_alive
            return await enter(
                frontier, name=config.run, keep=keep, age_ms=age_ms, asked=self.asked
            )

        patience = RetryUntil(config.outage_s, logger.warning)
        number, began = await patience.try_until_async(begin_or_join)
        if not began:
            other = await patience.try_until_async(lambda: asked_for(frontier, number))
            arguments.warn_of_others(
                config.crawl,
                number,
                here=self._at_work[config.crawl] > 0,
                differs=other not in {None, self.asked},
            )
        self.number = number
        self._at_work[config.crawl] += 1
        self._here.add(config.crawl)
        word = "begins" if began else "joins"
        logger.info("this worker %s run %d of crawl %r", word, self.number, config.crawl)
        self._tell(0 if self._over else self.number)
        waiting, self.waiting = self.waiting, []
        for request, enqueue in waiting:
            enqueue(request)

    def over(self) -> None:
        """Note that `start` has ended: Scrapy asks for what is pending only then."""
        if not self._over:
            self._over = True
            if self.number:
                self._tell(0)

    def _tell(self, starting: int) -> None:
        """Tell the fleet of which run this worker still makes start requests."""
        self.heartbeat.starting = starting
        self._beat = asyncio.ensure_future(self.heartbeat.beat_if_possible())

    def age_s(self) -> float:
        """How long ago this crawl was asked for: when its process began, unless that did more.

        A process of Scrapy's own does nothing before, however long a busy machine lets it wait.
        """
        here_s, process_s = monotonic() - self._made_at, process_age_s()
        if self.config.crawl in self._here:
            return here_s
        did_more = process_s - here_s >= _STARTUP_S and not is_scrapys(sys.argv[0])
        return here_s if did_more else process_s

    def last_words(self, stats: Any) -> None:
        """Say what was not fetched, because the run had it before, and what changes that."""
        if self.number:
            self._at_work[self.config.crawl] -= 1
        known = stats.get_value("seine/start_known", 0)
        if known:
            logger.info(
                "%d start requests were known in run %d of crawl %r, and were not fetched again: "
                "start once more when the run has ended, or name another run with -s SEINE_RUN=…",
                *(known, self.number, self.config.crawl),
            )
