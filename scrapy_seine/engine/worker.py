"""The composition root: the one place where a worker is put together, opened and closed.

A worker is made with what its middlewares and handlers share, before it connects: the table of
requests in flight, the limits of sites, the send gate. When Scrapy opens its scheduler the worker
joins the crawl (`Member`: the connection, the frontier, the exchange and the loops around them). It
drains when the spider closes, and signs off at the end.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError
from scrapy import Request
from scrapy.exceptions import CloseSpider

from scrapy_seine.config import FrontierConfig, flag, number
from scrapy_seine.endpoints import redis_client, redis_url
from scrapy_seine.engine.download.private_addresses import Reach, policy_from
from scrapy_seine.engine.download.send_gate import SendGate
from scrapy_seine.engine.download.warm_up import warm_up
from scrapy_seine.engine.dupefilter import DupeFilter, dupefilter_of
from scrapy_seine.engine.ending.close_spider import CrawlEnd, is_counted_here
from scrapy_seine.engine.ending.completion import Completion
from scrapy_seine.engine.ending.idle_limit import idle_limit_s, stop_popping
from scrapy_seine.engine.ending.shutdown import Shutdown, cancel, unless_stopped
from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.engine.heartbeat import Heartbeat, worker_name
from scrapy_seine.engine.lease.early_push import EarlyPush
from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.lease_ends import Ends
from scrapy_seine.engine.local_requests import LocalRequests
from scrapy_seine.engine.member import Member
from scrapy_seine.engine.reading.overrun_pause import note_overrun
from scrapy_seine.engine.reading.reading_limit import MOST_OUTPUTS, ReadingLimit
from scrapy_seine.engine.reading.stuck_pages import LongPages
from scrapy_seine.engine.reading.tried_alone import Suspects
from scrapy_seine.engine.reading.watchdog import Watchdog
from scrapy_seine.engine.settings_check import check
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.starting.arguments import digest, misspelt
from scrapy_seine.engine.starting.giving_way import giving_way
from scrapy_seine.engine.starting.seed_format import SETS, pushes_of, seeds_key_of
from scrapy_seine.engine.starting.start_requests import StartRequests
from scrapy_seine.engine.telemetry.outcome_counter import OutcomeCounter
from scrapy_seine.errors import SeineError
from scrapy_seine.frontier import open as open_frontier
from scrapy_seine.frontier.encoding.seal import Seal
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import SeedKeys
from scrapy_seine.frontier.model import Budgets, Push
from scrapy_seine.frontier.opening import claim_for_spider, reopen, warn_of_eviction
from scrapy_seine.frontier.round_trips.exchange import Exchange
from scrapy_seine.frontier.round_trips.recovery import Recovery
from scrapy_seine.frontier.seed_intake import BATCH, MOST_TICK_S, Intake
from scrapy_seine.frontier.signed_with import refuse_other_signers
from scrapy_seine.politeness.project_pace import (
    concurrency_of_project,
    pace_of_project,
    throttle_of_project,
)
from scrapy_seine.politeness.site_limits import SiteLimits
from scrapy_seine.politeness.verdict_listeners import VerdictListeners
from scrapy_seine.store_errors import refusal_line, with_advice
from scrapy_seine.store_wait import OUTAGES, RetryUntil, log_failure

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
#: How long a worker tries to reach Redis for its last calls, s. Leases that it cannot hand back
#: then expire.
SIGN_OFF_S = 5.0
#: Pause before a worker that Redis refused to rejoin asks again, s.
_REFUSED_S = 1.0
T = TypeVar("T")
#: The attribute of a crawler that holds its worker, so that both are freed together.
_ATTRIBUTE = "seine_worker"


class Worker:
    """The parts of one crawler's worker; `member` is None until it has joined the crawl.

    Raises:
        ConfigError: settings have values that are not allowed.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        check(settings)
        self.crawler = crawler
        self.name = worker_name()
        self.started_s = time.time()
        self.inflight = InFlightTable()
        self.site_limits = SiteLimits()
        self.gate = SendGate(self.inflight, self.site_limits, crawler.stats)
        self.reach = Reach(policy_from(settings), self.inflight)
        self.verdict_listeners = VerdictListeners()
        self.outcomes = OutcomeCounter()
        #: Handlers by lane, shared by http and https: one browser, one pool of connections.
        self.lanes: dict[str, Any] = {}
        self.seeding = flag(settings, "SEINE_INTAKE", True)
        self.limit = ReadingLimit(
            number(settings, "SEINE_READ_SECONDS", 5),
            int(number(settings, "SEINE_PAGE_OUTPUTS", MOST_OUTPUTS)),
        )
        drain_s = number(settings, "SEINE_DRAIN_SECONDS", 20)
        self.shutdown = Shutdown(self._sign_off, self.inflight.flush, drain_s)
        self.member: Member | None = None
        #: Awaited when the last endings are sent and the other leases handed back.
        self.signed_off: list[Callable[[], Awaitable[None]]] = []
        #: Wakes Scrapy's engine by public names: it asks for requests after each new one.
        self.wake_request = Request("data:,wake", dont_filter=True)
        self.closing = False
        #: Why this worker ends, by its own decision or another worker's.
        self.stop_reason = ""
        #: Whether all of Scrapy's parts are open, so that they can be closed.
        self.opened = False
        self._parts: dict[Any, Any] = {}
        self._notes: set[asyncio.Task[None]] = set()

    def part(self, kind: Callable[[Crawler], T]) -> T:
        """Return an application's part of this worker; the first call makes it from the crawler."""
        if kind not in self._parts:
            self._parts[kind] = kind(self.crawler)
        parts_by_kind: T = self._parts[kind]
        return parts_by_kind

    @cached_property
    def df(self) -> DupeFilter:
        """The filter of duplicate requests; made when the scheduler asks for it."""
        return dupefilter_of(self.crawler)

    @property
    def state(self) -> str:
        """Random id of the crawl's state (I12), unique to the crawl; '' until the worker joins."""
        parts = self.member.frontier.parts if self.member is not None else ()
        known_state = parts[0].watch.known if parts else None
        return known_state.id if known_state is not None else ""

    def _keeps_start_waiting(self) -> bool:
        """Whether `start` has to wait: a worker that closes leaves the rest to the next one."""
        return self.closing or (self.member is not None and self.member.has_many_unsent)

    @property
    def buffered(self) -> int:
        """Number of leases that wait here for Scrapy."""
        return len(self.member.exchange.buffered) if self.member is not None else 0

    def count(self, name: str, n: int = 1) -> None:
        """Add to one of Scrapy's stats."""
        stats: Any = self.crawler.stats
        stats.inc_value(f"seine/{name}", n)

    def wake(self) -> None:
        """Make Scrapy's engine ask for requests at once."""
        engine: Any = self.crawler.engine
        if self.closing or engine is None:
            return
        if not scrapy_internals.available("wake"):
            if engine.running:
                engine.crawl(self.wake_request)
            return
        slot = scrapy_internals.slot_of(engine)
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    def stop(self, reason: str) -> None:
        """Close the spider with a reason that is not the project's.

        A spider that is opening is closed by the scheduler as soon as all its parts are open.
        """
        self.stop_reason = reason
        if not self.opened:
            return
        engine: Any = self.crawler.engine
        asyncio.ensure_future(engine.close_spider_async(reason=reason))  # noqa: RUF006

    async def open(self, config: FrontierConfig, seal: Seal) -> str:
        """Join the crawl and start the loops; returns why that failed, '' if it did not."""
        try:
            await unless_stopped(self.crawler, self._open(config, seal))
        except CloseSpider as closing:
            return closing.reason
        except (SeineError, RedisError, OSError) as error:
            logger.error("worker exits: %s", with_advice(refusal_line(error) or str(error)))
            return "outage" if isinstance(error, OUTAGES) else "error"
        return ""

    async def _open(self, config: FrontierConfig, seal: Seal) -> None:
        stop_popping(self.spider, self.crawler)
        if scrapy_internals.available("start"):
            scrapy_internals.wrap_start(
                self.crawler.engine, lambda start: giving_way(start, self._keeps_start_waiting)
            )
        for name, alike in misspelt(self.spider).items():
            logger.warning("nothing reads -a %s=…; did you mean -a %s=…?", name, alike)
        patience = RetryUntil(config.outage_s, logger.warning)
        url = await patience.try_until_async(lambda: redis_url(self.crawler.settings))
        redis = redis_client(url)
        try:
            member: Member = await patience.try_until_async(
                lambda: self.join(redis, url, config, seal)
            )
            await warn_of_eviction(redis)
            await warm_up(self.crawler)
        finally:
            if self.member is None:
                await redis.aclose()
        self._start_loops(member)
        member.exchange.schedule_round_trip()
        member.watchdog.start()
        logger.info("worker %s joins crawl %r", self.name, config.crawl)

    def _start_loops(self, member: Member) -> None:
        loops: list[Coroutine[Any, Any, None]] = [
            member.exchange.run(),
            member.heartbeat.keep_beating(),
            member.heartbeat.listen(),
        ]
        if self.seeding:
            loops.append(member.intake.run())
        for loop in loops:
            task = asyncio.ensure_future(loop)
            task.add_done_callback(self._loop_ended)
            member.loops.append(task)

    async def join(self, redis: Redis, url: str, config: FrontierConfig, seal: Seal) -> Member:
        """Put together the parts that work on the crawl, and register this worker.

        Raises:
            ConfigError: the crawl has another number of partitions, or is another spider's.
            RedisError: Redis does not answer.
        """
        frontier = await open_frontier(redis, config)
        member = self.member = self._member(redis, url, frontier, config, seal)
        self._connect(member, seal)
        member.recovery.watch()
        await self._configure(member)
        return member

    def _member(
        self, redis: Redis, url: str, frontier: Frontier, config: FrontierConfig, seal: Seal
    ) -> Member:
        stats: Any = self.crawler.stats
        exchange = Exchange(
            frontier,
            config,
            self.name,
            arrived=self.wake,
            confirmed=self.df.confirm,
            add_to_stat=self.count,
        )
        heartbeat = Heartbeat(
            *(self.name, redis, frontier, exchange, self.inflight),
            *(stats, config.lease_s, self.df.clear),
            drain=lambda: self.stop("drained"),
        )
        intake = Intake(
            *(redis, frontier, SeedKeys(seeds_key_of(self.spider, config.seeds_key))),
            read=lambda seed: pushes_of(self.spider, seed, self.df, seal),
            accepted=self._on_seeds,
            entered=exchange.recent_pushes.add,
            before=self._send_site_limits,
            refusals=exchange.refusals,
            waits=redis_client(url, waits_s=MOST_TICK_S),
            workers=lambda: exchange.workers,
            sets=any(flag(self.crawler.settings, name, False) for name in SETS),
            batch=getattr(self.spider, "redis_batch_size", None) or BATCH,
        )
        arguments = "" if isinstance(self.spider, FrontierSpider) else digest(sys.argv)
        starts = StartRequests(config, heartbeat, self._ask_run, arguments, self._known_starts)
        local = LocalRequests(
            *(self.name, exchange, self.inflight, seal), add_to_stat=self.count, wake=self.wake
        )
        return Member(
            redis=redis,
            local=local,
            starts=starts,
            frontier=frontier,
            exchange=exchange,
            heartbeat=heartbeat,
            completion=Completion(
                exchange=exchange,
                inflight=self.inflight,
                intake=intake if self.seeding else None,
                starts=starts,
                local=local,
                wake=self.wake,
                stop=self.stop,
                idle_limit_s=idle_limit_s(self.spider, keep_alive=config.keep_alive),
            ),
            early_push=EarlyPush(exchange.push_early, self.inflight),
            intake=intake,
            recovery=Recovery(frontier, exchange, self.inflight, stats, self._on_state_lost),
            watchdog=Watchdog(
                *(heartbeat, url, config, self.limit.limit_s, asyncio.get_running_loop())
            ),
        )

    def _connect(self, member: Member, seal: Seal) -> None:
        """Connect the parts made before joining to the exchange."""
        settings, exchange = self.crawler.settings, member.exchange
        max_retries = int(number(settings, "RETRY_TIMES", 1000))
        ends = Ends(exchange, self.name, self.spider, seal, self.count, max_retries, member.local)
        member.local.before = self._send_site_limits
        member.heartbeat.mail, member.heartbeat.cleared = member.local.fetch, member.local.clear
        member.heartbeat.missed = member.local.push_anew
        forget = (self.df.clear, self.site_limits.resend)
        member.recovery.on_change = (*forget, member.local.restore)
        crawl, age_s = exchange.config.crawl, member.starts.age_s
        member.crawl_end = CrawlEnd(member.frontier, crawl, age_s, self.stop)
        member.heartbeat.look_for_end = member.crawl_end.stop_if_closed
        pages = LongPages(
            *(exchange.config.lease_s, number(settings, "DOWNLOAD_TIMEOUT", 180)),
            usual=lambda: getattr(self.spider, "parse", None),
        )
        member.heartbeat.waits = lambda: pages.log_slow(self.inflight.with_scrapy)
        self.inflight.connect(ends.send, ends.policy)
        self.inflight.ahead = member.early_push.ahead
        self.inflight.clock = exchange.now_ms
        self.inflight.on_pause_end = self._on_pause_end
        self.inflight.on_overrun = self._on_overrun
        suspects = Suspects(member.frontier, self.inflight, exchange.config, self.wake, self.count)
        exchange.admits = suspects.admits
        exchange.held_count = self.inflight.__len__
        self.site_limits.connect(
            exchange, throttle_of_project(settings), settings.getdict("DOWNLOAD_SLOTS")
        )

    @property
    def spider(self) -> Any:
        """The crawler's spider."""
        return self.crawler.spider

    async def _configure(self, member: Member) -> None:
        config, pace = member.exchange.config, pace_of_project(self.crawler.settings)
        await refuse_other_signers(member.frontier)
        await member.heartbeat.beat()
        await claim_for_spider(member.frontier, self.spider.name, config.project)
        await member.frontier.configure(
            delay_ms=pace.delay_ms,
            jitter=pace.jitter,
            concurrency=concurrency_of_project(self.crawler.settings),
            half_window_ms=int(config.window_s * 500),
            seen=config.seen,
            capacity=config.seen_capacity,
            throttle=self.site_limits.pace is not None,
            budgets=Budgets(
                domain_pages=config.domain_pages,
                job_pages=config.job_pages,
                most_pending=config.most_pending,
            ),
        )

    def _on_state_lost(self) -> None:
        member = self.member
        if member is not None and member.exchange.config.keep_alive:
            task = asyncio.ensure_future(self._rejoin(member))
            task.add_done_callback(self._loop_ended)
            member.loops.append(task)
        else:
            self.stop("state_lost")

    async def _rejoin(self, member: Member) -> None:
        """Join the crawl that is there now, and push again what no page would yield."""
        config = member.exchange.config

        async def joins() -> bool:
            try:
                await reopen(member.frontier)
                await self._configure(member)
            except ResponseError as error:  # a full memory, for instance, lasts until somebody acts
                member.exchange.refusals.log_refusal(error, "This worker waits, and joins no crawl")
                await asyncio.sleep(_REFUSED_S)
                return False
            return True

        outage = RetryUntil(config.outage_s, logger.warning)
        while not await outage.try_until_async(joins):
            pass
        logger.warning("worker %s joins crawl %r anew", self.name, config.crawl)
        member.recovery.resume()
        try:
            await self.inflight.completed()  # jobs of the lost crawl start again
        except Exception as error:
            log_failure(logger, "the lost jobs are restored later, by another process", error)

    def _known_starts(self) -> int:
        """Return how many start requests the run had before."""
        return int(self.crawler.stats.get_value("seine/start_known", 0))

    def _ask_run(self) -> None:
        """Begin or join the run of this worker's start requests, because the first one is here."""
        member = self.member
        if member is not None:
            task = asyncio.ensure_future(member.starts.decide())
            task.add_done_callback(self._loop_ended)
            task.add_done_callback(lambda _: self.wake())
            member.loops.append(task)

    def _loop_ended(self, task: asyncio.Task[None]) -> None:
        """Stop the worker with a failed loop's reason, because no loop returns by itself."""
        error = None if task.cancelled() else task.exception()
        if error is None or self.closing:
            return
        logger.error("worker exits: %s: %s", type(error).__name__, error)
        self.stop("outage" if isinstance(error, OUTAGES) else "error")

    async def end_crawl(self, reason: str) -> None:
        """End the crawl for the whole fleet, if a page's code asked for that.

        A signal handler may run in the middle of a page's code, and what it schedules has that
        page's context. But it also stops the crawler, which a page's code does not.
        """
        by_page = current.get() is not None and reason != self.stop_reason and self.crawler.crawling
        if by_page and self.member is not None and not is_counted_here(reason):
            await self.member.crawl_end.announce(reason)

    def drain(self) -> None:
        """Lease no more, and hand back leases that Scrapy has not begun: the spider closes."""
        self.closing = True
        if self.member is not None:
            self.member.exchange.stopping = True
            self.member.exchange.release_buffered()
            self.shutdown.begin()

    async def _sign_off(self) -> None:
        """Send the last endings and hand back the rest; shared state stays (I7)."""
        self.closing = True
        member = self.member
        if member is None:
            return
        for task in member.loops:
            task.remove_done_callback(self._loop_ended)
        settling = member.completion.settling
        settling_tasks = [settling] if settling is not None else []
        await cancel([*member.loops, *member.local.tasks, *settling_tasks, *self._notes])
        self.limit.remove()
        member.starts.close()
        member.watchdog.stop()
        await member.exchange.drain([], SIGN_OFF_S / 2)  # ends pages whose links went early
        await member.exchange.drain(self.inflight.abandon(), SIGN_OFF_S / 2)
        await member.heartbeat.sign_off()
        for listener in self.signed_off:
            await listener()
        await member.intake.close()
        await member.redis.aclose()

    def _on_pause_end(self) -> None:
        """Take requests again, because a store takes rows again."""
        if self.member is not None:
            self.member.exchange.held_back = False
            self.member.exchange.schedule_round_trip()
            self.wake()

    def _on_overrun(self, entry: InFlight) -> None:
        self.count("overran")
        if self.member is not None:
            note = note_overrun(self.member.frontier, self.member.redis, entry)
            task = asyncio.ensure_future(note)
            self._notes.add(task)
            task.add_done_callback(self._notes.discard)

    async def _send_site_limits(self, pushes: Sequence[Push]) -> None:
        await self.site_limits.send_limits_of_seeds([push.domain for push in pushes], self.spider)

    def _on_seeds(self, accepted: int, rejected: int) -> None:
        self.count("seeds", accepted)
        self.count("seeds_rejected", rejected)
        if self.member is not None:
            self.member.exchange.undone = None
            self.member.exchange.schedule_round_trip()


def worker_of(crawler: Crawler) -> Worker:
    """Return the crawler's worker; the first call makes it.

    Raises:
        ConfigError: a setting is wrong.
    """
    worker: Worker | None = getattr(crawler, _ATTRIBUTE, None)
    if worker is None:
        worker = Worker(crawler)
        setattr(crawler, _ATTRIBUTE, worker)
    return worker
