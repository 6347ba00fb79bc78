"""Scrapy's own engine carries the requests, and this follows them by public names alone.

It is used if Scrapy lacks a private name that `request_task` needs, or SEINE_FASTPATH is off. A
page costs more CPU, and nothing else differs: the engine's methods that a request passes
(`downloader.fetch`, then `engine.crawl` or `scraper.enqueue_scrape`) are replaced on the instance,
so that callbacks, items and links find the request's entry, and it ends as was stated (I10).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from twisted.python.failure import Failure

from scrapy_seine.engine.fastpath.spider_calls import SpiderCalls, error_of, led_nowhere
from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.uncaught import as_exception
from scrapy_seine.engine.reading.freed_pages import PageMemory
from scrapy_seine.engine.reading.reading_limit import ReadingLimit

logger = logging.getLogger("scrapy.core.engine")


class StockPath:
    """Follows the requests of one engine."""

    def __init__(
        self,
        engine: Any,
        inflight: InFlightTable,
        on_landed: Callable[[InFlight], None],
        limit: ReadingLimit,
    ) -> None:
        self.inflight = inflight
        self.redirect_target: Request | None = None
        """A redirect being scheduled: it is the page's new address, not a link of the page."""
        self._on_landed = on_landed
        self._memory = PageMemory()
        self._returned_requests: dict[int, tuple[Request, Request, InFlight]] = {}
        scraper = engine.scraper
        self.calls = SpiderCalls(scraper, inflight, limit)
        self._scrapys_fetch = engine.downloader.fetch
        self._scrapys_crawl = engine.crawl
        self._scrapys_scrape = scraper.enqueue_scrape
        self._scrapys_middlewares = scraper.spidermw.scrape_response_async
        engine.downloader.fetch = self._fetch
        engine.crawl = self._crawl
        scraper.enqueue_scrape = self._scrape
        scraper.spidermw.scrape_response_async = self._pass_to_spider

    def _fetch(self, request: Request, *spider: Any) -> Any:
        entry = self.inflight.entry_of(request)
        deferred = self._scrapys_fetch(request, *spider)
        return deferred if entry is None else deferred.addBoth(self._land, request, entry)

    def _land(self, result: Any, request: Request, entry: InFlight) -> Any:
        if not entry.landed:
            entry.landed = True
            entry.answered_at = self.inflight.now(entry)
            self._on_landed(entry)
        if isinstance(result, Request):
            self._returned_requests[id(result)] = (result, request, entry)
        return result

    def _crawl(self, request: Request) -> None:
        """Schedule a link, or the request that a download returned, which ends that download."""
        returned = self._returned_requests.pop(id(request), None)
        if returned is None:
            try:
                self._scrapys_crawl(request)
            except BaseException as error:
                self.calls.state_output_error(error)
            return
        _, page, entry = returned
        context_token = current.set(entry)
        self.redirect_target = request
        try:
            self._scrapys_crawl(request)
            if not entry.outcome:  # a receiver of request_scheduled refused it
                self.inflight.state_exception(
                    entry, IgnoreRequest("a receiver of request_scheduled")
                )
        except BaseException as error:
            self.inflight.state_exception(entry, as_exception(error))
            logger.exception("Error while handling downloader output")
        finally:
            self.redirect_target = None
            current.reset(context_token)
            if entry.outcome == "bury":
                self._scrape(led_nowhere(entry), page)
            else:
                self.inflight.record_finished(page)

    def _scrape(self, result: Response | Failure, request: Request) -> Any:
        entry = self.inflight.entry_of(request)
        context_token = current.set(entry)  # the task that parses the page copies it
        try:
            deferred = self._scrapys_scrape(result, request)
        finally:
            current.reset(context_token)
        return deferred if entry is None else deferred.addBoth(self._end, result, request, entry)

    def _end(
        self, outcome: Any, result: Response | Failure, request: Request, entry: InFlight
    ) -> Any:
        try:
            if isinstance(outcome, Failure):
                self.inflight.state_exception(entry, error_of(outcome))
            elif isinstance(result, Failure) and not entry.handled:
                self.inflight.state_exception(entry, error_of(result))
            else:
                self.inflight.state_done(entry)
        finally:
            self.inflight.record_finished(request)
            self._memory.free(result, len(getattr(result, "body", b"")))
        return outcome

    async def _pass_to_spider(self, call: Any, response: Response, request: Request) -> Any:
        """Pass a response to the spider; a BaseException would leave the page unparsed."""
        try:
            return await self._scrapys_middlewares(call, response, request)
        except BaseException as error:
            exception = as_exception(error)
            if exception is error:
                raise
            raise exception from error
