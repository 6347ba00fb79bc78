"""One spider, one start request a scenario."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider, DropItem, IgnoreRequest
from scrapy.http import HtmlResponse

from scrapy_seine.engine.worker import worker_of

SCENARIOS: dict[str, dict[str, Any]] = {
    "success": {},
    "callback_error": {"callback": "fails"},
    "late_callback_error": {"callback": "fails_late"},
    "timeout": {"path": "/slow", "meta": {"download_timeout": 0.3}},
    "timeout_errback": {"path": "/slow", "meta": {"download_timeout": 0.3}, "errback": "eb"},
    "redirect": {"path": "/red"},
    "robots_forbidden": {"path": "/forbidden/1"},
    "offsite_child": {"callback": "offsite"},
    "duplicate_child": {"callback": "duplicates"},
    "dropped_item": {"callback": "item", "cb_kwargs": {"kind": "drop"}},
    "pipeline_error": {"callback": "item", "cb_kwargs": {"kind": "boom"}},
    "slow_item": {"callback": "item", "cb_kwargs": {"kind": "slow"}},
    "slow_callback": {"callback": "slow"},
    "http_404": {"path": "/st/404"},
    "http_404_errback": {"path": "/st/404", "errback": "eb"},
    "http_503": {"path": "/st/503"},
    "middleware_ignores": {"meta": {"ignore": True}},
    "middleware_ignores_errback": {"meta": {"ignore": True}, "errback": "eb"},
    "refused": {"url": "http://127.0.0.1:9/"},
    "refused_by_proxy": {"meta": {"proxy": "http://127.0.0.1:9"}},
    "refused_errback": {"url": "http://127.0.0.1:9/", "errback": "eb"},
    "unknown_scheme": {"callback": "strange_scheme"},
    "inline_download": {"callback": "inline"},
    "many_children": {"callback": "children"},
    "meta_copied": {"callback": "copies_meta"},
    "close_spider": {"callback": "closes"},
    "too_deep": {"callback": "goes_down"},
    "depth_is_reset": {"callback": "goes_down", "cb_kwargs": {"anew": True}},
    "depth_of_recovered": {"callback": "fails_once"},
    "errback_error": {"path": "/st/404", "errback": "fails"},
    "late_errback_error": {"path": "/st/404", "errback": "fails_late_eb"},
    "http_410_class": {"path": "/st/410"},
    "http_400": {"path": "/st/400"},
    "http_503_class": {"path": "/st/503"},
    "unlisted_error": {"meta": {"wrong": "request"}},
    "unlisted_error_errback": {"meta": {"wrong": "request"}, "errback": "eb"},
    "response_error": {"meta": {"wrong": "response"}},
    "exception_error": {"url": "http://127.0.0.1:9/", "meta": {"wrong": "exception"}},
    "wrong_type": {"meta": {"wrong": "type"}},
    "instead": {"url": "http://127.0.0.1:9/", "meta": {"wrong": "instead", "dont_retry": True}},
    "sent_back": {"meta": {"wrong": "sent back"}},
    "sent_on": {"meta": {"wrong": "sent on"}},
    "sent_on_once": {"meta": {"wrong": "sent on once"}, "callback": "goes_on"},
    "cleared_meta": {"path": "/p/clear"},
    "unsendable": {"meta": {"wrong": "header"}},
    "unknown_lane": {"meta": {"wrong": "lane"}},
    "slash_redirect": {"path": "/slash"},
    "cookie_redirect": {"path": "/cookie"},
    "circle": {"path": "/circle"},
    "circle_errback": {"path": "/circle", "errback": "eb"},
    "redirect_nowhere_errback": {"path": "/nowhere", "errback": "eb"},
    "redirect_offsite": {"path": "/offsite"},
    "redirect_nowhere": {"path": "/nowhere"},
    "odd_child": {"callback": "odd_child"},
    "cancelled_error": {"callback": "cancels"},
    "late_cancelled_error": {"callback": "cancels_late"},
    "unsaid_error": {"callback": "fails_unsaid"},
    "ignoring_callback": {"callback": "ignores"},
    "pipeline_cancels": {"callback": "item", "cb_kwargs": {"kind": "cancel"}},
    "swallowed": {"callback": "fails_softly"},
    "store_fails_once": {"callback": "item", "cb_kwargs": {"kind": "unstored"}},
}


class Pipeline:
    """Holds each item's lease for a while, as the database writer does."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler
        self.failed = False

    @classmethod
    def from_crawler(cls, crawler: Any) -> Pipeline:
        return cls(crawler)

    async def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        if item.get("kind") == "drop":
            raise DropItem("dropped on purpose")
        if item.get("kind") == "cancel":
            raise asyncio.CancelledError
        if item.get("kind") == "boom":
            raise RuntimeError("pipeline fails on purpose")
        hold = worker_of(self.crawler).inflight.hold(item)
        report = self.crawler.report
        report["items"].append([item["url"], hold.entry and hold.entry.request.url])
        loop = asyncio.get_running_loop()
        if item.get("kind") == "unstored" and not self.failed:
            self.failed = True
            loop.call_later(0.1, hold.fail, "database on purpose away")
        else:
            loop.call_later(0.2, self._stored, hold)
        return item

    def _stored(self, hold: Any) -> None:
        self.crawler.report["events"].append("stored")
        hold.release()


class Ignores:
    """A downloader middleware that drops what says so."""

    def process_request(self, request: Request) -> None:
        if request.meta.get("ignore"):
            raise IgnoreRequest("ignored on purpose")


