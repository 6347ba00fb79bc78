"""Sends failed downloads back to the frontier, delayed by backoff, not around in the process.

Downloads of a project's own code (a pipeline's files) are not the frontier's: as in Scrapy they are
tried again at once, in the next slot of their site.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name
from scrapy.utils.response import response_status_message

from scrapy_seine import meta as m
from scrapy_seine.config import number
from scrapy_seine.engine.download import own_faults
from scrapy_seine.engine.headers import header
from scrapy_seine.engine.lease.error_text import describe
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import AddressRefused, PageUnreadable, StoreUnreachable
from scrapy_seine.politeness.retry_after import date_of, retry_after_s

_TOO_MANY = 429
#: From this status on the status describes the answer; below it a page may be broken.
_ERRORS = 400
#: Kinds of failure that the page's content shows, not its status.
_JUDGED = frozenset({"ban", "broken"})
#: The rule of the verdict on an answer without a byte, and the status with which it is no answer.
_NO_BODY, _OK = "no-body", 200
#: Exceptions of Scrapy's own clients are looked up when these are loaded: that takes 0.1 s, and
#: most workers never need them.
_HANDLERS = "scrapy.core.downloader.handlers."
_REFUSALS = frozenset({"blocked", "captcha"})
_TIMEOUTS = ("Timeout", "TimedOut")


class Retry:
    """Retries by kind of failure: connection, timeout, 5xx, 429. See frontier.retry_rules."""

    def __init__(
        self,
        crawler: Crawler,
        codes: set[int],
        exceptions: Sequence[type | str],
        limit_s: float,
    ) -> None:
        self.crawler = crawler
        worker = worker_of(crawler)
        self.inflight, self._own = worker.inflight, worker.gate.own
        self.codes = codes
        self.limit_s = limit_s
        self._later = [x for x in exceptions if isinstance(x, str) and x.startswith(_HANDLERS)]
        loaded = (x for x in exceptions if x not in self._later)
        self._exceptions = tuple(load_object(x) if isinstance(x, str) else x for x in loaded)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read Scrapy's own RETRY_ settings.

        Raises:
            NotConfigured: RETRY_ENABLED is off.
        """
        settings = crawler.settings
        if not settings.getbool("RETRY_ENABLED"):
            raise NotConfigured  # without a message, as Scrapy's own: a message is a warning
        exceptions = settings.getlist("RETRY_EXCEPTIONS")
        codes = {int(code) for code in settings.getlist("RETRY_HTTP_CODES")}
        limit_s = number(settings, "SEINE_BLOCK_LIMIT_SECONDS", 3600)
        return cls(crawler, codes, exceptions, limit_s)

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Send the request back if the status or the verdict says that later may be better.

        Raises:
            IgnoreRequest: after the last try a successful status still has no page: broken, a
            CAPTCHA, a notice that the visitor is blocked. No spider should parse it.
        """
        kind = _kind_of(request, response, self.codes)
        if not kind:
            return response
        if request in self._own:
            if response.status not in self.codes:
                return response
            return self._again(request, response_status_message(response.status)) or response
        wait_s = asked_s(response)
        if wait_s is not None:
            wait_s = min(wait_s, self.limit_s)
        reason = f"HTTP {response.status}"
        if kind in _JUDGED:
            reason = f"{request.meta[m.VERDICT]}: {request.meta[m.RULE]} ({reason})"
        back = self.inflight.retry(request, kind=kind, reason=reason, wait_s=wait_s)
        if response.status in self.codes:
            self._count(request, back, response_status_message(response.status))
        no_page = kind in _JUDGED and response.status < _ERRORS  # errors reach no spider anyway
        if back is None and no_page and self.inflight.entry_of(request) is not None:
            raise IgnoreRequest(reason)  # the request is buried: it would make wrong products
        return back or response

    def process_exception(self, request: Request, exception: Exception) -> Any:
        """Send the request back if the connection failed."""
        if isinstance(exception, AddressRefused):
            self.inflight.bury(request, "address", str(exception))
            return None
        if isinstance(exception, PageUnreadable):
            self.inflight.bury(request, "unreadable", str(exception))
            return None
        if isinstance(exception, StoreUnreachable):
            return self.inflight.retry_download(request, kind="store", reason=describe(exception))
        if request in self._own:
            return self._again(request, exception) if self.tries_again(exception) else None
        name = type(exception).__name__
        if not request.meta.get("dont_retry") and (reason := own_faults.log_own_fault(exception)):
            wait_s = own_faults.wait_s()
            return self.inflight.wait_for(request, kind="network", reason=reason, wait_s=wait_s)
        if isinstance(exception, DownloadCancelledError):  # larger than DOWNLOAD_MAXSIZE
            return self.inflight.retry_download(request, kind="size", reason=describe(exception))
        if not self.tries_again(exception):
            return None
        kind = "timeout" if any(part in name for part in _TIMEOUTS) else "connection"
        back = self.inflight.retry_download(request, kind=kind, reason=describe(exception))
        self._count(request, back, global_object_name(type(exception)))
        return back

    def _again(self, request: Request, reason: str | Exception) -> Request | None:
        """Try a project's own download again by Scrapy's rule; None: it has no try left."""
        spider = self.crawler.spider
        if spider is None or request.meta.get("dont_retry"):
            return None
        again: Request | None = get_retry_request(request, spider=spider, reason=reason)
        return again

    def _count(self, request: Request, again: Request | None, reason: str) -> None:
        """Count under Scrapy's names, because a project's monitors read them."""
        stats = self.crawler.stats
        if again is not None:
            stats.inc_value("retry/count")
            stats.inc_value(f"retry/reason_count/{reason}")
        elif not request.meta.get("dont_retry") and self.inflight.entry_of(request) is not None:
            stats.inc_value("retry/max_reached")

    def tries_again(self, exception: Exception) -> bool:
        """Whether RETRY_EXCEPTIONS has an exception's class."""
        for name in [x for x in self._later if x.rpartition(".")[0] in sys.modules]:
            self._later.remove(name)
            self._exceptions += (load_object(name),)
        return isinstance(exception, self._exceptions)


def asked_s(response: Response) -> float | None:
    """Return the seconds that the server asks to wait, by its own clock, if it does."""
    raw = header(response, "Retry-After")
    if not raw:
        return None
    return retry_after_s(raw, date_of(header(response, "Date")) or datetime.now(UTC))


def _kind_of(request: Request, response: Response, codes: set[int]) -> str:
    """Return the kind of failure, see scrapy_seine.frontier.retry_rules; '' for no failure."""
    verdict = request.meta.get(m.VERDICT, "ok")
    if response.status in (request.meta.get("handle_httpstatus_list") or ()):
        # As in Scrapy a callback that takes a 503 gets the one of the last try.
        if response.status not in codes:
            return ""
    elif verdict in _REFUSALS and not request.meta.get("handle_httpstatus_all"):
        return "ban"
    if verdict == "throttled" or response.status == _TOO_MANY:
        return "429"
    if response.status in codes:
        return "5xx"
    lacks_body = request.meta.get(m.RULE) == _NO_BODY and response.status == _OK
    is_broken = verdict == "broken" or lacks_body
    return "broken" if is_broken and response.status < _ERRORS else ""
