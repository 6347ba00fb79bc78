"""Redirects, with a Referer only where the spider middleware that writes the header is on.

Scrapy's own two middlewares warn at each start if it is off. In the catalogue it is off on purpose
(settings/base.py), because no site has to learn where a visitor came from, so these do not warn.
"""

from __future__ import annotations

from typing import Self
from urllib.parse import parse_qsl, urljoin, urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import (
    BaseRedirectMiddleware,
    MetaRefreshMiddleware,
    RedirectMiddleware,
)
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.referer import RefererMiddleware

from scrapy_seine.engine.headers import has_header, header
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.set_cookies import cookie_header
from scrapy_seine.urls import domain

#: Bytes of 4096 letters, at most.
_HEAD = 4 * 4096
#: Parameters of a redirect's target that are read.
_MAX_PARAMETERS = 20


class LedNowhere(Exception):
    """The cause of an IgnoreRequest: a request was redirected too often, or to no URL."""


class _Discreet(BaseRedirectMiddleware):
    """Asks for no Referer, and buries a request that is redirected without end."""

    inflight: InFlightTable
    _referer_writer: RefererMiddleware | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read Scrapy's own settings.

        Raises:
            NotConfigured: redirects of this kind are off.
        """
        middleware = cls(crawler.settings)
        middleware.crawler = crawler
        middleware.inflight = worker_of(crawler).inflight
        crawler.signals.connect(middleware._find_referer_writer, signals.engine_started)
        return middleware

    def handle_referer(self, request: Request, response: Response) -> None:
        """Write the header by the project's policy; where its writer is off, there is none."""
        request.headers.pop("Referer", None)
        if self._referer_writer is not None:
            self._referer_writer.get_processed_request(request, response)

    def _find_referer_writer(self) -> None:
        self._referer_writer = self.crawler.get_spider_middleware(RefererMiddleware)

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Follow a redirect; a request redirected too often, or to no URL, fails.

        Raises:
            IgnoreRequest: it has no try left; the cause is a LedNowhere.
        """
        try:
            answer: Request | Response = super().process_response(request, response)  # type: ignore[misc]
            if isinstance(answer, Request) and answer is not request:
                domain(answer.url)
                _keep_cookies(response, answer)
        except (IgnoreRequest, ValueError) as error:
            back = self.inflight.retry(request, kind="redirects", reason=str(error))
            if back is None:
                raise IgnoreRequest(str(error)) from LedNowhere()
            return back
        return answer


class Redirect(_Discreet, RedirectMiddleware):  # type: ignore[misc]  # Scrapy has an old argument
    """Follows redirects by status."""


class MetaRefresh(_Discreet, MetaRefreshMiddleware):
    """Follows redirects that a page asks for."""

    def process_response(  # type: ignore[override]  # as above
        self, request: Request, response: Response
    ) -> Request | Response:
        """Follow a refresh; Scrapy decodes and parses every page to find that it has none.

        Raises:
            IgnoreRequest: it has no try left; the cause is a LedNowhere.
        """
        return super().process_response(request, response) if _asks(response.body) else response


def _keep_cookies(response: Response, target: Request) -> None:
    """Send a redirect's cookies where it leads back, or to a check that names the way back.

    Only the cookie ends such a circle. Another origin gets none, because the cookie is not its own.
    """
    is_same_origin = urlsplit(response.url)[:2] == urlsplit(target.url)[:2]
    if (
        is_same_origin
        and has_header(response, "Set-Cookie")
        and (target.url in target.meta["redirect_urls"] or _names(response.url, target.url))
    ):
        sent = header(target, "Cookie")
        target.headers["Cookie"] = cookie_header(response.headers.getlist("Set-Cookie"), sent)


def _names(url: str, target: str) -> bool:
    """Whether a parameter of the target has the URL that redirects: `?return=%2Flamps`."""
    values = (value for _, value in parse_qsl(urlsplit(target).query)[:_MAX_PARAMETERS])
    return any(urljoin(target, value) == url for value in values if value)


def _asks(body: bytes) -> bool:
    """Whether a page may contain a refresh: Scrapy looks at its first 4096 letters."""
    head = body[:_HEAD].lower()
    # A NUL indicates UTF-16 or another encoding of several bytes, which only Scrapy decodes.
    return (b"refresh" in head and b"http-equiv" in head) or b"\0" in head
