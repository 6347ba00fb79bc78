"""Archives raw responses; a page's lease ends after its object and index row are stored."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.storage import storage_of
from crawler.stores.archive.warc import Headers, Page
from scrapy_seine import meta as m
from scrapy_seine.engine.worker import worker_of

_HIGH = re.compile(rb"[\x80-\xff]")


class Archive:
    """Runs next to the downloader, where bodies are still compressed as sent."""

    def __init__(self, crawler: Crawler) -> None:
        self.storage = storage_of(crawler)
        self.inflight = worker_of(crawler).inflight

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware if an archive is set.

        Raises:
            NotConfigured: SEINE_ARCHIVE is empty.
        """
        if not crawler.settings.get("SEINE_ARCHIVE"):
            raise NotConfigured  # without a message, because Scrapy would log it as a warning
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Queue a page; not a 304, and only for GET, because the archive is indexed by URL."""
        is_page = request.method == "GET" and response.status != HTTPStatus.NOT_MODIFIED
        if is_page and "cached" not in response.flags:
            page = Page(
                url=request.url,
                at=self.inflight.now(self.inflight.entry_of(request)),
                status=response.status,
                headers=headers_of(response),
                body=response.body,
                site_id=request.meta.get(m.SITE_ID),
                job_id=request.meta.get(m.JOB_ID),
            )
            self.storage.archive_page(page, self.inflight.hold_for(request))
        return response


def headers_of(response: Response) -> Headers:
    """All headers as ASCII: no line breaks, other bytes percent-encoded as in URLs."""
    return [
        (_ascii(name), _ascii(value))
        for name, values in response.headers.items()
        for value in values
    ]


def _ascii(raw: bytes) -> str:
    raw = raw.replace(b"\r", b" ").replace(b"\n", b" ")
    return _HIGH.sub(lambda match: b"%%%02X" % match[0][0], raw).decode("ascii")
