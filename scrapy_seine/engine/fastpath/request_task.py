"""One task carries a request from the scheduler to its end.

Scrapy makes six tasks, a queue, and a dozen deferreds for a page, and passes each of its outputs
through three generators for each spider middleware, even through those that only look at requests.
That costs as much as the HTTP client. Here a page has one task; signals, logs, limits and the order
of events are Scrapy's, and so is the code for rare cases: failed downloads, errors and their
handlers, callbacks that are no plain generators, spider middlewares that rewrite the output,
CONCURRENT_ITEMS above one.

Each page's outcome is stated here (I10): done only if a callback or an errback ended without an
exception.

Scrapy has no setting for its engine's and scraper's class, so `RequestTasks` replaces one method of
one engine, and methods that its scraper calls (`spider_calls`). It needs private names of Scrapy
(`scrapy_internals`); if one is missing, `scrapys_path` takes over (`which_path`).
tests/integration/test_passage.py compares what a spider sees with Scrapy's behaviour.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from inspect import isawaitable
from time import monotonic
from types import FunctionType, GeneratorType
from typing import Any
from weakref import WeakSet

from scrapy import Request, signals
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.log import logformatter_adapter
from scrapy.utils.misc import warn_on_generator_with_return_value
from scrapy.utils.python import global_object_name
from scrapy.utils.spider import iterate_spider_output
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.engine.fastpath.downloader import Downloader
from scrapy_seine.engine.fastpath.signals import Signals
from scrapy_seine.engine.fastpath.spider_calls import SpiderCalls, error_of, led_nowhere
from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.uncaught import as_exception, as_output
from scrapy_seine.engine.reading.freed_pages import PageMemory
from scrapy_seine.engine.reading.reading_limit import ReadingLimit

# Scrapy's logger, so that users find its lines under the usual name.
logger = logging.getLogger("scrapy.core.engine")
#: A page with very many links yields to the event loop after this time, s.
TURN_S = 0.01
#: Outputs read before the first of them is processed; Scrapy's queue holds as many.
MAX_AHEAD = 2
_END = object()
#: Takes an output and its response; returns the output to pass on, or None.
Look = Callable[[Any, Response], Any]
#: Takes a response before its first output is made.
Begin = Callable[[Response], None]


class RequestTasks:
    """Carries the requests of one engine."""

    def __init__(
        self,
        engine: Any,
        inflight: InFlightTable,
        on_landed: Callable[[InFlight], None],
        limit: ReadingLimit | None = None,
    ) -> None:
        self.engine = engine
        self.limit = limit or ReadingLimit(0)
        self.slot = scrapy_internals.slot_of(engine)
        self.scraper = engine.scraper
        self._scrapys_scrape = scrapy_internals.scrape_of(self.scraper)
        self._check_if_closing = scrapy_internals.closing_check_of(self.scraper)
        self._take_in, self._give_out, self._give_error = scrapy_internals.spider_steps_of(
            self.scraper.spidermw
        )
        self.inflight = inflight
        self.redirect_target: Request | None = None
        """A redirect being scheduled: it is the page's new address, not a link of the page."""
        self._on_landed = on_landed
        self._looks = (
            looks_of(self.scraper.spidermw) if self.scraper.concurrent_items == 1 else None
        )
        self._item_looks = item_looks_of(self._looks or ())
        self._begins = begins_of(self.scraper.spidermw) if self._looks is not None else []
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._memory = PageMemory()
        self._checked_functions: WeakSet[Any] = WeakSet()  # callbacks whose code was looked at
        self.signals = Signals(engine.crawler)
        for sender in (engine, engine.scraper, engine.downloader):
            sender.signals = self.signals
        self.slot.nextcall.schedule = self._schedule_next
        self.calls = SpiderCalls(self.scraper, inflight, self.limit)
        scrapy_internals.replace_start(engine, self.start)

    def _schedule_next(self, delay: float = 0) -> None:
        """Make the engine look for requests to send."""
        scrapy_internals.schedule_call(self.slot.nextcall, self._loop, delay)

    def start(self) -> bool:
        """Send the scheduler's next request; False if there is none."""
        request = self.slot.scheduler.next_request()
        if request is None:
            self.signals.send_catch_log(signals.scheduler_empty)
            return False
        self.slot.add_request(request)
        task = asyncio.ensure_future(self._carry_request(request, self._download(request)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    def _download(self, request: Request) -> Awaitable[Response | Request]:
        downloader = self.engine.downloader
        if isinstance(downloader, Downloader) and not downloader.queues:
            return downloader.send(request)
        queued: Awaitable[Response | Request] = maybe_deferred_to_future(downloader.fetch(request))
        return queued

    async def _carry_request(self, request: Request, download: Awaitable[Any]) -> None:
        current.set(None)  # the context of the caller belongs to another page
        entry = self.inflight.entry_of(request)
        try:
            result = await self._downloaded(request, download)
            await self._handle(result, request, entry)
        except BaseException as error:
            if isinstance(error, GeneratorExit) and not self._loop.is_running():
                raise  # the process ends, and closes waiting coroutines
            exception = as_output(error)
            logger.exception("Error while handling downloader output")
            if entry is not None:  # some outputs may be missing
                self.inflight.state_exception(entry, exception)
        finally:
            self._finish(request)

    def _finish(self, request: Request) -> None:
        try:
            self.inflight.record_finished(request)
        finally:
            self.slot.remove_request(request)
            self.slot.nextcall.schedule()

    async def _downloaded(
        self, request: Request, download: Awaitable[Any]
    ) -> Response | Request | Failure:
        try:
            result = await download
            if isinstance(result, Request):
                return result
            if not isinstance(result, Response):
                raise TypeError(
                    f"Incorrect type: expected Response or Request, got {type(result)}: {result!r}"
                )
            self._receive(request, result)
            return result
        except BaseException as error:
            return Failure(as_exception(error))  # type: ignore[no-untyped-call]
        finally:
            self.slot.nextcall.schedule()

    def _receive(self, request: Request, response: Response) -> None:
        spider = self.engine.spider
        if response.request is None:
            response.request = request
        line = self.engine.logformatter.crawled(response.request, response, spider)
        if line is not None:
            logger.log(*logformatter_adapter(line), extra={"spider": spider})
        self.signals.send_catch_log(
            signals.response_received, response=response, request=response.request, spider=spider
        )

    async def _handle(
        self, result: Response | Request | Failure, request: Request, entry: InFlight | None
    ) -> None:
        if entry is not None and not entry.landed:
            entry.landed = True
            entry.answered_at = self.inflight.now(entry)
            self._on_landed(entry)
        current.set(entry)
        if isinstance(result, Request):
            self._schedule_result(result, entry)
            if entry is None or entry.outcome != "bury":
                return
            result = led_nowhere(entry)
        await self._scrape(result, request)
        if entry is None:
            return
        if isinstance(result, Failure) and not entry.handled:
            self.inflight.state_exception(entry, error_of(result))
        else:
            self.inflight.state_done(entry)

    def _schedule_result(self, target: Request, entry: InFlight | None) -> None:
        """Schedule the request that a download returned: a redirect's target, or the next try."""
        self.redirect_target = target
        try:
            answers = self.signals.send_catch_log(
                signals.request_scheduled,
                request=target,
                spider=self.engine.spider,
                dont_log=IgnoreRequest,
            )
            for _, answer in answers:
                if isinstance(answer, Failure) and isinstance(answer.value, IgnoreRequest):
                    if entry is not None:
                        self.inflight.state_exception(entry, answer.value)
                    return
            self._enqueue(target)
        finally:
            self.redirect_target = None

    async def _scrape(self, result: Response | Failure, request: Request) -> None:
        """Do as the scraper's queue does, without limiting the pages."""
        slot = self.scraper.slot
        body = result.body if isinstance(result, Response) else b""
        slot.active.add(request)
        slot.active_size += max(len(body), slot.MIN_RESPONSE_SIZE)
        try:
            if isinstance(result, Failure) or self._looks is None:
                await self._scrapys_scrape(result, request)
            else:
                await self._run_callback(result, request)
        finally:
            slot.finish_response(result, request)
            self._memory.free(result, len(body))
            self._check_if_closing()

    async def _run_callback(self, response: Response, request: Request) -> None:
        """Run the callback on a page, and pass on its outputs."""
        try:
            outputs = await self._take_in(self._call, response, request)
            if isinstance(outputs, AsyncIterator):
                outputs = await self._give_out(response, outputs)
        except BaseException as error:
            await self._recover(as_exception(error), 0, request, response)
            return
        if isinstance(outputs, AsyncIterator):
            await self.calls.drive(outputs, request, response)
        elif failure := self._look_at_response(response):
            await self._recover(*failure, request, response)
        else:
            await self._pass_on(outputs, request, response)

    def _look_at_response(self, response: Response) -> tuple[Exception, int] | None:
        """Look at a response before its first output; returns an error with its level, or None."""
        for level, begin in self._begins:
            try:
                begin(response)
            except BaseException as error:
                return as_output(error), level
        return None

    async def _call(self, result: Response | Failure, request: Request) -> Any:
        # The next requests are sent before this page occupies the process.
        await self.limit.queue.wait()
        if isinstance(result, Failure):
            return await self.calls.call(result, request)
        self.calls.prepare_page(result)
        spider = self.engine.spider
        source = result.request or request
        callback = source.callback or scrapy_internals.usual_callback(spider)
        function = getattr(callback, "__func__", callback)
        if function not in self._checked_functions:
            # Scrapy's cache loses a method with its request, and reads its source again for the
            # next.
            warn_on_generator_with_return_value(spider, callback)
            if isinstance(function, FunctionType):
                self._checked_functions.add(function)
        try:
            outputs = self.limit.call(callback, result, **source.cb_kwargs)
        except GeneratorExit as error:  # raised by the callback: no generator is closed here
            raise as_output(error) from error
        if isinstance(outputs, GeneratorType):
            return outputs
        name = global_object_name(callback) if isinstance(outputs, Deferred) else None
        if isawaitable(outputs) and not isinstance(outputs, Deferred):
            return iterate_spider_output(await self.limit.awaited(outputs))
        return await scrapy_internals.awaitable(iterate_spider_output(outputs), name)

    async def _pass_on(self, produced: Iterable[Any], request: Request, response: Response) -> None:
        outputs, output_count, turns = iter(produced), 0, 1
        turn_ends = monotonic() + TURN_S
        call, ahead = self.limit.call, list[Any]()
        looks, item_looks = self._looks or (), self._item_looks
        while True:
            level = 0
            try:
                output = call(next, outputs, _END)
                if output is _END:
                    break
                output_looks = looks if isinstance(output, Request) else item_looks
                for level, look in output_looks:  # noqa: B007  # the handler needs it
                    output = look(output, response)
                    if output is None:
                        break
            except BaseException as error:
                await self._recover(as_output(error), level, request, response, ahead)
                return
            if output is not None:
                if len(ahead) == MAX_AHEAD:
                    await self._pass_all(ahead, response)
                    ahead.clear()
                ahead.append(output)
            output_count += 1
            if monotonic() > turn_ends:  # also counts endless outputs
                if endless := self.limit.too_many(output_count):
                    await self._recover(endless, 0, request, response, ahead)
                    return
                await self.limit.queue.wait(turns)
                turns, turn_ends = turns + 1, monotonic() + TURN_S
        await self._pass_all(ahead, response)

    async def _pass_all(self, outputs: Iterable[Any], response: Response) -> None:
        for output in outputs:
            if isinstance(output, Request):
                self._crawl(output)
            else:
                await self.scraper.start_itemproc_async(output, response=response)

    def _crawl(self, request: Request) -> None:
        if self.signals.has_receivers(signals.request_scheduled):
            self.engine.crawl(request)
        else:
            self._enqueue(request)

    def _enqueue(self, request: Request) -> None:
        if not self.slot.scheduler.enqueue_request(request):
            spider = self.engine.spider
            self.signals.send_catch_log(signals.request_dropped, request=request, spider=spider)

    async def _recover(
        self,
        error: Exception,
        level: int,
        request: Request,
        response: Response,
        ahead: Iterable[Any] = (),
    ) -> None:
        """Pass an error to the spider middlewares from a level on, else report it.

        Outputs read *ahead* of it are passed on first, before a middleware's replacement.
        """
        try:
            instead = self._give_error(response, error, level)
        except Exception:
            failure = Failure()  # type: ignore[no-untyped-call]
            self.calls.state_exception(failure, request, response)
            await self._pass_all(ahead, response)
        else:
            await self._pass_all(ahead, response)
            await self.calls.drive(instead, request, response)


def looks_of(middlewares: SpiderMiddlewareManager) -> list[tuple[int, Look]] | None:
    """Return the functions that look at each output, with the level of their errors.

    None if a spider middleware handles the output as a whole.
    """
    if type(middlewares) is not SpiderMiddlewareManager:
        return None
    looks: list[tuple[int, Look]] = []
    for level, method in enumerate(middlewares.methods["process_spider_output"], 1):
        if method is None:
            continue
        owner = getattr(method, "__self__", None)
        if not (_only_looks(owner) or _counts_depth(owner)):
            return None
        looks.append((level, scrapy_internals.look_of(owner)))
    return looks


def item_looks_of(looks: Sequence[tuple[int, Look]]) -> Sequence[tuple[int, Look]]:
    """Return the looks that an item passes: none if each would return it unchanged.

    All if one does more, because it may turn an item into a request.
    """
    takes_items = any(
        scrapy_internals.takes_items(getattr(look, "__self__", None)) for _, look in looks
    )
    return looks if takes_items else ()


def begins_of(middlewares: SpiderMiddlewareManager) -> list[tuple[int, Begin]]:
    """Return the functions that look at a response before its first output, with their levels."""
    return [
        (level, scrapy_internals.depth_of(owner))
        for level, method in enumerate(middlewares.methods["process_spider_output"], 1)
        if _counts_depth(owner := getattr(method, "__self__", None))
    ]


def _only_looks(middleware: object) -> bool:
    return isinstance(middleware, BaseSpiderMiddleware) and _passes_on_as(
        BaseSpiderMiddleware, middleware
    )


def _counts_depth(middleware: object) -> bool:
    """Whether it is Scrapy's unchanged depth middleware, which every project has."""
    return (
        isinstance(middleware, DepthMiddleware)
        and _passes_on_as(DepthMiddleware, middleware)
        and scrapy_internals.available("depth")
    )


def _passes_on_as(kind: type, middleware: object) -> bool:
    """Whether a middleware handles the output as *kind* does, and not in its own way."""
    return all(
        getattr(type(middleware), name) is getattr(kind, name)
        for name in ("process_spider_output", "process_spider_output_async")
    )
