"""Scrapy's scheduler: the shared frontier behind a synchronous interface.

Neither `enqueue_request` nor `next_request` asks Redis, and neither raises: the first appends to
the page's entry in the in-flight table, the second takes from the exchange's buffer. The rest
(connection, exchange, loops, the end) is put together in `engine.worker`.

Where Scrapy has no hook, methods are replaced on the instances of one engine: the start of a drain
(`close_spider_async`), and the path of a request from here to its end, so that children and items
find their entry: by one task for each request (fastpath.request_task), or around Scrapy's own path
(fastpath.scrapys_path). The ways in which a request can end are tested on both.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider, signals
from scrapy import __version__ as scrapy_version
from scrapy.exceptions import CloseSpider
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.utils.defer import deferred_from_coro
from scrapy_redis.scheduler import Scheduler as RedisScheduler

from scrapy_seine import meta as m
from scrapy_seine.config import FrontierConfig, number
from scrapy_seine.engine.ending.exit_status import fail_after
from scrapy_seine.engine.ending.failed_handlers import watch_handlers
from scrapy_seine.engine.fastpath import which_path
from scrapy_seine.engine.fastpath.request_task import RequestTasks
from scrapy_seine.engine.fastpath.scrapys_path import StockPath
from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.lease.error_text import describe
from scrapy_seine.engine.link_depth import LinkDepth
from scrapy_seine.engine.local_requests import is_stub, off_the_web
from scrapy_seine.engine.member import Member
from scrapy_seine.engine.redirect_loops import LOOPS, SENT, lead_of
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.starting.arguments import has_unread_start
from scrapy_seine.engine.starting.download_handlers import own_schemes
from scrapy_seine.engine.starting.one_off import is_one_off, plain_scheduler
from scrapy_seine.engine.stored import serializer
from scrapy_seine.engine.stored.logins import hand_down_login
from scrapy_seine.engine.stored.shared_values import SharedValues
from scrapy_seine.engine.stored.spider_state import OwnState, own_state, own_to_pipelines
from scrapy_seine.engine.telemetry.logs import guard_scrapys_log
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import BadRequest, EncodeError
from scrapy_seine.frontier.encoding.seal import Seal
from scrapy_seine.frontier.encoding.wire import note
from scrapy_seine.frontier.model import Burial, Done, Lease, Push
from scrapy_seine.printable import redact

if TYPE_CHECKING:
    from scrapy.core.scheduler import BaseScheduler
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)


class Scheduler(RedisScheduler):  # type: ignore[misc]  # the base class has no types
    """Leases requests from the shared frontier and acks each when it is done and stored."""

    spider: Any

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(server=None, persist=True)
        self.crawler = crawler
        self.config = FrontierConfig.from_settings(crawler.settings, crawler.spidercls.name)
        self.depth = LinkDepth(int(number(crawler.settings, "DEPTH_LIMIT", 0)))
        self.seal = Seal(self.config.crawl, self.config.secrets)
        self.worker = worker_of(crawler)
        self.df = self.worker.df
        self.inflight = self.worker.inflight
        self._shared = SharedValues()
        self._own_state = OwnState({})
        self._began = self._engine_runs = self._logged_forced = self._code_failed = False
        self._unopened = self._end = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self | BaseScheduler:
        """Make the crawler's scheduler; Scrapy's own for a command that fetches a few pages.

        Raises:
            ConfigError: a setting is wrong.
        """
        return plain_scheduler(crawler) if is_one_off(crawler) else cls(crawler)

    @property
    def member(self) -> Member:
        """The worker's membership of the crawl; Scrapy requests nothing before it has joined."""
        assert self.worker.member is not None
        return self.worker.member

    def open(self, spider: Spider) -> Deferred[None]:
        """Connect, and start to read ahead.

        Never fails: a worker that cannot join, or has to end before it has, ends with its reason
        once all its parts are open, because otherwise Scrapy logs a traceback and closes no other
        parts.
        """
        self.spider = spider
        guard_scrapys_log()
        if isinstance(spider, FrontierSpider):
            spider.knows = self._knows
        else:
            self._look_at_own_state(spider)
        spider_middlewares = self.crawler.engine.scraper.spidermw.middlewares
        self.depth.counted_by_scrapy = any(
            isinstance(middleware, DepthMiddleware) for middleware in spider_middlewares
        )
        self._wrap()
        self._began = self.crawler.crawling
        self.crawler.signals.connect(self._on_opened, signals.spider_opened)
        self.crawler.signals.connect(self._on_engine_started, signals.engine_started)
        self.crawler.signals.connect(self._on_stopped, signals.engine_stopped)
        self.worker.shutdown.arm(self._is_opening)
        return deferred_from_coro(self._open())

    def _look_at_own_state(self, spider: Spider) -> None:
        """Log what the project keeps per worker, and keep requests that depend on it."""
        self._own_state = own_state(type(spider))
        for line in self._own_state.lines(spider.name):
            logger.warning("%s", line)
        if has_unread_start(type(spider)):
            text = "spider %r: Scrapy %s does not call start_requests(); write async def start()"
            logger.warning(text, spider.name, scrapy_version)
        for line in own_to_pipelines(self.crawler.settings):
            logger.warning("%s", line)

    async def _open(self) -> None:
        self._unopened = await self.worker.open(self.config, self.seal)

    def _on_opened(self) -> None:
        """Raise again that the worker has to end before it began, because Scrapy forgets that.

        Raises:
            CloseSpider: the worker has to end, or it cannot begin.
        """
        self.worker.opened = True
        if not self._unopened:
            was_stopped = self._began and not self.crawler.crawling
            self._unopened = "shutdown" if was_stopped else self.worker.stop_reason
        if self._unopened:
            raise CloseSpider(self._unopened)

    def _on_engine_started(self) -> None:
        self._engine_runs = True

    def _on_code_failed(self) -> None:
        self._code_failed = True
        if self._end:  # Scrapy needs the crawler's spider until then
            self._on_stopped()

    def _on_stopped(self) -> None:
        fail_after("error" if self._code_failed else self._end, self.crawler)

    def _is_opening(self) -> bool:
        engine: Any = self.crawler.engine
        return not self._engine_runs and engine.spider is not None

    def _wrap(self) -> None:
        """Hook into the engine where Scrapy has no hook; see the module's docstring."""
        engine: Any = self.crawler.engine
        close = engine.close_spider_async

        async def close_spider(*, reason: str = "cancelled") -> None:
            if engine.spider is not None and not self.worker.closing:
                self._end = reason
                self.worker.drain()
                await self.worker.end_crawl(reason)
            await close(reason=self._end or reason)
            self._on_stopped()  # Scrapy sends no signal for an engine that never started

        engine.close_spider_async = close_spider
        self.worker.limit.install()
        is_fast = which_path.is_taken(self.crawler.settings, "engine")
        path = RequestTasks if is_fast else StockPath
        self.path: RequestTasks | StockPath = path(
            engine,
            self.inflight,
            lambda entry: self.member.exchange.free_slot(entry.lease),
            self.worker.limit,
        )
        watch_handlers(engine, self._on_code_failed)
        self.crawler.signals.connect(self._item_error, signals.item_error)

    def close(self, reason: str) -> Deferred[None]:
        """Send the last endings, hand back the rest; shared state stays (I7)."""
        self._end = reason
        return self.worker.shutdown.finish()

    def enqueue_request(self, request: Request) -> bool:
        """Take a request; False if it is a duplicate or cannot be stored. Never raises."""
        if request is self.worker.wake_request:
            return True
        entry = current.get()
        if entry is not None and entry.copy is request:
            return True  # a retry: it is sent with the end of its entry
        is_redirect = request is self.path.redirect_target
        try:
            if entry is None and not self.member.starts.take(request, self.enqueue_request):
                return True  # it is enqueued again as soon as its run is known
            accepted = self._take(request, entry, is_redirect=is_redirect)
        except (EncodeError, TypeError, ValueError) as error:
            logger.error("request refused: %s", describe(error))
            self.worker.count("unencodable")
            if entry is not None and is_redirect:
                self.inflight.bury(entry.request, "address", f"it leads to {describe(error)}")
            return False
        except Exception as error:
            logger.exception("request refused")
            self.worker.count("unencodable")
            if entry is not None:
                self.inflight.state_exception(entry, error)
            return False
        if entry is not None and is_redirect:
            self.inflight.state_done(
                entry
            )  # the page's new address is in the frontier, or was before
        return accepted

    def _take(self, request: Request, entry: InFlight | None, *, is_redirect: bool) -> bool:
        page = entry.request if entry is not None else None
        fingerprint, force = self.df.identity_of(request, page)
        if page is None and force:
            fingerprint, force = self._identity_of_forced(request, fingerprint)
        if is_redirect and entry is not None:
            lead = lead_of(entry.request, request)
            if lead in LOOPS:
                self.inflight.state_failure(entry, *LOOPS[lead])
                return False
            if lead == "same":
                fingerprint = None
            entry.take_proxy_back(request)
        is_known = fingerprint is not None and not force and self.df.knows(fingerprint)
        is_repeated = entry is not None and bool(entry.tries or entry.lease.deliveries)
        dropped = not is_redirect and self.df.drops(request, fingerprint, was_parsed=is_repeated)
        if (
            page is not None
            and not is_redirect
            and not dropped
            and self.df.accepts_repeats(request)
        ):
            is_known, fingerprint = False, None  # as with dont_filter
        if is_known or dropped:
            self.worker.count("duplicates_local")
            self.df.log(request, self.spider)
            return False
        self._complete_meta(
            request, page, is_redirect=is_redirect, tries=entry.tries if entry else 0
        )
        if not is_redirect and self.depth.is_too_deep(request, page):
            self.worker.count("too_deep")
            return False
        push = self._encode(request, page, fingerprint, force=force)
        if isinstance(push, str):
            return self.member.local.keep(request, entry, None if force else fingerprint, push)
        self.worker.site_limits.send_limits(push.domain, self.spider)
        if entry is None:
            self.member.exchange.push(push)
        else:
            self.member.early_push.add(entry, push)
        self.worker.count("enqueued")
        return True

    def _identity_of_forced(
        self, request: Request, fingerprint: int | None
    ) -> tuple[int | None, bool]:
        """Identify a request with `dont_filter` without a page; returns also whether it always
        enters.

        A request of `start` is the same in all workers. A signal handler's may be the next of a
        queue.
        """
        if request.meta.get("is_start_request"):
            return self.member.starts.identity(self.spider, fingerprint), False
        is_logged = self._logged_forced or isinstance(self.spider, FrontierSpider)
        if request.dont_filter and not is_logged:
            self._logged_forced = True
            logger.info(
                "a handler sends %.200s with dont_filter: such a request enters from each worker "
                "that makes it; without dont_filter it enters once a run",
                redact(request.url),
            )
        return fingerprint, True

    def _encode(
        self, request: Request, page: Request | None, fingerprint: int | None, *, force: bool
    ) -> Push | str:
        """Encode a request; the reason if it stays in this worker, '' if that was logged before.

        Raises:
            BadRequest: no worker could send it.
        """
        if page is not None and self._own_state.keeps(request) and self.member.local.has_room:
            return ""
        try:
            push = serializer.to_push(
                request, self.spider, fingerprint=fingerprint, force=force, seal=self.seal
            )
        except BadRequest:
            if reason := off_the_web(request, page, own_schemes(self.crawler.settings)):
                return reason
            raise
        except EncodeError as error:
            return f"{describe(error)}; a method of the spider and plain data could go anywhere"
        if self._shared.unchecked_count:
            self._shared.check(request)
        return self.worker.reach.reason_to_stay(request) or push

    def _knows(self, url: str, job: str = "") -> bool:
        """Whether the frontier certainly has a URL that the current page links to."""
        if not job and (entry := current.get()) is not None:
            job = m.run_of(entry.request.meta)
        return self.df.knows_url(url, job)

    def _complete_meta(
        self, request: Request, page: Request | None, *, is_redirect: bool, tries: int
    ) -> None:
        """Add to a request's meta what it inherits from its page."""
        meta, parent = request.meta, page.meta if page is not None else None
        meta.pop(m.REPLAYED, None)
        if page is None or parent is None:
            meta.pop(m.HOME, None)  # a seed's home is determined when it is sent
        elif m.RETRY_TIMES in parent and (
            request.url != page.url
            or (is_redirect and meta.get(m.RETRY_TIMES) == parent[m.RETRY_TIMES])
        ):
            # A copy of the page's meta: these are the page's tries. A middleware that retries the
            # page by itself, as a project's RetryMiddleware does, has counted one more.
            meta.pop(m.RETRY_TIMES, None)
        if parent is not None and not is_redirect and SENT in parent:
            meta.pop(SENT, None)  # a copy of the page's meta: middlewares sent the page on, not it
        m.complete(meta, parent, tries)
        if page is not None and parent is not None and m.LOGIN in parent:
            hand_down_login(request, page)

    def next_request(self) -> Request | None:
        """Return a request that may be sent now, or None. Never raises."""
        exchange = self.member.exchange
        exchange.held_back = self.inflight.is_pause_requested
        while (lease := self.member.local.next() or exchange.take()) is not None:
            if lease.job and lease.job in self.member.heartbeat.cancelled:
                self.worker.count("cancelled")
                self.worker.count("ignored/cancelled")
                exchange.commit(Done(lease=lease, rule="cancelled"))
                continue
            try:
                request = self._request_of(lease)
            except Exception as error:  # whatever is stored, the next request is taken (I8)
                self._set_aside(lease, error)
                continue
            if request is None:
                continue
            self.inflight.begin(request, lease)
            self.worker.count("dequeued")
            return request
        return None

    def _request_of(self, lease: Lease) -> Request | None:
        if is_stub(lease):
            return self.member.local.request_of(lease)
        return serializer.from_lease(lease, self.spider, self.seal)

    def _set_aside(self, lease: Lease, error: Exception) -> None:
        logger.error("stored request set aside: %s", describe(error))
        self.worker.count("undecodable")
        self.worker.count("buried/decode")
        text = note("decode", describe(error), self.worker.name)
        self.member.exchange.bury(Burial(lease=lease, note=text))

    def has_pending_requests(self) -> bool:
        """Whether the fleet still has work, or this worker has to wait for some."""
        if self.worker.closing:
            return False
        if self.worker.member is None:
            return True  # the crawl's state is not known yet
        return not self.worker.member.completion.may_exit()

    def __len__(self) -> int:
        """Return how many leases wait here for Scrapy."""
        return self.worker.buffered

    def _item_error(self, failure: Any) -> None:
        entry = current.get()
        if entry is not None:
            self.inflight.state_item_exception(entry, failure.value)
