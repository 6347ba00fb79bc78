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

from crawler.access.proxies.operator_list import ProxyList
from crawler.access.proxies.ways_out import WaysOut, way_out
from crawler.extract.links.registered_domain import site_of
from middlewares.proxies import LEASE, PROXY_ID, Proxies
from scrapy_seine.engine.headers import header
from scrapy_seine.once_a_minute import OnceAMinute

logger = logging.getLogger(__name__)
#: Key of `request.meta`: the other site to which the request was led first, by which proxy, and
#: how often it was sent since.
_LED = "proxy_led"


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
        meta = request.meta
        target = way_out(request.url, response.status, header(response, "Location"))
        proxy, before = str(meta.get(PROXY_ID) or ""), meta.pop(_LED, None)
        is_page = before is not None and before[1] != proxy and not target
        if is_page and response.status < HTTPStatus.BAD_REQUEST:
            self.ways.contradict(before[1], before[0])
        proxies = self.crawler.get_downloader_middleware(Proxies) if target else None
        if proxies is None or LEASE not in meta:
            return response
        site = site_of(request.url)
        looks = before[2] if before is not None else 0
        first = before and (before[0], before[1])
        verdict = self.ways.judge(site, target, proxy, first, looks)
        if verdict == "page":
            await proxies.report(request, "good")
            return response
        if verdict == "again":
            meta[_LED] = [*(first or (target, proxy)), looks + 1]
            return await proxies.look_again(request, f"led to {target}")
        if self._logged.is_due((proxy, target)):
            logger.warning(
                "proxy %s leads from %s to %s, and others do not: it is banned there",
                *(proxy, site, target),
            )
        reason = f"led to {target} through {proxy}"
        return await proxies.settle(request, True, reason) or response
