"""What access costs a plain crawl: next to nothing, since what has nothing to do is not there."""

from __future__ import annotations

import time
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from scrapy.statscollectors import StatsCollector
from scrapy.utils.misc import build_from_crawler

from middlewares.detect import Detect
from middlewares.escalate import Escalate
from middlewares.profiles import Profiles
from middlewares.proxies import Proxies
from middlewares.render import Render

#: CPU seconds a page, as promised.
LIMIT_S = 0.00025
PAGES = 2000


def crawler_of(**settings: Any) -> Crawler:
    found = Settings()
    found.setmodule("settings.test")
    found.setdict(settings, priority="cmdline")
    crawler = Crawler(Spider, found)
    crawler.stats = StatsCollector(crawler)
    return crawler


@pytest.mark.parametrize("idle", [Escalate, Profiles, Proxies])
def test_a_middleware_with_nothing_to_do_is_not_there(idle: type) -> None:
    with pytest.raises(NotConfigured):
        build_from_crawler(idle, crawler_of())


def test_a_plain_page_costs_less_than_a_quarter_of_a_millisecond() -> None:
    crawler = crawler_of()
    detect, render = build_from_crawler(Detect, crawler), build_from_crawler(Render, crawler)
    body = b"<html><head><title>Kettle</title></head><body>" + b"<p>A kettle.</p>" * 1200
    headers = {"Content-Type": "text/html; charset=utf-8", "Server": "shop"}
    pairs = []
    for n in range(PAGES):
        request = Request(f"https://shop.example/p/{n}")
        pairs.append((request, HtmlResponse(request.url, body=body, headers=headers)))

    def cost() -> float:
        began = time.process_time()
        for request, response in pairs:
            render.process_request(request)
            detect.process_response(request, response)
        return (time.process_time() - began) / PAGES

    best = min(cost() for _ in range(3))
    print(f"{best * 1e6:.0f} us a page")
    assert best < LIMIT_S
