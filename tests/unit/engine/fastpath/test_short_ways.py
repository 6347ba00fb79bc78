"""Where Scrapy's own is passed by, a page gets what Scrapy would have given it."""

from __future__ import annotations

from typing import Any

import pytest
from pydispatch import dispatcher
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from scrapy_seine.engine.fastpath.signals import Signals
from scrapy_seine.engine.telemetry.quick_stats import Stats
from scrapy_seine.middlewares.offsite import Offsite
from scrapy_seine.middlewares.redirect import MetaRefresh

URL = "http://shop.example/"
TAG = '<meta http-equiv="refresh" content="0;url=/there">'


def crawler_of(**spider: Any) -> Crawler:
    """One with a spider that has these attributes."""
    crawler = Crawler(Spider)
    crawler.spider = Spider("test", **spider)
    crawler.stats = Stats(crawler)
    return crawler


def test_counters_count_as_scrapys_own() -> None:
    crawler = crawler_of()
    for stats in (ours := Stats(crawler), scrapys := MemoryStatsCollector(crawler)):
        stats.inc_value("a")
        stats.inc_value("a", 2, start=1)
        stats.max_value("b", 3)
        stats.max_value("b", 2)
        stats.set_value("c", 1)
    assert ours.get_stats() == scrapys.get_stats() == {"a": 3, "b": 3, "c": 1}


def test_a_counter_of_an_old_extension_may_name_its_spider() -> None:
    stats = Stats(crawler_of())
    stats.inc_value("a", spider=Spider("test"))
    assert stats.get_value("a") == 1


def test_a_spider_that_asks_for_a_counter_of_scrapys_scheduler_gets_ours() -> None:
    """A public spider compares it with its bound: None would raise."""
    stats = Stats(crawler_of())
    assert stats.get_value("scheduler/enqueued") == stats.get_value("dupefilter/filtered") == 0
    assert stats.get_value("scheduler/enqueued", 7) == 7
    for name in ("enqueued", "duplicates", "duplicates_local", "dequeued"):
        stats.inc_value(f"seine/{name}", 2)
    assert stats.get_value("scheduler/enqueued") == stats.get_value("scheduler/dequeued") == 2
    assert stats.get_value("dupefilter/filtered") == 4
    stats.set_value("scheduler/enqueued", 9)  # a scheduler of the project's own counts itself
    assert stats.get_value("scheduler/enqueued") == 9
    assert stats.get_value("scheduler/more") is None


def offsite(crawler: Crawler) -> Offsite:
    """The middleware, after the spider has opened."""
    middleware = Offsite.from_crawler(crawler)
    crawler.signals.send_catch_log(signals.spider_opened, spider=crawler.spider)
    return middleware


def refused(crawler: Crawler, url: str) -> bool:
    """Whether somebody objects to a link as it is scheduled."""
    told = crawler.signals.send_catch_log(
        signals.request_scheduled,
        request=Request(url),
        spider=crawler.spider,
        dont_log=IgnoreRequest,
    )
    return any(isinstance(getattr(answer, "value", None), IgnoreRequest) for _, answer in told)


def test_a_spiders_domains_hold_for_links_and_for_downloads() -> None:
    crawler = crawler_of(allowed_domains=["shop.example"])
    middleware = offsite(crawler)
    assert not refused(crawler, "http://www.shop.example/")
    assert refused(crawler, "http://other.example/")
    middleware.process_request(Request(URL))
    with pytest.raises(IgnoreRequest):
        middleware.process_request(Request("http://other.example/"))


def test_without_domains_any_is_allowed_and_links_are_not_looked_at() -> None:
    crawler = crawler_of()
    middleware = offsite(crawler)
    middleware.process_request(Request("http://other.example/"))
    assert not crawler.signals.send_catch_log(
        signals.request_scheduled, request=Request(URL), spider=crawler.spider
    )


def test_domains_that_a_spider_names_later_hold_for_downloads() -> None:
    crawler = crawler_of()
    middleware = offsite(crawler)
    assert crawler.spider is not None
    crawler.spider.allowed_domains = ["shop.example"]  # type: ignore[attr-defined]
    with pytest.raises(IgnoreRequest):
        middleware.process_request(Request("http://other.example/"))


@pytest.mark.parametrize(
    "page",
    [
        TAG.encode(),
        TAG.upper().encode(),
        TAG.encode("utf-16"),
        b"<title>\xef\xbb\xbf" + "価".encode() * 4000 + b"</title>" + TAG.encode(),
        b" " * 4090 + TAG.encode(),
        b"<noscript>" + TAG.encode() + b"</noscript>",
        b'<meta http-equiv="X-UA-Compatible" content="IE=edge"><p>refresh',
        b"<p>refresh",
        b"",
    ],
    ids=["plain", "capitals", "utf-16", "wide", "far", "noscript", "other", "word", "empty"],
)
def test_a_page_that_asks_to_be_left_is_left_where_scrapy_would(page: bytes) -> None:
    crawler = crawler_of()
    encoding = "utf-16" if page[:2] == b"\xff\xfe" else "utf-8"
    answers = []
    for middleware in MetaRefresh.from_crawler(crawler), MetaRefreshMiddleware(crawler.settings):
        middleware.crawler = crawler
        response = HtmlResponse(URL, body=page, encoding=encoding)
        answers.append(middleware.process_response(Request(URL), response).url)
    assert answers[0] == answers[1]


def answers_of(found: Any) -> list[Any]:
    """What the receivers said, in words."""
    return [str(getattr(answer, "value", answer)) for _, answer in found]


async def test_signals_reach_whom_scrapys_reach() -> None:
    """Receivers of this crawler, of any sender and of any signal; none that is gone."""
    crawler = crawler_of()

    async def later(word: str) -> str:
        return f"later {word}"

    def fails() -> None:
        raise IgnoreRequest("no")

    class Gone:
        def hears(self) -> str:
            return "gone"

    kept = [lambda word: word, fails]
    told = object()
    for receiver in kept:
        crawler.signals.connect(receiver, told)
    crawler.signals.connect(Gone().hears, told)
    ours, scrapys = Signals(crawler), crawler.signals
    named = {"word": "hello", "dont_log": IgnoreRequest}
    assert answers_of(ours.send_catch_log(told, **named)) == ["hello", "no"]
    assert not ours.has_receivers(object())
    assert ours.send_catch_log(object()) == []
    crawler.signals.connect(later, told)
    anybody = lambda: "anybody"  # noqa: E731  # a receiver must stay to be called
    dispatcher.connect(anybody, told)
    try:
        heard = answers_of(await ours.send_catch_log_async(told, **named))
        assert heard == answers_of(await scrapys.send_catch_log_async(told, **named))
        assert heard == ["hello", "no", "later hello", "anybody"]
        assert ours.has_receivers(told)
    finally:
        dispatcher.disconnect(anybody, told)


def test_a_receiver_that_fails_is_reported_and_does_not_stop_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawler, told, seen = crawler_of(), object(), list[int]()

    def fails() -> None:
        raise RuntimeError("on purpose")

    hears = lambda: seen.append(1)  # noqa: E731  # as above
    crawler.signals.connect(fails, told)
    crawler.signals.connect(hears, told)
    assert answers_of(Signals(crawler).send_catch_log(told)) == ["on purpose", "None"]
    assert seen == [1]
    assert "Error caught on signal handler" in caplog.text
