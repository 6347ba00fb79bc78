"""What a worker logs of each page."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import Settings

from scrapy_seine.engine.telemetry.logs import PageLines

URL = "http://127.0.0.1/"


@pytest.mark.parametrize(
    ("level", "told"),
    [("DEBUG", True), ("INFO", False), (logging.DEBUG, True), (logging.ERROR, False), (None, True)],
)
def test_pages_are_told_of_where_the_level_lets_them_through(level: Any, told: bool) -> None:
    lines = PageLines.from_crawler(Crawler(Spider, Settings({"LOG_LEVEL": level})))
    spider = Spider("test")
    assert (lines.crawled(Request(URL), Response(URL), spider) is not None) is told
    assert (lines.scraped({}, Response(URL), spider) is not None) is told
