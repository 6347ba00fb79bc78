"""An extension that wants no more of some downloads."""

from __future__ import annotations

from typing import Any, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload


class Stops:
    """Stops what is at `/stop-head…` at its head, at `/stop-body…` at the first of its body."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        stops = cls()
        crawler.signals.connect(stops.head, signals.headers_received)
        crawler.signals.connect(stops.body, signals.bytes_received)
        return stops

    def head(self, headers: Any, request: Request) -> None:
        assert headers["Content-Type"] == b"text/html"
        if "/stop-head" in request.url:
            raise StopDownload(fail="fail" in request.url)

    def body(self, data: bytes, request: Request) -> None:
        assert data
        if "/stop-body" in request.url:
            raise StopDownload(fail="fail" in request.url)
