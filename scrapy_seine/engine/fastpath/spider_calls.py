"""Wraps Scrapy's scraper, so that a worker sees each call of the spider and each output's end.

By public methods of one scraper, which are replaced on the instance: whatever code drives a page,
ours (`request_task`) or Scrapy's (`stock_path`), calls them.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from twisted.python.failure import Failure

from scrapy_seine.attribute_limit import bounded, is_suspect
from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.engine.lease.entry import current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.uncaught import (
    as_exception,
    as_output,
    staying,
    uncancelled,
    uncancelled_async,
)
from scrapy_seine.engine.reading.reading_limit import ReadingLimit

# Scrapy's own name: who looks for its lines finds them.
logger = logging.getLogger("scrapy.core.engine")
#: Statuses from here on reach a callback only where it asks for them.
ERRORS = 400


def _bound_tree(response: HtmlResponse) -> None:
    """Let `css` and `xpath` read a tree without tags that libxml2 takes minutes for."""
    raw = response.body
    if (cut := bounded(raw)) is not raw:
        scrapy_internals.keep_selector(response, response.replace(body=cut).selector)


class SpiderCalls:
    """Keeps the reading limit around the spider's code, and states what follows from its end."""

    def __init__(self, scraper: Any, inflight: InFlightTable, limit: ReadingLimit) -> None:
        self.inflight = inflight
        self.limit = limit
        self._scrapys_call = scraper.call_spider_async
        self._scrapys_report = scraper.handle_spider_error
        self._scrapys_drive = scraper.handle_spider_output_async
        self._scrapys_process = scraper.start_itemproc_async
        scrapy_internals.guard_coroutines(staying)
        scraper.call_spider_async = self.call
        scraper.handle_spider_error = self.raised
        scraper.handle_spider_output_async = self.drive
        scraper.start_itemproc_async = self.process

    async def call(self, result: Response | Failure, request: Request) -> Any:
        """Let Scrapy call the callback or the errback, and state what follows from that."""
        entry = current.get()
        if isinstance(result, Response):
            self.comes(result)
            return await self._called(result, request)
        if entry is not None and isinstance(result.value, IgnoreRequest):
            self.inflight.raised(entry, result.value)  # a spider middleware may drop it silently
        made = await self._called(result, request)
        if entry is not None:  # an errback returned
            self.inflight.handled(entry)
        return made

    async def _called(self, result: Response | Failure, request: Request) -> Any:
        try:
            return await self.limit.awaited(self._scrapys_call(result, request))
        except BaseException as error:
            failed = as_exception(error)
            if failed is error:
                raise
            raise failed from error

    def comes(self, response: Response) -> None:
        """Prepare for a callback that takes a page."""
        if response.status >= ERRORS:
            self._taken()
        if isinstance(response, HtmlResponse) and is_suspect(response.body):
            self.limit.call(_bound_tree, response)

    def _taken(self) -> None:
        """Take back what an error status had stated, because a callback asks for the page."""
        entry = current.get()
        if entry is not None:
            self.inflight.taken(entry)

    def raised(self, failure: Failure, request: Request, response: Any) -> None:
        """State a callback's exception before Scrapy reports it: its report may itself fail."""
        entry = current.get()
        if entry is not None:
            self.inflight.spider_raised(entry, error_of(failure))
        self._scrapys_report(failure, request, response)

    async def drive(self, made: Any, request: Request, response: Any) -> None:
        """Let Scrapy drive the outputs; a cancellation among them would stop it for good.

        The limit is around all that makes an output, spider middlewares included.
        """
        outputs = (
            uncancelled_async(self.limit.outputs_async(made))
            if isinstance(made, AsyncIterator)
            else uncancelled(self.limit.outputs(made))
        )
        try:
            await self._scrapys_drive(outputs, request, response)
        except BaseException as error:
            self.lost(error)

    async def process(self, item: Any, *, response: Any) -> None:
        """Pass an item through the pipelines; what is no Exception would end Scrapy's worker."""
        try:
            await self._scrapys_process(item, response=response)
        except BaseException as error:
            self.lost(error)

    def lost(self, error: BaseException) -> None:
        """State that an output could not be handled."""
        failed = as_output(error)
        logger.error("Error while handling the spider's output", exc_info=error)
        entry = current.get()
        if entry is not None:
            self.inflight.raised(entry, failed)


def error_of(failure: Failure) -> BaseException:
    """The exception of a failure, which Twisted's types allow to be missing."""
    error = failure.value
    return error if isinstance(error, BaseException) else RuntimeError(str(failure))
