"""Scrapy's downloader without its queue: requests leased from the frontier may be sent at once.

Scrapy delays each request in a slot for its site, with a task and three futures around every page.
Here the frontier keeps pauses and concurrency for the whole fleet, so a request goes through the
downloader middlewares straight to its handler. A project's DOWNLOAD_DELAY, DOWNLOAD_SLOTS and
AUTOTHROTTLE_ settings apply to the fleet (politeness.project_pace). If a process has to keep a
limit of its own beside the fleet's (CONCURRENT_REQUESTS_PER_DOMAIN with SEINE_DOMAIN_CONCURRENCY,
CONCURRENT_REQUESTS_PER_IP), Scrapy's queue is used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from inspect import isawaitable
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.core.downloader import Downloader as QueueingDownloader
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object
from twisted.internet.defer import Deferred

from scrapy_seine.engine.download.lanes import Lanes
from scrapy_seine.engine.download.own_downloads import OwnDownloads
from scrapy_seine.engine.download.which_client import client_of
from scrapy_seine.engine.fastpath import scrapy_internals, which_path
from scrapy_seine.engine.fastpath.site_slots import SiteSlots
from scrapy_seine.engine.lease.entry import current
from scrapy_seine.engine.lease.uncaught import in_start
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.politeness.download_slots import OwnSlot
from scrapy_seine.politeness.project_pace import concurrency_of_project
from scrapy_seine.printable import redact

logger = logging.getLogger(__name__)
_Download = Callable[[Request], Coroutine[Any, Any, Response]]

_InvalidOutput, _process_pending_io = scrapy_internals.imported("downloader")[:2]


class Downloader(QueueingDownloader):
    """Sends at once, unless this process has limits of its own."""

    def __init__(self, crawler: Crawler) -> None:
        # Scrapy would start without a handler that cannot be made, and each download would fail.
        client_of(crawler.settings)
        super().__init__(crawler)
        self._warned = False
        worker, at_once = worker_of(crawler), concurrency_of_project(crawler.settings)
        self._gate = worker.gate
        self._own = OwnDownloads(self._gate, at_once, worker.wake)
        self._ungated = _ungated_schemes(crawler.settings)
        self._asked: _Download = self.handlers.download_request_async
        self.queues = not _is_short(crawler.settings) or _has_own_limits(crawler.settings)
        if self.queues:  # Scrapy's queue asks the handlers by itself
            self.handlers.download_request_async = self._ask_handler  # type: ignore[method-assign]
            return
        self.slots = self.sites = SiteSlots(crawler.settings)
        self._raised = scrapy_internals.exception_step_of(self.middleware)
        self._before = self._methods("process_request")
        self._after = self._methods("process_response")

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:
        """Pass a request through the middlewares and its handler."""
        if in_start.get() and current.get() is None and not self._warned:
            self._warned = True
            logger.warning(
                "start downloads %s by itself, and so does each worker. What start yields is "
                "fetched once for all workers",
                redact(request.url),
            )
        self._own.note(request)
        if self.queues:
            queued: Deferred[Response | Request] = super().fetch(request)
            return queued
        return deferred_from_coro(self.send(request))

    def send(self, request: Request) -> Coroutine[Any, Any, Response | Request]:
        """Fetch for a caller with a task of its own; only if this process has no limits."""
        # Added here, not in the coroutine, which starts one loop iteration later: until then the
        # engine would send more requests, beyond CONCURRENT_REQUESTS.
        self.active.add(request)
        return self._fetch(request)

    def needs_backout(self) -> bool:
        """Whether CONCURRENT_REQUESTS are under way, without those that wait for their site."""
        # Else a site that is blocked for an hour would stop the pages of all others.
        return 0 < self.total_concurrency <= len(self.active) - self._own.waiting

    def get_slot_key(self, request: Request) -> str:
        """Name a request's slot; marked as ours if the spider does not name one."""
        key: str = super().get_slot_key(request)
        return key if self.DOWNLOAD_SLOT in request.meta else OwnSlot(key)

    async def _fetch(self, request: Request) -> Response | Request:
        try:
            try:
                result = await self._process_request(request)
            except Exception as error:
                await _process_pending_io()
                result = await self._raised(error, request)
            if isinstance(result, Request):
                return result
            return await self._process_response(request, result)
        finally:
            self.active.remove(request)

    async def _process_request(self, request: Request) -> Response | Request:
        for method, call in self._before:
            result = call(request=request)
            if result is not None and not isinstance(result, (Response, Request)):
                result = await _awaited(result, method)
                _check(method, result, None.__class__)
            if result is not None:
                answer: Response | Request = result
                return answer
        return await self._send(request)

    async def _process_response(self, request: Request, response: Response) -> Response | Request:
        result: Any = response
        for method, call in self._after:
            result = call(request=request, response=result)
            if not isinstance(result, Response):
                result = await _awaited(result, method)
                _check(method, result)
                if isinstance(result, Request):
                    break
        answer: Response | Request = result
        return answer

    async def _send(self, request: Request) -> Response:
        # Handlers and extensions read it: in Scrapy the slot where it waits, here its site.
        request.meta[self.DOWNLOAD_SLOT] = slot = self.get_slot_key(request)
        self.sites.record_sent(slot)
        self._notify(signals.request_reached_downloader, request)
        try:
            response = await self._ask_handler(request)
            self._notify(signals.response_downloaded, request, response=response)
            return response
        finally:
            self._notify(signals.request_left_downloader, request)

    def _ask_handler(self, request: Request) -> Coroutine[Any, Any, Response]:
        """Have a handler download the request, in the slot that it has or gets now."""
        download = self._asked
        if self._ungated and urlparse_cached(request).scheme in self._ungated:
            download = self._download_at_time
        if self._own.is_one(request):
            return self._own.download(request, self.crawler.spider, download)
        return download(request)

    async def _download_at_time(self, request: Request) -> Response:
        """Wait for the request's slot in place of a handler that knows of none."""
        if (slot_opened := self._gate.wait_for_slot(request)) is not None:
            await slot_opened
        self._gate.record_sent(request)
        return await self._asked(request)

    def _notify(self, signal: object, request: Request, **more: Response) -> None:
        spider = self.crawler.spider
        self.signals.send_catch_log(signal=signal, request=request, spider=spider, **more)

    def _methods(self, name: str) -> list[tuple[Callable[..., Any], Callable[..., Any]]]:
        """Return the middlewares' methods of a name, each with the callable that calls it."""
        with_spider = scrapy_internals.with_spider(self.middleware)
        handle = scrapy_internals.method_call_of(self.middleware)
        methods = [method for method in self.middleware.methods[name] if method is not None]
        return [
            (middleware, partial(handle, middleware) if middleware in with_spider else middleware)
            for middleware in methods
        ]


