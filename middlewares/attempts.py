"""Writes a row to the log of attempts for each download."""

from __future__ import annotations

from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response

from crawler.access.detect import VERDICT
from crawler.storage import Storage, storage_of
from crawler.stores.attempts import Attempt
from scrapy_seine import meta as m
from scrapy_seine.engine.download.lanes import lane_of
from scrapy_seine.lenient_parsing import whole_number
from scrapy_seine.printable import redact
from scrapy_seine.urls import domain

_OK = 400
_REDIRECTS = {301, 302, 303, 307, 308}


class Attempts:
    """Records responses and failures.

    It runs after the detection, whose verdict is the outcome, and before the middlewares that
    return a request. Requests that another middleware answered or refused are no attempts.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's storage.

        Raises:
            ConfigError: a setting is wrong.
            NotConfigured: SEINE_ATTEMPTS is off.
        """
        storage = storage_of(crawler)
        if not storage.config.attempts:
            raise NotConfigured  # without a message, because Scrapy would log it as a warning
        return cls(storage)

    def process_response(self, request: Request, response: Response) -> Response:
        """Record a response."""
        if "cached" not in response.flags:
            status = response.status
            usual = "ok" if status < _OK else f"http {status}"
            verdict = request.meta.get(VERDICT) or usual
            outcome = usual if verdict == "ok" else verdict
            self._note(request, outcome, status=status, size=size_of(response))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Record a failure."""
        if not isinstance(exception, IgnoreRequest):
            self._note(request, type(exception).__name__)

    def _note(self, request: Request, outcome: str, **fields: int) -> None:
        try:
            host = domain(request.url)
        except ValueError:
            return  # a data: URL is no attempt at a site
        meta = request.meta
        latency_s = meta.get("download_latency")
        attempt = Attempt(
            url=redact(request.url),
            domain=host,
            outcome=outcome,
            site_id=meta.get(m.SITE_ID),
            job_id=meta.get(m.JOB_ID),
            task_id=meta.get(m.TASK_ID),
            worker=self.storage.worker,
            proxy_provider=meta.get("proxy_provider"),
            proxy_id=meta.get("proxy_id"),
            lane=lane_of(request),
            retry=whole_number(meta.get(m.RETRY_COUNT)),
            duration_ms=None if latency_s is None else round(latency_s * 1000),
            **fields,
        )
        self.storage.store_attempt(attempt)


class Redirects(Attempts):
    """Records redirects, which the redirect middleware takes before `Attempts` runs."""

    def process_response(self, request: Request, response: Response) -> Response:
        """Record a redirect."""
        if response.status in _REDIRECTS and "Location" in response.headers:
            return super().process_response(request, response)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Nothing: `Attempts` records failures."""


def size_of(response: Response) -> int:
    """Bytes of the response as sent (Content-Length), else of its decoded body."""
    raw: Any = response.headers.get("Content-Length") or b""
    return int(raw) if raw.isdigit() and len(raw) < 16 else len(response.body)  # noqa: PLR2004
