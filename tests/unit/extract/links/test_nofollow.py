"""X-Robots-Tag says whose its directives are, and each header of that name counts."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract.links.nofollow import directives_for, of_page
from spiders.catalog import CatalogSpider

URL = "https://shop.example/c/all"


@pytest.mark.parametrize(
    ("headers", "is_meant"),
    [
        (["nofollow", "noarchive"], True),
        (["noarchive", "NONE"], True),
        (["otherbot: noindex, nofollow"], False),
        (["otherbot: noindex, seine: nofollow"], True),
        (["*: nofollow"], True),
        (["otherbot: noindex", "nofollow"], True),
        (["max-snippet: 20, nofollow"], True),
        (["unavailable_after: Friday, 25-Jun-10 15:00:00 PST, nofollow"], True),
        (["nofollow-not", "index: nofollow"], False),
        ([":", "a" * 99_999 + ": nofollow"], False),
        (["noindex:nofollow"], False),
        ([], False),
    ],
)
def test_directives_count_for_the_robot_that_they_name(headers: list[str], is_meant: bool) -> None:
    assert of_page(directives_for(headers, "Seine (+https://otherbot.example/)")) is is_meant


@pytest.mark.parametrize(
    ("headers", "followed"),
    [
        (["otherbot: noindex, nofollow"], 1),
        (["nofollow", "noarchive"], 0),
        (["lamps: nofollow"], 0),
        ([], 1),
    ],
)
def test_the_spider_follows_the_links_that_the_headers_leave_it(
    headers: list[str], followed: int
) -> None:
    """One directive for another robot hid a whole shop, and the first of two headers was unread."""
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {"USER_AGENT": "Lamps/1.0"})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    body = b"<html><h1>Lamps</h1><a href=/c/lamps>All lamps</a></html>"
    fields = {"X-Robots-Tag": list(headers)}
    response = HtmlResponse(URL, body=body, headers=fields, request=Request(URL))
    assert len([x for x in spider.parse(response) if isinstance(x, Request)]) == followed
