"""Requests once more, through another proxy, what a proxy redirects to another site.

It runs before redirects are followed, which ends the chain before `Proxies` sees the response.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.access.proxies.doubtful_pages import name_of, note
from crawler.access.proxies.operator_list import ProxyList
from crawler.access.proxies.ways_out import Led, WaysOut, way_out
from crawler.extract.links.registered_domain import site_of
from middlewares.proxies import LEASE, PROXY_ID, Proxies
from scrapy_seine.engine.headers import header
from scrapy_seine.once_a_minute import OnceAMinute

logger = logging.getLogger(__name__)
#: Key of `request.meta`: the fields of `Led`, of the other site to which the request was led first.
_LED = "_proxy_led"


class WaysOutOfSites:
    """Judges redirects to other sites, which may be a proxy's own: a portal's login."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.ways = WaysOut()
        self._logged = OnceAMinute()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Serve the crawler's proxies.

        Raises:
            NotConfigured: there is no list of proxies.
        """
        if not ProxyList.from_settings(crawler.settings):
            raise NotConfigured  # without a message, because Scrapy would log it as a warning
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """Pass a response on, or request it once more."""
        meta, site = request.meta, site_of(request.url)
        target = way_out(request.url, response.status, header(response, "Location"))
        proxy, before = str(meta.get(PROXY_ID) or ""), meta.pop(_LED, None)
        before = Led(*before) if before is not None else None
        is_page = before is not None and before.proxy != proxy and not target
        if before is not None and is_page and response.status < HTTPStatus.BAD_REQUEST:
            note(request, self.ways.contradict(site, before, name_of(request)))
        proxies = self.crawler.get_downloader_middleware(Proxies) if target else None
        if proxies is None or LEASE not in meta:
            return response
        led = Led(target, proxy, proxies.source_of(proxy))
        verdict = self.ways.judge(site, led, before, name_of(request))
        if verdict in {"page", "followed"}:
            # Of what is followed without proof no proxy is good, or its ban by others would end.
            await proxies.report(request, "good" if verdict == "page" else "unknown")
            return response
        if verdict == "again":
            first = before or led
            pages = [*first.pages, *self.ways.take_along(site, first.target)]
            meta[_LED] = [first.target, first.proxy, first.source, first.looks + 1, pages]
            return await proxies.look_again(request, f"led to {target}")
        if self._logged.is_due((proxy, target)):
            logger.warning(
                "proxy %s leads from %s to %s, and others do not: it is banned there",
                *(proxy, site, target),
            )
        reason = f"led to {target} through {proxy}"
        return await proxies.reject(request, reason) or response