async def _awaited(result: Any, method: Callable[..., Any]) -> Any:
    """Await a middleware's result; other values are returned unchanged."""
    if isawaitable(result):
        return await scrapy_internals.awaitable(result, method.__qualname__)
    return result


def _check(method: Callable[..., Any], result: Any, *also: type) -> None:
    if not isinstance(result, (Response, Request, *also)):
        name = getattr(method, "__qualname__", repr(method))
        raise _InvalidOutput(f"{name} must return a Response or a Request, not {type(result)}")


def _ungated_schemes(settings: BaseSettings) -> set[str]:
    """Return the schemes of web pages that a project's own handler downloads."""
    handlers = settings.getdict("DOWNLOAD_HANDLERS")
    paths = {scheme: path for scheme in ("http", "https") if (path := handlers.get(scheme))}
    return {scheme for scheme, path in paths.items() if not issubclass(load_object(path), Lanes)}


def _is_short(settings: BaseSettings) -> bool:
    """Whether requests may bypass Scrapy's queue."""
    return which_path.is_taken(settings, "downloader")


def _has_own_limits(settings: BaseSettings) -> bool:
    """Whether this process has to delay requests by itself."""
    per_domain, total = "CONCURRENT_REQUESTS_PER_DOMAIN", "CONCURRENT_REQUESTS"
    return bool(
        settings.getint("CONCURRENT_REQUESTS_PER_IP")
        or (
            settings.get("SEINE_DOMAIN_CONCURRENCY") is not None
            and 0 < settings.getint(per_domain) < settings.getint(total)
        )
    )
