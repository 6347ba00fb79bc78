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
from middlewares.detect import Detect
from scrapy_seine.engine.worker import worker_of

URL = "https://shop.example/p/1"
WALL = b"<title>Before you go on</title><h1>We value your privacy</h1><button>Accept</button>"
SHELL = b'<div id="app"></div><noscript>You need to enable JavaScript to run this app.</noscript>'
KEY = {"Set-Cookie": "consent=yes"}


@pytest.mark.parametrize(
    ("answer", "meta", "verdict", "told"),
    [
        ((200, WALL, KEY), {}, "blocked", []),
        ((200, WALL, KEY), {REFUSED_AT: ["plain", 1]}, "blocked", [False]),
        ((200, WALL, {}), {}, "blocked", [False]),
        ((403, b"no", KEY), {}, "blocked", [False]),
        ((403, b"no", {}), {"proxy_lease": "1"}, "blocked", []),
        ((200, SHELL, {}), {"proxy_lease": "1"}, "empty", [False]),
        ((200, b"<h1>Kettle</h1>", {}), {"proxy_lease": "1"}, "ok", [True]),
    ],
)
def test_a_verdict_is_told_where_it_is_about_the_site(
    answer: tuple[int, bytes, dict[str, str]], meta: dict[str, Any], verdict: str, told: list[bool]
) -> None:
    settings = Settings()
    settings.setmodule("settings.test")
    crawler = Crawler(Spider, settings)
    crawler.stats = StatsCollector(crawler)
    heard: list[bool] = []
    worker_of(crawler).verdict_listeners.listen(lambda _, good, weight: heard.append(good))
    request = Request(URL, meta=meta)
    status, body, headers = answer
    html = {"Content-Type": "text/html", **headers}
    response = HtmlResponse(URL, status=status, body=body, headers=html)
    Detect.from_crawler(crawler).process_response(request, response)
    assert request.meta[VERDICT] == verdict
    assert heard == told
