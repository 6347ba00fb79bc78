"""A spider, middlewares, a pipeline and receivers as users write them; each notes what it sees."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DropItem, IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure

from scrapy_seine.engine.fastpath.request_task import RequestTasks
from scrapy_seine.engine.fastpath.scrapys_path import StockPath
from scrapy_seine.engine.reading.reading_limit import ReadingLimit
from scrapy_seine.engine.worker import worker_of

#: Name of the scenario, which is the callback too, and what its request is asked with.
SCENARIOS: dict[str, dict[str, Any]] = {
    "generator": {"cb_kwargs": {"word": "given"}},
    "one_item": {},
    "a_list": {},
    "nothing": {},
    "promises_a_list": {},
    "async_generator": {},
    "async_generator_fails": {},
    "a_deferred": {},
    "fails": {},
    "fails_late": {},
    "fails_and_is_saved": {},
    "fails_late_and_is_saved": {},
    "no_callback": {"callback": None},
    "not_found": {"path": "/missing"},
    "not_found_errback": {"path": "/missing", "errback": "errback"},
    "unreachable": {"path": None},
    "unreachable_errback": {"path": None, "errback": "errback"},
    "errback_fails": {"path": None, "errback": "errback_fails"},
    "refused_by_input": {"errback": "errback"},
    "drops": {},
    "pipeline_fails": {},
    "pipeline_promises": {},
    "pipeline_defers": {},
    "look_fails": {},
    "asks_inside": {},
    "ignored_link": {},
    "same_link_twice": {},
    "redirected": {"path": "/moved"},
    "answered_by_middleware": {},
}


class Notes:
    """Writes down what happens with each page, in order."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Any:
        return cls(crawler)

    def note(self, source: Any, *words: object) -> None:
        request = getattr(source, "request", None) or source
        name = f"{request.meta.get('scenario')} {request.url.partition('?')[0].rpartition('/')[2]}"
        self.crawler.report.setdefault(name, []).append(" ".join(str(word) for word in words))


class Receivers(Notes):
    """An extension that listens to each signal of a page."""

    def __init__(self, crawler: Any) -> None:
        super().__init__(crawler)
        connect = crawler.signals.connect
        for name in (
            "request_scheduled",
            "request_reached_downloader",
            "request_left_downloader",
            "request_dropped",
            "response_downloaded",
            "response_received",
        ):
            connect(self.seen(name), getattr(signals, name), weak=False)
        connect(self.scheduled, signals.request_scheduled)
        connect(self.scraped, signals.item_scraped)
        connect(self.scraped_later, signals.item_scraped)
        connect(self.receiver_fails, signals.item_scraped)
        connect(self.dropped, signals.item_dropped)
        connect(self.item_error, signals.item_error)
        connect(self.spider_error, signals.spider_error)

    def seen(self, name: str) -> Any:
        return lambda request: self.note(request, name)

    def scheduled(self, request: Request) -> None:
        if "ignored" in request.url:
            raise IgnoreRequest("a receiver says so")

    def scraped(self, item: Any, response: Response) -> None:
        self.note(response, "scraped", item)

    async def scraped_later(self, item: Any, response: Response) -> None:
        await asyncio.sleep(0.01)
        self.note(response, "scraped later", item)

    def receiver_fails(self, item: Any) -> None:
        raise RuntimeError("a receiver fails on purpose")

    def dropped(self, item: Any, response: Response, exception: Exception) -> None:
        self.note(response, "dropped", item, exception)

    def item_error(self, item: Any, response: Response, failure: Failure) -> None:
        self.note(response, "item error", item, failure.value)

    def spider_error(self, failure: Failure, response: Response) -> None:
        self.note(response, "spider error", failure.value)


class Pipeline(Notes):
    def process_item(self, item: dict[str, Any]) -> Any:
        kind = item.get("kind")
        if kind == "drop":
            raise DropItem("on purpose")
        if kind == "fail":
            raise RuntimeError("the pipeline fails on purpose")
        made = {**item, "piped": True}
        if kind == "defer":
            deferred: Deferred[Any] = succeed(made)
            return deferred
        return self.later(made) if kind == "promise" else made

    async def later(self, item: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0.01)
        return item


class Second(Notes):
    async def process_item(self, item: dict[str, Any]) -> Any:
        return {**item, "second": True}


class Guards(Notes):
    """A spider middleware for what goes in and for what fails."""

    def process_spider_input(self, response: Response) -> None:
        self.note(response, "input")
        if response.meta["scenario"] == "refused_by_input":
            raise ValueError("refused on purpose")

    def process_spider_exception(self, response: Response, exception: Exception) -> Any:
        self.note(response, "exception", exception)
        if "saved" in response.meta["scenario"]:
            return [{"saved": str(exception)}, Request(response.url.partition("?")[0] + "/saved")]
        return None


class Looks(BaseSpiderMiddleware):
    """A spider middleware that looks at each output."""

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        if response is not None:
            request.meta.setdefault("scenario", response.meta["scenario"])
        return None if "unwanted" in request.url else request

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if item.get("kind") == "look fails":
            raise ValueError("the look fails on purpose")
        return None if item.get("kind") == "unwanted" else {**item, "looked": True}


