"""Compressed answers are unpacked; one that grows beyond all bounds is set aside, not forgotten."""

from __future__ import annotations

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from scrapy_seine.engine.inflight import InFlightTable
from scrapy_seine.engine.worker import worker_of


class Decompress(HttpCompressionMiddleware):
    """Scrapy's own, which raises where DOWNLOAD_MAXSIZE is passed: the page would count as done."""

    inflight: InFlightTable

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read Scrapy's own settings.

        Raises:
            NotConfigured: COMPRESSION_ENABLED is off.
        """
        middleware = super().from_crawler(crawler)
        middleware.inflight = worker_of(crawler).inflight
        return middleware

    def process_response(  # type: ignore[override]  # Scrapy's third argument is on its way out
        self, request: Request, response: Response
    ) -> Request | Response:
        """Unpack the body.

        Raises:
            IgnoreRequest: it is too large.
        """
        try:
            return super().process_response(request, response)
        except IgnoreRequest as error:
            self.inflight.retry(request, kind="size", reason=str(error))
            raise
