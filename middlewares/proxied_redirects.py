"""Judges redirects, which may be a proxy's own: a portal leads each page to its login.

It runs before redirects are followed, which ends the chain before `Proxies` sees the response.
"""

from __future__ import annotations

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.access.proxies.operator_list import ProxyList
from middlewares.proxies import LEASE, Proxies
from scrapy_seine.engine.headers import has_header


class ProxiedRedirects:
    """Passes redirects that came through proxies to `Proxies`."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

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
        is_redirect = 300 <= response.status < 400 and has_header(response, "Location")  # noqa: PLR2004
        proxies = self.crawler.get_downloader_middleware(Proxies) if is_redirect else None
        if proxies is None or LEASE not in request.meta:
            return response
        return await proxies.judge(request, response)