class Wrong:
    """A downloader middleware that does wrong what a request says."""

    def process_request(self, request: Request) -> None:
        if request.url.endswith("/p/clear"):
            request.meta.clear()
            raise ValueError("fails after it took all meta away")
        if request.meta.get("wrong") == "lane":
            request.meta["lane"] = "tsl"
        if request.meta.get("wrong") == "header":
            request.headers["X\r\nY"] = "1"
        if request.meta.get("wrong") == "request":
            raise ValueError("fails before the download")

    def process_response(self, request: Request, response: Any) -> Any:
        wrong = request.meta.get("wrong")
        if wrong == "response":
            raise ValueError("fails after the download")
        if wrong == "sent back":
            return request.replace()
        if wrong == "sent on" or (wrong == "sent on once" and not request.url.endswith("n")):
            return request.replace(url=f"{request.url}n")
        return "no response" if wrong == "type" else response

    def process_exception(self, request: Request, exception: Exception) -> Any:
        if request.meta.get("wrong") == "exception":
            raise ValueError("fails beside a failure")
        return HtmlResponse(request.url) if request.meta.get("wrong") == "instead" else None


class Swallows:
    """A spider middleware that takes one kind of exception for no error."""

    def process_spider_exception(self, response: Any, exception: Exception) -> Any:
        if isinstance(exception, RecoveredError):
            return [response.request.replace(dont_filter=True)]
        return [] if isinstance(exception, SoftError) else None


class SoftError(Exception):
    """Nothing to worry about."""


class RecoveredError(Exception):
    """The page is to be asked for again."""


class UnsaidError(Exception):
    """Cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class AckSpider(Spider):
    name = "acks"
    crawler: Any  # with the report of its scenario

    def __init__(self, scenario: str, base: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.base = base
        self.scenario = dict(SCENARIOS[scenario])
        self.allowed_domains = ["127.0.0.1"]
        if scenario == "http_503_class":
            self.handle_httpstatus_list = [503]

    async def start(self) -> AsyncIterator[Any]:
        options = dict(self.scenario)
        url = options.pop("url", None) or self.base + options.pop("path", "/p/1")
        for name in ("callback", "errback"):
            if name in options:
                options[name] = getattr(self, options[name])
        options.setdefault("callback", self.ok)
        yield Request(url, **options)

    def ok(self, response: Any) -> Any:
        self.crawler.report["depths"].append(response.meta["depth"])
        yield {"url": response.request.url}

    def goes_down(self, response: Any, anew: bool = False) -> Any:
        depth = response.meta["depth"]
        self.crawler.report["depths"].append(depth)
        meta = {"depth_reset": True} if anew else {}
        number = 100 + len(self.crawler.report["depths"])
        yield Request(f"{self.base}/p/{number}", self.goes_down, meta=meta)

    def fails_once(self, response: Any) -> Any:
        self.crawler.report["depths"].append(response.meta["depth"])
        if len(self.crawler.report["depths"]) == 1:
            yield Request(f"{self.base}/p/2", self.fails_once)
        if len(self.crawler.report["depths"]) == 2:
            raise RecoveredError

    def goes_on(self, response: Any) -> Any:
        page = int(response.url.rstrip("n").rpartition("/")[2])
        if page < 25:
            yield Request(f"{self.base}/p/{page + 1}", self.goes_on, meta=response.meta)

    def fails(self, response: Any) -> Any:
        raise ValueError("callback fails on purpose")

    def fails_late(self, response: Any) -> Any:
        yield {"url": response.request.url}
        raise ValueError("callback fails late on purpose")

    def offsite(self, response: Any) -> Any:
        yield Request("http://other.invalid/x", self.ok)

    def strange_scheme(self, response: Any) -> Any:
        yield Request("foo://127.0.0.1/x", self.ok)

    def duplicates(self, response: Any) -> Any:
        yield Request(self.base + "/p/2", self.ok)
        yield Request(self.base + "/p/2", self.ok)

    def item(self, response: Any, kind: str) -> Any:
        yield {"url": response.request.url, "kind": kind}

    def eb(self, failure: Any) -> Any:
        yield {"url": failure.request.url, "error": failure.type.__name__}

    async def inline(self, response: Any) -> Any:
        other = await self.crawler.engine.download_async(Request(self.base + "/p/77"))
        yield {"url": response.request.url, "other": other.url}

    async def slow(self, response: Any) -> Any:
        await asyncio.sleep(1)
        yield {"url": response.request.url}

    def children(self, response: Any) -> Any:
        for i in range(10, 20):
            yield Request(f"{self.base}/p/{i}", self.ok)

    def copies_meta(self, response: Any) -> Any:
        for i in range(10, 13):
            yield Request(f"{self.base}/p/{i}", self.ok, meta=response.meta)

    def odd_child(self, response: Any) -> Any:
        yield Request(self.base + "/p/2", self.ok, meta={"not_before": "soon"})
        yield Request(self.base + "/p/3", lambda response: None)

    def cancels(self, response: Any) -> Any:
        raise asyncio.CancelledError

    async def cancels_late(self, response: Any) -> Any:
        yield {"url": response.request.url}
        raise asyncio.CancelledError

    def fails_unsaid(self, response: Any) -> Any:
        raise UnsaidError

    def fails_softly(self, response: Any) -> Any:
        raise SoftError

    def ignores(self, response: Any) -> Any:
        raise IgnoreRequest("a callback ignores on purpose")

    def fails_late_eb(self, failure: Any) -> Any:
        yield {"url": failure.request.url}
        raise ValueError("errback fails late on purpose")

    def closes(self, response: Any) -> Any:
        yield {"url": response.url}
        raise CloseSpider("on purpose")
