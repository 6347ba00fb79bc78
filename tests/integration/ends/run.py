"""Crawls one page for each fault that is read from stdin; prints how their leases ended.

usage: python -m tests.integration.ends.run REDIS_URL NAMESPACE WAY < FAULTS.json
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from crawler.stores.store_endpoints import redis_client
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.frontier import Frontier
from tests.helpers import patient
from tests.integration.acks import site
from tests.integration.acks.ways import WAYS
from tests.integration.ends.faults import fail

HERE = "tests.integration.ends.run"


def _fault(request: Request, place: str) -> None:
    fault = request.cb_kwargs.get("fault", {"place": "nowhere"})
    if fault["place"] == place:
        fail(fault["error"])


class Downloads:
    """Raises around the download."""

    def process_request(self, request: Request) -> None:
        _fault(request, "process_request")

    def process_response(self, request: Request, response: Any) -> Any:
        _fault(request, "process_response")
        return response


class Spiders(BaseSpiderMiddleware):
    """Raises around the callback."""

    def process_spider_input(self, response: Any) -> None:
        _fault(response.request, "spider_input")

    def get_processed_item(self, item: Any, response: Any) -> Any:
        if response is not None and hasattr(response, "request"):
            _fault(response.request, "spider_output")
        return item


class Pipeline:
    """Raises for an item, or holds it and cannot store it."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Any) -> Pipeline:
        return cls(crawler)

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        fault = item["fault"]
        if fault["place"] == "pipeline":
            fail(fault["error"])
        hold = worker_of(self.crawler).inflight.hold(item)
        stored = fault["place"] != "store"
        loop = asyncio.get_running_loop()
        loop.call_later(0.02, *((hold.release,) if stored else (hold.fail, "away")))
        return item


class Faulty(Spider):
    name = "faulty"

    async def start(self) -> AsyncIterator[Any]:
        for number, fault in enumerate(self.faults):  # type: ignore[attr-defined]
            ways = ("coroutine", "async_generator")
            callback = getattr(self, fault["place"] if fault["place"] in ways else "callback")
            errback = getattr(self, fault["errback"]) if fault["errback"] else None
            url = f"{self.base}/p/{number}"  # type: ignore[attr-defined]
            yield Request(url, callback, errback=errback, cb_kwargs={"fault": fault})

    def callback(self, response: Any, fault: dict[str, Any]) -> Any:
        _fault(response.request, "callback")
        return self._outputs(response, fault)

    def _link(self, response: Any) -> Request:
        return Request(f"{response.url}.link", self.read, dont_filter=response.url.endswith("1"))

    def read(self, response: Any) -> None:
        """Read a page that another one leads to."""

    def _outputs(self, response: Any, fault: dict[str, Any]) -> Any:
        yield self._link(response)
        yield {"fault": fault}
        _fault(response.request, "callback_late")

    async def coroutine(self, response: Any, fault: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        _fault(response.request, "coroutine")

    async def async_generator(self, response: Any, fault: dict[str, Any]) -> Any:
        yield self._link(response)
        yield {"fault": fault}
        await asyncio.sleep(0)
        _fault(response.request, "async_generator")

    def takes(self, failure: Any) -> Any:
        yield {"fault": {"place": "nowhere"}}

    async def exits(self, failure: Any) -> Any:
        await asyncio.sleep(0)
        raise SystemExit

    def raises(self, failure: Any) -> Any:
        raise ValueError("the errback fails")

    async def yields_late(self, failure: Any) -> Any:
        yield {"fault": {"place": "nowhere"}}
        raise ValueError("the errback fails late")


def _settings(redis_url: str, crawl: str, way: str) -> Settings:
    settings = Settings()
    settings.setmodule("settings.test")
    own = {
        "REDIS_URL": redis_url,
        "DATABASE_URL": "postgresql://unused.invalid/",
        "SEINE_CRAWL": crawl,
        "SEINE_INTAKE": False,
        "SPIDER_MODULES": [],
        "COMMANDS_MODULE": "",
        "ROBOTSTXT_OBEY": False,
        "ITEM_PIPELINES": {f"{HERE}.Pipeline": 1},
        "DOWNLOADER_MIDDLEWARES": {
            "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
            "scrapy_seine.middlewares.retry.Retry": 550,
            f"{HERE}.Downloads": 20,
        },
        "SPIDER_MIDDLEWARES": {
            **settings.getdict("SPIDER_MIDDLEWARES"),
            f"{HERE}.Spiders": 10,
            **WAYS[way],
        },
        "EXTENSIONS": {},
        "RETRY_TIMES": 1,
        "LOG_LEVEL": "CRITICAL",
    }
    settings.setdict(own, priority="cmdline")
    return settings


async def _crawl(process: Any, settings: Settings, faults: list[Any], base: str) -> dict[str, Any]:
    crawler = process.create_crawler(Faulty)
    crawler.settings = settings
    ends: dict[str, list[str]] = {}

    def note(entry: Any) -> None:
        ends.setdefault(entry.request.url.rpartition("/")[2], []).append(entry.outcome)

    crawler.signals.connect(
        lambda: worker_of(crawler).inflight.watch(note), signal=signals.spider_opened, weak=False
    )
    await asyncio.wait_for(crawler.crawl_async(faults=faults, base=base), patient(100))
    redis = redis_client(settings["REDIS_URL"])
    undone = (await Frontier(redis, settings["SEINE_CRAWL"]).counts()).undone
    await redis.aclose()
    return {"ends": ends, "undone": undone}


def main() -> None:
    redis_url, namespace, way = sys.argv[1:4]
    faults = json.load(sys.stdin)
    settings = _settings(redis_url, f"ends-{namespace}", way)
    process = AsyncCrawlerProcess(settings)

    async def run() -> None:
        runner, base = await site.start()
        print(json.dumps(await _crawl(process, settings, faults, base)), flush=True)
        await runner.cleanup()

    from twisted.internet import reactor

    task = asyncio.get_event_loop().create_task(run())
    task.add_done_callback(lambda _: reactor.stop())
    reactor.run()
    task.result()


if __name__ == "__main__":
    main()
