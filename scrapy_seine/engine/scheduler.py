"""Scrapy's scheduler slot: the shared frontier behind a synchronous interface.

Neither `enqueue_request` nor `next_request` asks Redis, and neither raises: the first appends to
the page's entry in the in-flight table, the second takes from the exchange's buffer. What Scrapy
offers no hook for is wrapped here, on the instances of one engine: the end of every request
(`slot.remove_request`), the start of a drain (`slot.close`), and the way of a request from here to
there (engine.fastpath.request_task), so that children and items find their entry. The version of
Scrapy is pinned, and the 23 ways in which a request can end are tested.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from redis.exceptions import RedisError
from scrapy import Request, Spider, signals
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro
from scrapy_redis.scheduler import Scheduler as RedisScheduler

from scrapy_seine import meta as m
from scrapy_seine.config import FrontierConfig, flag, number, redact
from scrapy_seine.connect import endpoints, redis_client
from scrapy_seine.engine import serializer
from scrapy_seine.engine.arguments import misspelt
from scrapy_seine.engine.download.warmup import warm_up
from scrapy_seine.engine.dupefilter import dupefilter_of
from scrapy_seine.engine.early_push import EarlyPush
from scrapy_seine.engine.ends import Ends
from scrapy_seine.engine.fastpath.request_task import RequestTasks
from scrapy_seine.engine.heartbeat import Heartbeat, process_age_s, worker_name
from scrapy_seine.engine.inflight import InFlight, current, inflight_of
from scrapy_seine.engine.limit import ReadingLimit
from scrapy_seine.engine.moves import LOOPS, lead_of
from scrapy_seine.engine.one_off import is_one_off, plain_scheduler
from scrapy_seine.engine.outcomes import describe
from scrapy_seine.engine.seeds import requests_of, seeds_key_of
from scrapy_seine.engine.shutdown import Shutdown, cancel, unless_stopped
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.waiting import idle_limit_s, stop_popping
from scrapy_seine.engine.watchdog import Watchdog, note_overrun
from scrapy_seine.errors import EncodeError, SeineError, StoreUnreachable
from scrapy_seine.frontier.exchange import Exchange
from scrapy_seine.frontier.keys import SeedKeys
from scrapy_seine.frontier.model import Budgets, Burial, Done, Push
from scrapy_seine.frontier.partitions import join_frontier, rejoin
from scrapy_seine.frontier.recovery import Recovery
from scrapy_seine.frontier.seal import Seal
from scrapy_seine.frontier.seeds import BATCH, Intake
from scrapy_seine.frontier.wire import note
from scrapy_seine.politeness.site_limits import pace_of, site_limits_of
from scrapy_seine.retry_until import RetryUntil
from scrapy_seine.urls import within

if TYPE_CHECKING:
    from scrapy.core.scheduler import BaseScheduler
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)
#: How long a worker tries to reach Redis for its last words, s. What is unsaid then is said by the
#: expiry of its leases.
SIGN_OFF_S = 5.0
_OUTAGES = (StoreUnreachable, RedisError, OSError)


class Scheduler(RedisScheduler):  # type: ignore[misc]  # the base class has no types
    """Leases requests from the shared frontier and acks each when it is done and stored."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(server=None, persist=True)
        self.crawler = crawler
        self.stats: Any = crawler.stats
        self.config = FrontierConfig.from_settings(crawler.settings, crawler.spidercls.name)
        self.max_retries = int(number(crawler.settings, "RETRY_TIMES", 1000))
        self.depth_limit = int(number(crawler.settings, "DEPTH_LIMIT", 0))
        self.limit = ReadingLimit(number(crawler.settings, "SEINE_READ_SECONDS", 5))
        self.drain_s = number(crawler.settings, "SEINE_DRAIN_SECONDS", 20)
        self.seeding = flag(crawler.settings, "SEINE_INTAKE", True)
        self.seal = Seal(self.config.crawl, self.config.secrets)
        self.df = dupefilter_of(crawler)
        self.inflight = inflight_of(crawler)
        self.inflight.relieved = self._relieved
        self.worker = worker_name()
        self.shutdown = Shutdown(self._sign_off, self.drain_s)
        self._tasks: list[asyncio.Task[None]] = []
        self._notes: set[asyncio.Task[None]] = set()
        self.watchdog: Watchdog | None = None
        self._closing = self._began = self._engine_runs = False
        self._unopened = ""
        self._idle_limit_s: float | None = None
        self._asked_end = False
        self._looked_for = 0.0
        self._settled_at = -1.0
        self._settling: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self | BaseScheduler:
        """Make the crawler's scheduler; Scrapy's own for a command that looks at a few pages.

        Raises:
            ConfigError: a setting is wrong.
        """
        return plain_scheduler(crawler) if is_one_off(crawler) else cls(crawler)

    spider: Any

    def open(self, spider: Spider) -> Deferred[None]:
        """Connect, and start to read ahead.

        Never fails: a worker that cannot join, or is told to end before it has, ends with its
        reason once all its parts are open, because Scrapy closes no others without a traceback.
        """
        self.spider = spider
        if isinstance(spider, FrontierSpider):
            spider.knows = self.df.knows_url
        self._wrap()
        self._began = self.crawler.crawling
        self.crawler.signals.connect(self._opened, signals.spider_opened)
        self.crawler.signals.connect(self._begun, signals.engine_started)
        self.shutdown.arm(self._is_opening)
        return deferred_from_coro(self._try_open())

    async def _try_open(self) -> None:
        try:
            await unless_stopped(self.crawler, self._open())
        except CloseSpider as told:
            self._unopened = told.reason
        except (SeineError, RedisError, OSError) as error:
            logger.error("the worker stops: %s", redact(str(error)))
            self._unopened = "outage" if isinstance(error, _OUTAGES) else "error"

    def _opened(self) -> None:
        """Scrapy forgets that a worker was told to end before it began: say so again.

        Raises:
            CloseSpider: it was, or it cannot begin.
        """
        if not self._unopened and self._began and not self.crawler.crawling:
            self._unopened = "shutdown"
        if self._unopened:
            raise CloseSpider(self._unopened)

    def _begun(self) -> None:
        self._engine_runs = True

    def _is_opening(self) -> bool:
        return not self._engine_runs and self.crawler.engine.spider is not None

    async def _open(self) -> None:
        self._idle_limit_s = idle_limit_s(self.spider, keep_alive=self.config.keep_alive)
        stop_popping(self.spider, self.crawler)
        for name, alike in misspelt(self.spider).items():
            logger.warning("-a %s=… is used by nobody; did you mean -a %s=…?", name, alike)
        url = endpoints(self.crawler.settings, need=("redis",)).redis_url
        self.redis = redis_client(url)
        patience = RetryUntil(self.config.outage_s, logger.warning)
        await patience.try_until_async(self._join)
        await warm_up(self.crawler)
        loops = [self.exchange.run(), self.heartbeat.keep_beating(), self.heartbeat.listen()]
        if self.seeding:
            loops.append(self.intake.run())
        for loop in loops:
            task = asyncio.ensure_future(loop)
            task.add_done_callback(self._loop_ended)
            self._tasks.append(task)
        self.exchange.kick()
        self.watchdog = Watchdog(
            self.heartbeat, url, self.config, self.limit.limit_s, asyncio.get_running_loop()
        )
        self.watchdog.start()
        logger.info("worker %s joins crawl %r", self.worker, self.config.crawl)

    async def _join(self) -> None:
        config = self.config
        self.frontier = await join_frontier(self.redis, config.crawl, config.partitions)
        self.early_push = EarlyPush(self.frontier, self.inflight, self.df.confirm, self._count)
        self.exchange = Exchange(
            self.frontier,
            config,
            self.worker,
            arrived=self._wake,
            confirmed=self.df.confirm,
            counted=self._count,
        )
        self.heartbeat = Heartbeat(
            *(self.worker, self.redis, self.frontier, self.exchange),
            *(self.inflight, self.stats, config.lease_s, self.df.clear),
        )
        self.inflight.clock = self.exchange.now_ms
        ends = Ends(
            self.exchange, self.worker, self.spider, self.seal, self._count, self.max_retries
        )
        self.inflight.connect(ends.send, ends.policy)
        site_limits = site_limits_of(self.crawler)
        site_limits.exchange, site_limits.pace = self.exchange, pace_of(self.crawler.settings)
        seeds = SeedKeys(seeds_key_of(self.spider, config.seeds_key))
        self.intake = Intake(
            *(self.redis, self.frontier, seeds, self._read_seed, self._seeded),
            *(self.exchange.kept.add, self._before_seeds),
            batch=getattr(self.spider, "redis_batch_size", None) or BATCH,
        )
        self.recovery = Recovery(
            *(self.frontier, self.exchange, self.inflight, self.stats),
            *(self._forget, self._state_lost),
        )
        self.recovery.watch()
        await self._configure()

    async def _configure(self) -> None:
        config, site_limits = self.config, site_limits_of(self.crawler)
        await self.frontier.configure(
            delay_ms=config.delay_ms,
            concurrency=config.concurrency,
            half_window_ms=int(config.window_s * 500),
            seen=config.seen,
            capacity=config.seen_capacity,
            throttle=site_limits.pace is not None,
            budgets=Budgets(
                domain_pages=config.domain_pages,
                job_pages=config.job_pages,
                most_pending=config.most_pending,
            ),
        )
        await self.heartbeat.beat()

    def _forget(self) -> None:
        """What was learned of the crawl counts no longer: Redis has another state of it."""
        self.df.clear()
        site_limits_of(self.crawler).tell_again()

    def _state_lost(self) -> None:
        if self.config.keep_alive:
            asyncio.ensure_future(self._rejoin())  # noqa: RUF006  # it ends by itself
        else:
            self._stop("state_lost")

    async def _rejoin(self) -> None:
        """Join the crawl that is there now, and push again what no page stands for."""

        async def join() -> None:
            await rejoin(self.frontier)
            await self._configure()

        await RetryUntil(self.config.outage_s, logger.warning).try_until_async(join)
        logger.warning("worker %s joins crawl %r anew", self.worker, self.config.crawl)
        self.recovery.rejoined()
        try:
            await self.inflight.completed()  # jobs that ran there begin anew
        except Exception:
            logger.exception("jobs of the lost state are left to whoever looks next")

    def _stop(self, reason: str) -> None:
        asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))  # noqa: RUF006

    def _wrap(self) -> None:
        """Hook into the engine where Scrapy offers no hook; see the module's docstring."""
        engine: Any = self.crawler.engine
        slot = engine._slot
        remove, close = slot.remove_request, slot.close

        def remove_request(request: Request) -> None:
            try:
                self.inflight.finished(request)
            finally:
                remove(request)

        async def close_slot() -> None:
            self._drain()
            await close()

        slot.remove_request, slot.close = remove_request, close_slot
        self.limit.install()
        self.inflight.overran = self._overran
        self.request_tasks = RequestTasks(
            engine, self.inflight, lambda entry: self.exchange.land(entry.lease), self.limit
        )
        engine._start_scheduled_request = self.request_tasks.start
        self.crawler.signals.connect(self._item_error, signals.item_error)

    def _drain(self) -> None:
        """The spider closes: lease no more, and hand back what was not begun."""
        self._closing = True
        if hasattr(self, "exchange"):
            self.exchange.stopping = True
            self.exchange.give_back()
            self.shutdown.begin()

    def close(self, reason: str) -> Deferred[None]:
        """Send the last endings, hand back the rest; shared state stays (I7)."""
        return self.shutdown.finish()

    async def _sign_off(self) -> None:
        self._closing = True
        if not hasattr(self, "heartbeat"):  # it never joined
            if hasattr(self, "redis"):
                await self.redis.aclose()
            return
        for task in self._tasks:
            task.remove_done_callback(self._loop_ended)
        settling = [self._settling] if self._settling is not None else []
        await cancel([*self._tasks, *self.early_push.tasks, *settling, *self._notes])
        self.limit.remove()
        if self.watchdog is not None:
            self.watchdog.stop()
        await self.exchange.drain(self.inflight.abandon(), SIGN_OFF_S)
        await self.heartbeat.sign_off()
        await self.redis.aclose()

    def _loop_ended(self, task: asyncio.Task[None]) -> None:
        """A loop never returns by itself: what stopped it stops the worker, with its reason."""
        error = None if task.cancelled() else task.exception()
        if error is None or self._closing:
            return
        logger.error("the worker stops: %s: %s", type(error).__name__, error)
        reason = "outage" if isinstance(error, _OUTAGES) else "error"
        self._stop(reason)

    def enqueue_request(self, request: Request) -> bool:
        """Take a request; False where it is a duplicate or cannot be stored. Never raises."""
        entry = current.get()
        if entry is not None and entry.copy is request:
            return True  # a retry: it leaves with the end of its entry
        try:
            taken = self._take(request, entry)
        except (EncodeError, TypeError, ValueError) as error:
            logger.error("request refused: %s", describe(error))
            self._count("unencodable", 1)
            if entry is not None and request is self.request_tasks.moved:
                self.inflight.bury(entry.request, "address", f"it leads to {describe(error)}")
            return False
        except Exception as error:
            logger.exception("request refused")
            self._count("unencodable", 1)
            if entry is not None:
                self.inflight.raised(entry, error)
            return False
        if entry is not None and request is self.request_tasks.moved:
            self.inflight.done(entry)  # the page's new address is in the frontier, or was before
        return taken

    def _take(self, request: Request, entry: InFlight | None) -> bool:
        fingerprint, force = self._fingerprint(request, entry)
        moved = request is self.request_tasks.moved
        if moved and entry is not None:
            lead = lead_of(entry.request, request)
            if lead in LOOPS:
                self.inflight.mark(entry, *LOOPS[lead])
                return False
            if lead == "same":
                fingerprint = None
        if fingerprint is not None and not force and self.df.knows(fingerprint):
            self._count("duplicates_local", 1)
            return False
        meta = request.meta
        parent = entry.request.meta if entry is not None else None
        if parent is None:
            meta.pop(m.HOME, None)  # a seed's is found when it is sent
        m.complete(meta, parent)
        if entry is not None and parent is not None and m.LOGIN in parent:
            serializer.hand_down_login(request, entry.request)
        if not moved:
            meta[m.DEPTH] = depth = 0 if parent is None else parent.get(m.DEPTH, 0) + 1
            if 0 < self.depth_limit < depth:
                self._count("too_deep", 1)
                return False
        push = serializer.to_push(
            request, self.spider, fingerprint=fingerprint, force=force, seal=self.seal
        )
        site_limits_of(self.crawler).meet(push.domain, self.spider)
        if entry is None:
            self.exchange.saw_work = True
            self.exchange.push(push)
        else:
            self.early_push.add(entry, push)
        self._count("enqueued", 1)
        return True

    def _fingerprint(self, request: Request, entry: InFlight | None) -> tuple[int | None, bool]:
        """Fingerprint, and whether to enter although seen: a seed does, and is remembered."""
        if request.dont_filter and entry is not None:
            return None, False
        try:
            number = self.df.request_fingerprint(request)
            if number is None:
                return None, False
            return within(self._scope(request, entry), number), request.dont_filter
        except ValueError:
            return None, False  # to_push will say what is wrong with the URL

    @staticmethod
    def _scope(request: Request, entry: InFlight | None) -> str:
        """Within what the URL is remembered: its own scope, its job, or the crawl."""
        inherited = entry.request.meta.get(m.JOB_ID) if entry is not None else None
        meta = request.meta
        return str(meta.get(m.SCOPE) or meta.get(m.JOB_ID) or inherited or "")

    def next_request(self) -> Request | None:
        """A request that may be sent now, or None. Never raises."""
        self.exchange.held_back = self.inflight.pressed
        while (lease := self.exchange.take()) is not None:
            if lease.job and lease.job in self.heartbeat.cancelled:
                self._count("cancelled", 1)
                self._count("ignored/cancelled", 1)
                self.exchange.done(Done(lease=lease, rule="cancelled"))
                continue
            try:
                request = serializer.from_lease(lease, self.spider, self.seal)
            except Exception as error:  # whatever is stored, the next request is taken (I8)
                logger.error("stored request set aside: %s", describe(error))
                self._count("undecodable", 1)
                self._count("buried/decode", 1)
                text = note("decode", describe(error), self.worker)
                self.exchange.bury(Burial(lease=lease, note=text))
                continue
            self.inflight.begin(request, lease)
            self._count("dequeued", 1)
            return request
        return None

    def has_pending_requests(self) -> bool:
        """Whether anybody in the fleet still has work, or this worker is to wait for some."""
        if self._closing:
            return False
        complete = self._complete()  # says so where there is nothing yet
        idle_s = monotonic() - self.exchange.undone_at
        return not complete or idle_s < (self._idle_limit_s or 0.0)

    def _complete(self) -> bool:
        exchange = self.exchange
        if exchange.busy or len(self.inflight) or exchange.undone != 0:
            return False
        if self._idle_limit_s is None and not exchange.saw_work:
            if not self._asked_end:
                self._asked_end = True
                asyncio.ensure_future(self._ask_end())  # noqa: RUF006  # it ends by itself
            return False
        if not self.seeding or self.intake.quiet_at > exchange.undone_at:
            return self._is_settled()
        if self._looked_for != exchange.undone_at:  # once: somebody's claim may take long to settle
            self._looked_for = exchange.undone_at
            self.intake.look(self._wake)
        return False

    def _is_settled(self) -> bool:
        """Whether the complete crawl's jobs are ended, which may have brought more to do."""
        at = self.exchange.undone_at
        if self._settled_at != at and self._settling is None:
            self._settling = asyncio.ensure_future(self._settle(at))
        return self._settled_at == at

    async def _settle(self, at: float) -> None:
        more = False
        try:
            more = await self.inflight.completed()
        except Exception:  # its jobs are ended by whoever looks next
            logger.exception("the jobs of the complete crawl are left as they are")
        self._settling = None
        if more:
            self.exchange.undone = None
            self.exchange.kick()
        else:
            self._settled_at = at
        self._wake()

    async def _ask_end(self) -> None:
        """Who was called while there was work came to help with it, though none is left by now.

        Asked once nothing is left, as the end may come at any moment of this worker's start.
        """
        try:
            ended_ms = await self.frontier.ended_ago_ms()
        except (RedisError, OSError):
            self._asked_end = False
            return
        if ended_ms is not None and ended_ms < 1000 * process_age_s():
            self.exchange.saw_work = True
            self._wake()
        else:
            logger.info("crawl %r is empty; waiting for seeds", self.config.crawl)

    def __len__(self) -> int:
        return len(self.exchange.buffered)

    def _overran(self, entry: InFlight) -> None:
        self._count("overran", 1)
        task = asyncio.ensure_future(note_overrun(self.frontier, self.redis, entry))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    def _item_error(self, failure: Any) -> None:
        entry = current.get()
        if entry is not None:
            self.inflight.mark(entry, "item", describe(failure.value))

    def _read_seed(self, seed: bytes) -> list[Push]:
        pushes = []
        for request in requests_of(self.spider, seed):
            m.complete(request.meta, None)
            number, force = self._fingerprint(request, None)
            pushes.append(
                serializer.to_push(
                    request, self.spider, fingerprint=number, force=force, seal=self.seal
                )
            )
        return pushes

    async def _before_seeds(self, pushes: Sequence[Push]) -> None:
        domains = [push.domain for push in pushes]
        await site_limits_of(self.crawler).meet_first(domains, self.spider)

    def _seeded(self, good: int, rejected: int) -> None:
        self._count("seeds", good)
        self._count("seeds_rejected", rejected)
        self.exchange.undone = None
        self.exchange.kick()

    def _relieved(self) -> None:
        """A store takes rows again: so does this worker take requests."""
        if hasattr(self, "exchange"):
            self.exchange.held_back = False
            self.exchange.kick()
            self._wake()

    def _wake(self) -> None:
        slot = getattr(self.crawler.engine, "_slot", None)
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    def _count(self, name: str, n: int) -> None:
        self.stats.inc_value(f"seine/{name}", n)
