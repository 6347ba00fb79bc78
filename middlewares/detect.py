"""Gives each response a verdict, on which the later middlewares act."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response, TextResponse
from scrapy.statscollectors import StatsCollector

from crawler.access.detect import BAD, OK, REFUSED, REFUSED_AT, RULE, VERDICT, Page, judge
from crawler.access.page_sizes import Sizes
from crawler.access.page_sizes_shared import LATER_S, SOON_S, SharedPageSizes
from crawler.access.proxies.odd_pages import is_open_ended
from crawler.extract.links.gate_cookies import GATE_PRESSED
from crawler.requested_address import requested_url
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.politeness.verdict_listeners import VerdictListeners
from scrapy_seine.urls import slot


class Detect:
    """Judges responses (crawler.access.detect); Retry requests the refused ones again.

    A request's `meta["expect"]` lists literal pieces of HTML of which a good page holds one;
    SEINE_EXPECT does so for the whole crawl. It runs before the proxies' middleware and Retry,
    because a middleware that returns a request ends the chain.
    """

    def __init__(
        self, stats: StatsCollector, verdicts: VerdictListeners, expected: tuple[str, ...]
    ) -> None:
        self.stats = stats
        self.verdicts = verdicts
        self.expected = tuple(piece.encode() for piece in expected)
        self.sizes = Sizes()
        self.share: Callable[[float], None] = lambda after_s: None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings.

        Raises:
            NotConfigured: SEINE_DETECT is off.
        """
        if not crawler.settings.getbool("SEINE_DETECT"):
            raise NotConfigured  # without a message, because Scrapy would log it as a warning
        assert crawler.stats is not None
        expected = tuple(crawler.settings.getlist("SEINE_EXPECT"))
        middleware = cls(crawler.stats, worker_of(crawler).verdict_listeners, expected)
        sharing = SharedPageSizes(crawler, middleware.sizes)
        middleware.share = sharing.schedule
        crawler.signals.connect(sharing.closed, signals.spider_closed)
        return middleware

    def process_response(self, request: Request, response: Response) -> Response:
        """Write the verdict into meta, and count it."""
        response = _in_utf8(response)
        finding = judge(self.page(request, response))
        if finding.rule == "no-body" and _may_be_missing(request):
            finding = OK
        if finding.rule == "forbidden" and GATE_PRESSED in request.meta:
            finding = OK  # the form refuses what was sent, and no visitor: it was just shown
        request.meta[VERDICT], request.meta[RULE] = finding.verdict, finding.rule
        self.stats.inc_value(f"access/{finding.verdict}")
        good = finding.verdict == "ok"
        if good:
            self._learn(request, response)
            self.share(SOON_S if self.sizes.new_kinds else LATER_S)
        else:
            self.stats.inc_value(f"access/rule/{finding.rule}")
        # For a refusal through a proxy of the pool, Proxies decides whether to blame the site.
        about_proxy = finding.verdict in REFUSED and "proxy_lease" in request.meta
        about_site = finding.verdict in BAD and not about_proxy
        if good or (about_site and not _hands_out_its_key(request, response, finding.rule)):
            self.verdicts.notify(request, good)
        return response

    def page(self, request: Request, response: Response) -> Page:
        """Collect a response's values that the rules need."""
        pieces = request.meta.get("expect")
        expected = tuple(str(p).encode() for p in pieces) if pieces else self.expected
        return Page(
            status=response.status,
            url=response.url,
            requested_url=requested_url(request),
            headers=_headers(response),
            body=response.body,
            expected=expected,
            usual_size=self.sizes.usual(_kind_of_page(request)),
            truncated="dataloss" in response.flags or _may_be_cut(response),
        )

    def _learn(self, request: Request, response: Response) -> None:
        """Update the site's usual page size: a moving average for each callback."""
        if response.status == 200 and isinstance(response, TextResponse):  # noqa: PLR2004
            self.sizes.learn(_kind_of_page(request), len(response.body))


def _in_utf8(response: Response) -> Response:
    """Convert a UTF-16 page to UTF-8, because all parsers search its bytes."""
    if b"\0" not in response.body[:4] or not isinstance(response, TextResponse):
        return response
    if not response.encoding.startswith("utf-16"):
        return response
    return response.replace(body=response.text.encode(), encoding="utf-8")


def _may_be_cut(response: Response) -> bool:
    """Whether a response of unknown length may be truncated.

    HTTP/1.0 servers, and scripts behind others, end a complete response by closing the connection.
    Such a page is complete only if it closes its <html> or <body>.
    """
    if "partial" not in response.flags or not isinstance(response, TextResponse):
        return False
    return is_open_ended(response.body)


def _may_be_missing(request: Request) -> bool:
    """Whether the spider asks if there is such a page: empty, it ends a listing as a 404 does."""
    return HTTPStatus.NOT_FOUND in request.meta.get("handle_httpstatus_list", ())


def _hands_out_its_key(request: Request, response: Response, rule: str) -> bool:
    """Whether sending this response's cookie will return the page; not after the first try."""
    return (
        rule == "cookie-wall"
        and "Set-Cookie" in response.headers
        and REFUSED_AT not in request.meta
    )


def _kind_of_page(request: Request) -> str:
    return f"{slot(request.url)} {getattr(request.callback, '__name__', '')}"


#: Headers that the rules use, because decoding all headers would cost more than the rules.
_NEEDED = frozenset(
    (
        b"Content-Type",
        b"Location",
        b"Retry-After",
        b"Cf-Mitigated",
        b"X-Amzn-Waf-Action",
        b"X-Vercel-Mitigated",
        b"X-Squid-Error",
    )
)


def _headers(response: Response) -> dict[str, str]:
    values = {}
    for name in _NEEDED & response.headers.keys():
        value = response.headers.get(name)
        if value:
            values[name.decode().lower()] = value.decode("latin-1")
    return values
