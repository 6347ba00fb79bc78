"""Middlewares, extensions, signals, stats: the places where a project has its own code."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scrapy import Request, signals
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse, Response
from scrapy.statscollectors import MemoryStatsCollector

from tests.integration.features.base import Base, Shop, Yields
from tests.integration.features.catalogue import Seen, feature

SECTION = "Code of the project's own"
HERE = "tests.integration.features.parts"


class Answers:
    """A downloader middleware that answers, sets, replaces, and deals with errors."""

    def process_request(self, request: Request) -> Response | Request | None:
        if request.url.endswith("/page/2"):
            return HtmlResponse(request.url, body=b"own", request=request)
        if request.url.endswith("/page/3"):
            return request.replace(url=request.url.replace("/page/3", "/page/9"))
        if request.url.endswith("/page/4"):
            raise ZeroDivisionError
        request.headers["X-Mine"] = "1"
        return None

    def process_response(self, request: Request, response: Response) -> Response:
        return response.replace(headers={**response.headers, "X-Seen": "1"})

    def process_exception(self, request: Request, exception: Exception) -> Response | None:
        if isinstance(exception, ZeroDivisionError):
            return HtmlResponse(request.url, body=b"mended", request=request)
        return None


@feature(
    SECTION,
    "DOWNLOADER_MIDDLEWARES: each method, and what each may return",
    "as in Scrapy, in each worker",
    DOWNLOADER_MIDDLEWARES={f"{HERE}.Answers": 500},
)
class Between(Shop):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        for item in super().parse(response, **kwargs):
            if isinstance(item, dict):
                item |= {"seen": response.headers.get("X-Seen") == b"1", "body": len(response.body)}
                item["body"] = item["body"] if item["body"] < 10 else 0
            yield item


class Insists(RetryMiddleware):
    """A project's own middleware of retries: it tries pages again whose answer is no good."""

    def process_response(
        self, request: Request, response: Response, spider: Any = None
    ) -> Request | Response:
        return self._retry(request, "no good") or response


@feature(
    SECTION,
    "a RetryMiddleware of the project's own, or derived from Scrapy's",
    "as in Scrapy: it tries again by itself, counted in `retry_times`, beside the frontier",
    stats=("retry/count", "retry/max_reached"),
    DOWNLOADER_MIDDLEWARES={
        f"{HERE}.Insists": 550,
        "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    },
    RETRY_TIMES=3,
)
class Insistent(Base):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield self.page(response, tries=response.meta.get("retry_times", 0))


class Around:
    """A spider middleware that adds, drops, and deals with what a callback raises."""

    async def process_start(self, start: Any) -> Any:
        async for each in start:
            yield each
        yield Request(self.base + "/page/7", meta={"added": True})

    base = ""

    @classmethod
    def from_crawler(cls, crawler: Any) -> Around:
        made = cls()
        crawler.signals.connect(made.opened, signals.spider_opened)
        return made

    def opened(self, spider: Any) -> None:
        self.base = spider.base

    def process_spider_input(self, response: Response) -> None:
        response.meta["input"] = True

    async def process_spider_output(self, response: Response, result: Any) -> Any:
        async for each in result:
            if isinstance(each, dict):
                each["input"] = response.meta["input"]
            yield each

    def process_spider_exception(self, response: Response, exception: Exception) -> Any:
        return [{"mended": type(exception).__name__}]


@feature(
    SECTION,
    "SPIDER_MIDDLEWARES: `process_start`, input, output, exception",
    SPIDER_MIDDLEWARES={f"{HERE}.Around": 500},
)
class Surrounded(Base):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield self.page(response)
        if response.url.endswith("/"):
            raise ValueError("as asked")


#: Signals whose number is that of Scrapy's own crawl; `spider_idle` and `feed_…` may be more.
COUNTED = (
    *("engine_started", "spider_opened", "spider_closed", "request_scheduled"),
    *("request_reached_downloader", "request_left_downloader", "response_received"),
    *("response_downloaded", "headers_received", "item_scraped"),
)


class Counting:
    """An extension that counts signals."""

    def __init__(self, crawler: Any) -> None:
        self.crawler, self.seen = crawler, Counter[str]()
        for name in COUNTED:
            crawler.signals.connect(self._counter(name), getattr(signals, name), weak=False)
        crawler.signals.connect(self.over, signals.spider_closed, weak=False)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Counting:
        return cls(crawler)

    def _counter(self, name: str) -> Any:
        def count() -> None:
            self.seen[name] += 1

        return count

    def over(self, spider: Any) -> None:
        spider.notes.append(dict(self.seen))


@feature(
    SECTION,
    "EXTENSIONS, signals",
    "as in Scrapy, in each worker",
    EXTENSIONS={f"{HERE}.Counting": 500},
)
class Signalled(Shop):
    @staticmethod
    def check(ours: Seen, plain: Seen) -> None:
        assert ours.notes == plain.notes, (ours.notes, plain.notes)


@feature(
    SECTION,
    "`spider_idle` with requests, DontCloseSpider",
    "as in Scrapy; each request enters once a run, and with `dont_filter` once from each worker, "
    "which a line says",
)
class Idle(Base):
    left = 3

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def idle(self) -> None:
        if self.left:
            self.left -= 1
            self.crawler.engine.crawl(self.ask(f"/page/{self.left}"))
            raise DontCloseSpider


class OwnStats(MemoryStatsCollector):
    """A collector of the project's own."""

    def close_spider(self, spider: Any = None, reason: str | None = None) -> None:
        self.set_value("mine/closed", 1)
        super().close_spider(spider, reason)


@feature(
    SECTION,
    "STATS_CLASS, `crawler.stats`",
    "as in Scrapy: each worker has its own. Instead of `scheduler/…` and `dupefilter/filtered` "
    "there are `seine/enqueued`, `seine/dequeued`, `seine/duplicates`, `seine/duplicates_local`; "
    "`stats.get_value` takes the old names as well",
    stats=("mine/closed", "mine/pages", "response_received_count", "item_scraped_count"),
    STATS_CLASS=f"{HERE}.OwnStats",
)
class Counted(Shop):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        self.crawler.stats.inc_value("mine/pages")
        yield from super().parse(response, **kwargs)


@feature(
    SECTION,
    "MEMUSAGE_ENABLED, MEMDEBUG_ENABLED, CORESTATS, LOGSTATS_INTERVAL",
    "as in Scrapy, of each worker",
    MEMUSAGE_ENABLED=True,
)
class Weighed(Base):
    @staticmethod
    def check(ours: Seen, plain: Seen) -> None:
        assert ours.total("memusage/startup") > 0
        assert ours.total("elapsed_time_seconds") > 0


@feature(SECTION, "`custom_settings`, `update_settings`, `-a` arguments", DEPTH_LIMIT=1)
class Customized(Shop):
    custom_settings = {"DEPTH_LIMIT": 2, "USER_AGENT": "custom/1"}
    paths = ("/deep/0",)


@feature(
    SECTION,
    "scripts: AsyncCrawlerRunner, several crawlers in a process",
    "as in Scrapy; all of this table is run by one",
    workers=2,
)
class Scripted(Shop):
    pass