class Rewrites:
    """A spider middleware that handles the output as a whole."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for output in result:
            yield output
        yield {"added": True}


class Answers(Notes):
    """A downloader middleware that answers, or sends another request."""

    def process_request(self, request: Request) -> Any:
        if request.meta.get("scenario") == "answered_by_middleware":
            return Response(request.url, body=b"own")
        return None

    def process_response(self, request: Request, response: Response) -> Any:
        if response.status == 302:
            return request.replace(url=request.url.replace("/moved", "/p/moved-here"))
        return response


class OwnScheduler(Scheduler):
    """Scrapy's scheduler in memory, with the short way."""

    path: Any = RequestTasks

    def open(self, spider: Spider) -> Any:
        engine: Any = self.crawler.engine  # type: ignore[attr-defined]
        inflight = worker_of(engine.crawler).inflight
        self.way = self.path(engine, inflight, lambda entry: None, ReadingLimit(0))
        return super().open(spider)

    def has_pending_requests(self) -> bool:
        # As Seine's scheduler: a download that ended, and that its task does not know of yet, is
        # neither the downloader's nor the scraper's, and the crawl would end too early.
        slot: Any = self.crawler.engine._slot  # type: ignore[attr-defined]
        return super().has_pending_requests() or bool(slot.inprogress)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Any:
        made: Any = super().from_crawler(crawler)
        made.crawler = crawler
        return made


class WatchedScheduler(OwnScheduler):
    """Scrapy's scheduler in memory, and Scrapy's engine watched."""

    path = StockPath


class UserSpider(Spider):
    name = "user"

    def __init__(self, base: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.base = base

    async def start(self) -> AsyncIterator[Any]:
        for name, known in SCENARIOS.items():
            options = dict(known)
            path = options.pop("path", f"/p/{name}")
            own = getattr(self, name, self.generator)
            options.setdefault("callback", own)
            if "errback" in options:
                options["errback"] = getattr(self, options["errback"])
            url = f"{self.base}{path}?{name}" if path else f"http://127.0.0.1:9/{name}"
            yield Request(url, meta={"scenario": name}, **options)

    def generator(self, response: Response, word: str = "") -> Iterable[Any]:
        yield {"n": 1, "word": word}
        yield {"kind": "unwanted"}
        yield Request(self.base + "/p/unwanted", self.nothing)
        yield None
        yield Request(response.url.partition("?")[0] + "/below", self.nothing)
        yield {"n": 2}

    def parse(self, response: Response) -> Any:
        yield {"parsed": response.meta["scenario"]}

    def one_item(self, response: Response) -> Any:
        return {"n": 1}

    def a_list(self, response: Response) -> Any:
        return [{"n": 1}, {"n": 2}]

    def nothing(self, response: Response) -> None:
        """Make nothing."""

    async def promises_a_list(self, response: Response) -> Any:
        await asyncio.sleep(0.01)
        return [{"n": 1}, {"n": 2}]

    async def async_generator(self, response: Response) -> Any:
        yield {"n": 1}
        await asyncio.sleep(0.01)
        yield {"n": 2}

    async def async_generator_fails(self, response: Response) -> Any:
        yield {"n": 1}
        raise ValueError("on purpose")

    def a_deferred(self, response: Response) -> Any:
        return succeed([{"n": 1}])

    def fails(self, response: Response) -> Any:
        raise ValueError("on purpose")

    def fails_late(self, response: Response) -> Any:
        yield {"n": 1}
        raise ValueError("late on purpose")

    fails_and_is_saved = fails
    fails_late_and_is_saved = fails_late

    def drops(self, response: Response) -> Any:
        yield {"kind": "drop"}
        yield {"n": 2}

    def pipeline_fails(self, response: Response) -> Any:
        yield {"kind": "fail"}
        yield {"n": 2}

    def pipeline_promises(self, response: Response) -> Any:
        yield {"kind": "promise"}
        yield {"n": 2}

    def pipeline_defers(self, response: Response) -> Any:
        yield {"kind": "defer"}
        yield {"n": 2}

    def look_fails(self, response: Response) -> Any:
        yield {"n": 1}
        yield {"kind": "look fails"}
        yield {"n": 3}

    async def asks_inside(self, response: Response) -> Any:
        inner = Request(self.base + "/p/inner", meta={"scenario": "inner"})
        other = await self.crawler.engine.download_async(inner)  # type: ignore[union-attr]
        yield {"other": other.status}

    def ignored_link(self, response: Response) -> Any:
        yield Request(self.base + "/p/ignored", self.nothing)

    def same_link_twice(self, response: Response) -> Any:
        yield Request(self.base + "/p/same", self.nothing)
        yield Request(self.base + "/p/same", self.nothing)

    def errback(self, failure: Failure) -> Any:
        yield {"failed": failure.type.__name__}

    def errback_fails(self, failure: Failure) -> Any:
        raise ValueError("the errback fails on purpose")


class ClosingSpider(UserSpider):
    """Closes itself on its first page."""

    name = "closing"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.base + "/p/1", self.closes, meta={"scenario": "closes"})

    def closes(self, response: Response) -> Any:
        yield {"n": 1}
        raise CloseSpider("on purpose")
