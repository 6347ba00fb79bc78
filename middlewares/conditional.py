"""Conditional requests for pages fetched before, because a 304 costs no body and no parsing."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.access.detect import VERDICT
from crawler.conditional_headers import KEY, Validators, from_meta, validators_in
from crawler.requested_address import requested_address
from crawler.storage import Storage, storage_of
from crawler.stores.rows import Confirmed, PageValidators, Vanished
from scrapy_seine import meta as m
from scrapy_seine.engine.headers import header
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.outcomes import Ignored
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.urls import tidy

_NOT_THERE = (404, 410)
_HEADERS = ("If-None-Match", "If-Modified-Since")
_READ = ("ETag", "Last-Modified", "Date")


class Ask:
    """Adds the conditions to a request whose page's state is stored.

    It runs nearer to the network than the middleware that sets a browser's headers.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's storage.

        Raises:
            ConfigError: a setting is wrong.
        """
        return cls(storage_of(crawler))

    def process_request(self, request: Request) -> None:
        """Add If-None-Match and If-Modified-Since for one download."""
        stored = from_meta(request.meta.get(KEY))
        if stored is None:
            return
        for name in _HEADERS:
            request.headers.pop(name, None)
        # A redirect's target is another page, and a new version of the parser needs the body.
        if request.meta.get("redirect_urls") or stored[1] != self.storage.parser(request.url):
            del request.meta[KEY]
            return
        headers = stored[0].headers()
        request.headers.update(headers)
        added = [name.lower() for name in headers]
        request.meta[m.BORROWED] = [*request.meta.get(m.BORROWED, ()), *added]


class Answer:
    """Ends a request whose page is unchanged, once that is stored; keeps other pages' validators.

    A known product whose page is missing is marked as gone.

    It runs after the retries, so that it handles only responses that the spider would receive.
    """

    def __init__(self, storage: Storage, inflight: InFlightTable, stats: Any) -> None:
        self.storage = storage
        self.inflight = inflight
        self.stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's storage.

        Raises:
            ConfigError: a setting is wrong.
        """
        return cls(storage_of(crawler), worker_of(crawler).inflight, crawler.stats)

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Pass a page on; handle a 304.

        Raises:
            Ignored: the page is unchanged, and needs no parsing.
        """
        if response.status == HTTPStatus.OK:
            self._note(request, response)
        elif response.status == HTTPStatus.NOT_MODIFIED and not _accepts_304(request):
            return self._unchanged(request, response)
        elif response.status in _NOT_THERE and _is_known_product(request):
            now = self.inflight.now(self.inflight.entry_of(request))
            final = request.meta.get(m.JOB_TYPE) == "recrawl"
            row = Vanished(_site(request), requested_address(request), now, final)
            self.storage.store_vanished(row, self.inflight.hold_for(request))
        return response

    def _note(self, request: Request, response: Response) -> None:
        entry = self.inflight.entry_of(request)
        if entry is not None:
            headers = {name.lower(): header(response, name) for name in _READ}
            entry.seen = validators_in(headers, self.inflight.now(entry))

    def _unchanged(self, request: Request, response: Response) -> Request | Response:
        stored, entry = from_meta(request.meta.get(KEY)), self.inflight.entry_of(request)
        was_sent = stored is not None and any(name in request.headers for name in _HEADERS)
        if stored is None or entry is None or not was_sent:
            return self._refuse(request, response, "HTTP 304, and no condition was sent")
        validators, parser = stored
        if not validators.fits(header(response, "ETag")):
            # Without the condition the next try returns the page itself.
            del request.meta[KEY]
            return self._refuse(request, response, "HTTP 304 about another state of the page")
        self.stats.inc_value("seine/not_modified")
        row = _confirmed(request, self.inflight.now(entry), validators, parser)
        self.storage.confirm(row, self.inflight.hold_for(request))
        raise Ignored("not modified", "the page is unchanged")

    def _refuse(self, request: Request, response: Response, reason: str) -> Request | Response:
        self.stats.inc_value("seine/not_modified_unasked")
        for name in _HEADERS:
            request.headers.pop(name, None)
        return self.inflight.retry(request, kind="protocol", reason=reason) or response


def _confirmed(request: Request, now: datetime, validators: Validators, parser: str) -> Confirmed:
    return Confirmed(
        _site(request),
        tidy(request.url),
        now,
        request.meta.get(m.JOB_ID),
        PageValidators(etag=validators.etag, last_modified=validators.last_modified, parser=parser),
    )


def _site(request: Request) -> str:
    return str(request.meta.get(m.SITE_ID) or "")


def _is_known_product(request: Request) -> bool:
    """Whether this is a known product's page, and its response no block page."""
    kind = request.meta.get(m.JOB_TYPE)
    return kind in {"recrawl", "check"} and request.meta.get(VERDICT, "ok") == "ok"


def _accepts_304(request: Request) -> bool:
    """Whether the spider handles a 304 itself."""
    meta = request.meta
    statuses = meta.get("handle_httpstatus_list") or ()
    return bool(meta.get("handle_httpstatus_all")) or HTTPStatus.NOT_MODIFIED in statuses
