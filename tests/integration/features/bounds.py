"""Where a crawl ends, and what it does not ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from scrapy.dupefilters import RFPDupeFilter
from scrapy.exceptions import CloseSpider
from scrapy.http import Response

from tests.integration.features.base import Base, Shop, Yields
from tests.integration.features.catalogue import Seen, feature

SECTION = "Bounds, order and filters"


def same_reason(ours: Seen, plain: Seen) -> None:
    reasons = [stats["finish_reason"] for seen in (ours, plain) for stats in seen.stats]
    assert len(set(reasons)) == 1, reasons


@feature(
    SECTION,
    "DEPTH_LIMIT, DEPTH_STATS_VERBOSE",
    stats=("request_depth_max", "request_depth_count/1", "request_depth_count/3"),
    DEPTH_LIMIT=3,
    DEPTH_STATS_VERBOSE=True,
)
class Deep(Shop):
    paths = ("/deep/0",)


@feature(
    SECTION,
    "DEPTH_PRIORITY, `priority`",
    "as in Scrapy; priorities beyond ±4,000 count as these",
    CONCURRENT_REQUESTS=1,
    DEPTH_PRIORITY=1,
)
class Ordered(Base):
    async def start(self) -> AsyncIterator[Any]:
        yield self.ask("/")

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        for n in range(4):
            yield self.ask(f"/page/{n}", priority=10 * n, callback=self.late)

    def late(self, response: Response) -> Yields:
        yield self.page(response)

    @staticmethod
    def check(ours: Seen, plain: Seen) -> None:
        assert ours.items == plain.items, (ours.items, plain.items)


@feature(
    SECTION,
    "URLLENGTH_LIMIT",
    stats=("urllength/request_ignored_count",),
    URLLENGTH_LIMIT=150,
)
class LongUrls(Base):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield self.page(response)
        yield self.ask("/page/1?" + "x" * 200, callback=self.parse)


@feature(
    SECTION,
    "`allowed_domains`, `allow_offsite`",
    stats=("offsite/filtered",),
)
class Offsite(Base):
    allowed_domains = ("127.0.0.1",)

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield self.page(response)
        yield response.follow("http://elsewhere.invalid/", self.parse)


@feature(
    SECTION,
    "DUPEFILTER_CLASS, `dont_filter`",
    "its fingerprints count, for the fleet; a `request_seen` of the project's own is asked in each "
    "worker besides, and what it lets pass each time passes; `dont_filter` passes both. Where it "
    "raises, the page is tried again, then a dead letter; Scrapy loses that request alone",
    DUPEFILTER_CLASS="tests.integration.features.bounds.ByPath",
)
class Filtered(Base):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield self.page(response)
        for n in range(3):
            yield self.ask(f"/page/1?n={n}", callback=self.again)
        yield self.ask("/page/1?n=9", callback=self.again, dont_filter=True)

    def again(self, response: Response) -> Yields:
        yield {"asked": True}


class ByPath(RFPDupeFilter):
    """Takes two requests that differ in their query alone for one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.paths: set[str] = set()

    def request_seen(self, request: Any) -> bool:
        path = request.url.partition("?")[0]
        seen = path in self.paths
        self.paths.add(path)
        return seen


@feature(
    SECTION,
    "SCHEDULER_DISK_QUEUE, SCHEDULER_MEMORY_QUEUE, SCHEDULER_PRIORITY_QUEUE, SCHEDULER_DEBUG",
    "no effect: the queue is in Redis, by priority, then in order of arrival",
    equal=False,
    CONCURRENT_REQUESTS=1,
    SCHEDULER_MEMORY_QUEUE="scrapy.squeues.LifoMemoryQueue",
    SCHEDULER_DEBUG=True,
)
class Queued(Shop):
    @staticmethod
    def check(ours: Seen, plain: Seen) -> None:
        assert [item["path"] for item in ours.items[1:]] == [f"/page/{n}" for n in range(8)]


@feature(
    SECTION,
    "JOBDIR",
    "keeps `spider.state` alone, and a line says so: the queue is in Redis at any time",
    JOBDIR="{folder}",
)
class Kept(Base):
    state: dict[str, int]

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        self.state["pages"] = self.state.get("pages", 0) + 1
        yield self.page(response, pages=self.state["pages"])

    def closed(self, reason: str) -> None:
        self.notes.append(Path(self.settings["JOBDIR"]).is_dir())


@feature(
    SECTION,
    "CLOSESPIDER_TIMEOUT, CLOSESPIDER_TIMEOUT_NO_ITEM, CLOSESPIDER_PAGECOUNT_NO_ITEM",
    "as in Scrapy, in each worker",
    equal=False,
    CLOSESPIDER_PAGECOUNT_NO_ITEM=3,
    CONCURRENT_REQUESTS=1,
)
class Closing(Shop):
    def page(self, response: Response, **more: Any) -> Any:
        return None

    check = staticmethod(same_reason)


@feature(
    SECTION,
    "CloseSpider in a callback, `closed(reason)`",
    "as in Scrapy, for the whole fleet: each worker ends with the reason, also where the code of a "
    "page calls `engine.close_spider`. What is left is in the frontier, this page with it, and the "
    "next start goes on with it",
    equal=False,
)
class ClosedBySpider(Base):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        raise CloseSpider("had enough")

    def closed(self, reason: str) -> None:
        self.notes.append(reason)

    @staticmethod
    def check(ours: Seen, plain: Seen) -> None:
        same_reason(ours, plain)
        assert ours.notes == plain.notes == ["had enough"]
