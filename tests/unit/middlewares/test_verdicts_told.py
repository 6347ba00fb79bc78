"""Which verdicts say something about a site, and so move it on the ladder."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from scrapy.statscollectors import StatsCollector

from crawler.access.detect import REFUSED_AT, VERDICT
from crawler.extract.links.gate_cookies import GATE_PRESSED
from middlewares.detect import Detect
from scrapy_seine.engine.worker import worker_of

URL = "https://shop.example/p/1"
WALL = b"<title>Before you go on</title><h1>We value your privacy</h1><button>Accept</button>"
SHELL = b'<div id="app"></div><noscript>You need to enable JavaScript to run this app.</noscript>'
PAGE = "<!DOCTYPE html><html><h1>Kessel für Tee</h1><p>Und mehr davon.</p></html>".encode()
KEY = {"Set-Cookie": "consent=yes"}


@pytest.mark.parametrize(
    ("answer", "meta", "verdict", "told"),
    [
        ((200, WALL, KEY), {}, "blocked", []),
        ((200, WALL, KEY), {REFUSED_AT: ["plain", 1]}, "blocked", [False]),
        ((200, WALL, {}), {}, "blocked", [False]),
        ((403, b"no", KEY), {}, "blocked", [False]),
        ((403, b"no", {}), {"proxy_lease": "1"}, "blocked", []),
        ((403, b"no", {}), {GATE_PRESSED: {}}, "ok", [True]),  # a form refuses what was sent
        ((200, SHELL, {}), {"proxy_lease": "1"}, "empty", [False]),
        ((200, b"", {}), {}, "empty", [False]),
        ((200, b" ", {}), {"handle_httpstatus_list": [404]}, "ok", [True]),  # no such page
        ((200, b"<h1>Kettle</h1>", {}), {"proxy_lease": "1"}, "ok", [True]),
    ],
)
def test_a_verdict_is_told_where_it_is_about_the_site(
    answer: tuple[int, bytes, dict[str, str]], meta: dict[str, Any], verdict: str, told: list[bool]
) -> None:
    crawler = crawler_of_the_suite()
    heard: list[bool] = []
    worker_of(crawler).verdict_listeners.listen(lambda _, good, weight: heard.append(good))
    request = Request(URL, meta=meta)
    status, body, headers = answer
    html = {"Content-Type": "text/html", **headers}
    response = HtmlResponse(URL, status=status, body=body, headers=html)
    Detect.from_crawler(crawler).process_response(request, response)
    assert request.meta[VERDICT] == verdict
    assert heard == told


def crawler_of_the_suite() -> Crawler:
    settings = Settings()
    settings.setmodule("settings.test")
    crawler = Crawler(Spider, settings)
    crawler.stats = StatsCollector(crawler)
    return crawler


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        (PAGE, "ok"),
        (b"<h1>Kettle</h1>", "ok"),  # opened nothing that holds the whole page
        (PAGE[: len(PAGE) // 2], "broken"),
    ],
)
def test_a_page_that_only_the_connections_end_closes_is_whole_where_it_says_so(
    body: bytes, verdict: str
) -> None:
    request = Request(URL)
    html = {"Content-Type": "text/html"}
    response = HtmlResponse(URL, body=body, headers=html, flags=["partial"])
    Detect.from_crawler(crawler_of_the_suite()).process_response(request, response)
    assert request.meta[VERDICT] == verdict


@pytest.mark.parametrize(
    ("encoding", "charset"),
    [("utf-16", ""), ("utf-16", "; charset=iso-8859-1"), ("utf-16-le", "; charset=utf-16le")],
)
def test_a_page_in_utf_16_is_read_as_any_other(encoding: str, charset: str) -> None:
    request, text = Request(URL), PAGE.decode()
    html = {"Content-Type": f"text/html{charset}"}
    response = HtmlResponse(URL, body=text.encode(encoding), headers=html)
    read = Detect.from_crawler(crawler_of_the_suite()).process_response(request, response)
    assert request.meta[VERDICT] == "ok"
    assert read.body == PAGE
    assert read.css("h1::text").get() == "Kessel für Tee"
