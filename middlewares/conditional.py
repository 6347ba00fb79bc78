"""Pages that are fetched again are asked for on condition: 304 costs no body and no parsing."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.access.detect import VERDICT
from crawler.http_validators import KEY, Validators, from_meta, validators_in
from crawler.stores.rows import Confirmed, Seen, Vanished
from crawler.writer_bridge import Storage, storage_of
from scrapy_seine import meta as m
from scrapy_seine.engine.headers import header
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.outcomes import Ignored
from scrapy_seine.engine.stored.serializer import own_address
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.urls import tidy

_NOT_THERE = (404, 410)
_HEADERS = ("If-None-Match", "If-Modified-Since")
_READ = ("ETag", "Last-Modified", "Date")


class Ask:
    """Puts the conditions on a request whose page's state is known.

    It stands nearer to the network than whoever dresses the request as a browser.
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
        known = from_meta(request.meta.get(KEY))
        if known is None:
            return
        for name in _HEADERS:
            request.headers.pop(name, None)
        # Where a redirect leads is another page, and another parser must see the page itself.
        if request.meta.get("redirect_urls") or known[1] != self.storage.parser(request.url):
            del request.meta[KEY]
            return
        headers = known[0].headers()
        request.headers.update(headers)
        borrowed = [name.lower() for name in headers]
        request.meta[m.BORROWED] = [*request.meta.get(m.BORROWED, ()), *borrowed]


class Answer:
    """Ends a request whose page is unchanged, once that is stored; keeps the state of other pages.

    A known product whose page is not there is marked as gone.

    It stands behind the retries: by then an answer is one that the spider would see.
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
        """Let a page pass; take a 304 for what it is worth.

        Raises:
            Ignored: the page is unchanged, and there is nothing more to do about it.
        """
        if response.status == HTTPStatus.OK:
            self._note(request, response)
        elif response.status == HTTPStatus.NOT_MODIFIED and not _wanted(request):
            return self._unchanged(request, response)
        elif response.status in _NOT_THERE and _is_known(request):
            now = self.inflight.now(self.inflight.entry_of(request))
            final = request.meta.get(m.JOB_TYPE) == "recrawl"
            row = Vanished(_site(request), own_address(request), now, final)
            self.storage.vanished(row, self.inflight.hold_for(request))
        return response

    def _note(self, request: Request, response: Response) -> None:
        entry = self.inflight.entry_of(request)
        if entry is not None:
            headers = {name.lower(): header(response, name) for name in _READ}
            entry.seen = validators_in(headers, self.inflight.now(entry))

    def _unchanged(self, request: Request, response: Response) -> Request | Response:
        known, entry = from_meta(request.meta.get(KEY)), self.inflight.entry_of(request)
        asked = known is not None and any(name in request.headers for name in _HEADERS)
        if known is None or entry is None or not asked:
            return self._refuse(request, response, "HTTP 304, and no condition was sent")
        validators, parser = known
        if not validators.fits(header(response, "ETag")):
            # Without the condition the next try brings the page itself.
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
        Seen(etag=validators.etag, last_modified=validators.last_modified, parser=parser),
    )


def _site(request: Request) -> str:
    return str(request.meta.get(m.SITE_ID) or "")


def _is_known(request: Request) -> bool:
    """Whether this is the page of a known product, and its answer no refusal in disguise."""
    kind = request.meta.get(m.JOB_TYPE)
    return kind in {"recrawl", "check"} and request.meta.get(VERDICT, "ok") == "ok"


def _wanted(request: Request) -> bool:
    """Whether the spider asked to see a 304 itself."""
    meta = request.meta
    statuses = meta.get("handle_httpstatus_list") or ()
    return bool(meta.get("handle_httpstatus_all")) or HTTPStatus.NOT_MODIFIED in statuses
