"""Wraps Scrapy's scraper, so that a worker sees each call of the spider and each output's end.

It replaces public methods on one scraper instance, which any code that drives a page calls: ours
(`request_task`) or Scrapy's (`scrapys_path`).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from twisted.python.failure import Failure

from scrapy_seine.attribute_limit import bounded
from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.uncaught import (
    as_exception,
    as_output,
    staying,
    uncancelled,
    uncancelled_async,
)
from scrapy_seine.engine.reading.reading_limit import ReadingLimit
from scrapy_seine.engine.stored.callbacks import rule_of

# Scrapy's logger, so that users find its lines under the usual name.
logger = logging.getLogger("scrapy.core.engine")
#: Responses with this status or above reach a callback only on request.
ERRORS = 400


def _bound_tree(response: HtmlResponse) -> None:
    """Make `css` and `xpath` read a tree without tags that libxml2 takes minutes for."""
    raw = response.body
    if (short_body := bounded(raw)) is not raw:
        scrapy_internals.keep_selector(response, response.replace(body=short_body).selector)


class SpiderCalls:
    """Applies the reading limit to the spider's code, and states the outcome of its calls."""

    def __init__(self, scraper: Any, inflight: InFlightTable, limit: ReadingLimit) -> None:
        self.inflight = inflight
        self.limit = limit
        self._scrapys_call = scraper.call_spider_async
        self._scrapys_report = scraper.handle_spider_error
        self._scrapys_drive = scraper.handle_spider_output_async
        self._scrapys_process = scraper.start_itemproc_async
        scrapy_internals.guard_coroutines(staying)
        scraper.call_spider_async = self.call
        scraper.handle_spider_error = self.state_exception
        scraper.handle_spider_output_async = self.drive
        scraper.start_itemproc_async = self.process

    async def call(self, result: Response | Failure, request: Request) -> Any:
        """Let Scrapy call the callback or the errback, and state the outcome."""
        entry = current.get()
        if isinstance(result, Response):
            self.prepare_page(result)
            return await self._call_scrapys(result, request)
        if entry is not None and isinstance(result.value, IgnoreRequest):
            self.inflight.state_exception(
                entry, result.value
            )  # a spider middleware may drop it silently
        outputs = await self._call_scrapys(result, request)
        # An errback returned. A CrawlSpider sets one on each request, which for a rule without an
        # errback does nothing.
        rule = rule_of(request.errback, request)
        if entry is not None and (rule is None or rule.errback is not None):
            self.inflight.withdraw(entry)
        return outputs

    async def _call_scrapys(self, result: Response | Failure, request: Request) -> Any:
        if self.limit.queue.is_busy:
            await self.limit.queue.wait()
        try:
            return await self.limit.awaited(self._scrapys_call(result, request))
        except BaseException as error:
            exception = as_exception(error)
            if exception is error:
                raise
            raise exception from error

    def prepare_page(self, response: Response) -> None:
        """Prepare for a callback that takes a page."""
        if response.status >= ERRORS:
            self._withdraw_status()
        if isinstance(response, HtmlResponse):
            self.limit.call(_bound_tree, response)

    def _withdraw_status(self) -> None:
        """Withdraw an error status's statement, because a callback handles the page."""
        entry = current.get()
        if entry is not None:
            self.inflight.withdraw_status(entry)

    def state_exception(self, failure: Failure, request: Request, response: Any) -> None:
        """State a callback's exception before Scrapy reports it, because the report may fail."""
        entry = current.get()
        if entry is not None:
            self.inflight.state_spider_exception(entry, error_of(failure))
        self._scrapys_report(failure, request, response)

    async def drive(self, produced: Any, request: Request, response: Any) -> None:
        """Let Scrapy drive the outputs; a cancellation among them would stop its scraper for good.

        The limit covers all code that makes an output, spider middlewares included.
        """
        outputs = (
            uncancelled_async(self.limit.outputs_async(produced))
            if isinstance(produced, AsyncIterator)
            else uncancelled(self.limit.outputs(produced))
        )
        try:
            await self._scrapys_drive(outputs, request, response)
        except BaseException as error:
            self.state_output_error(error)

    async def process(self, item: Any, *, response: Any) -> None:
        """Pass an item through the pipelines; a BaseException would end Scrapy's worker."""
        try:
            await self._scrapys_process(item, response=response)
        except BaseException as error:
            self.state_output_error(error)

    def state_output_error(self, error: BaseException) -> None:
        """State that an output could not be handled."""
        exception = as_output(error)
        logger.error("Error while handling the spider's output", exc_info=error)
        entry = current.get()
        if entry is not None:
            self.inflight.state_exception(entry, exception)


def led_nowhere(entry: InFlight) -> Failure:
    """Return the failure, for its errback, of a request whose redirect was given up unscheduled."""
    return Failure(IgnoreRequest(entry.reason))  # type: ignore[no-untyped-call]


def error_of(failure: Failure) -> BaseException:
    """Return the exception of a failure, which Twisted's types allow to be missing."""
    error = failure.value
    return error if isinstance(error, BaseException) else RuntimeError(str(failure))
