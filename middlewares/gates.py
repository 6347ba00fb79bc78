"""Sends the cookie of a passed gate as it is now, and lets each page that leads to a gate reach it.

A request may have waited in the frontier since before the gate was passed, or for longer than its
cookie was valid. A gate's page to which all pages lead is one address, which the frontier would
take for known from the second page on, so that the page would be lost.
"""

from __future__ import annotations

from typing import Any, Self
from urllib.parse import urljoin

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.extract.limited_dict import Newest
from crawler.extract.links.gate_cookies import GATE_BOUND, GATE_PROXY, GateCookies
from scrapy_seine import meta as m
from scrapy_seine.engine.headers import has_header, header
from scrapy_seine.urls import slot

#: Statuses of a redirect that holds for this time only; a page that moved leads to no gate.
_FOR_NOW = frozenset({302, 303, 307})
#: Redirects to one address that get a scope, and addresses that are counted. More redirects are
#: those of gone products to a page of the shop, unless the spider knows that page as a gate.
_MOST_LED, _MOST_TARGETS = 100, 10_000


class Gates:
    """Serves the spider's `gate_cookies`; without them it only looks at seeds' redirects."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._led: Newest[int] = Newest(int, _MOST_TARGETS)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Serve the crawler's spider."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Set the cookie of the request's host, if it is known and the request has no valid one."""
        cookies: Any = getattr(self.crawler.spider, "gate_cookies", None)
        if not cookies:
            return
        sent = header(request, "Cookie")
        cookie = cookies.to_send(slot(request.url), sent)
        if cookie == sent:
            return
        request.headers["Cookie"] = cookie
        if not sent:  # it is this worker's, not the request's
            request.meta[m.BORROWED] = [*request.meta.get(m.BORROWED, ()), "cookie"]

    def process_response(self, request: Request, response: Response) -> Response:
        """Give a redirect that may lead to a gate a scope of its own."""
        if response.status in _FOR_NOW and m.SCOPE not in request.meta:
            is_seed = not request.meta.get(m.DEPTH)
            if is_seed or has_header(request, "Cookie"):
                job = str(request.meta.get(m.JOB_ID) or "")
                cookie, target = header(request, "Cookie"), header(response, "Location")
                led = f"{job} {cookie} {slot(request.url)} {target}"
                self._led[led] += 1
                if self._led[led] <= _MOST_LED or self._is_gate(request.url, target):
                    request.meta[m.SCOPE] = f"{job} from {request.url}"[: m.LONGEST_SCOPE]
        return response

    def _is_gate(self, url: str, target: str) -> bool:
        """Whether the spider has seen that a redirect leads to a gate, and to no page of a shop."""
        try:
            page = urljoin(url, target)
        except ValueError:  # http://[ is none
            return False
        return page in getattr(self.crawler.spider, "gate_pages", ())


def note_gate_proxy(request: Request, cookies: GateCookies | None) -> None:
    """Note through which proxy the gate's cookie was set that a request is sent with."""
    if not cookies:
        return
    host = slot(request.url)
    if (cookie := cookies.of(host)) and cookies.to_send(host, header(request, "Cookie")) == cookie:
        request.meta[GATE_PROXY], request.meta[GATE_BOUND] = cookies.proxy_of(host)
