"""Redirects without a Referer: no site is told where a visitor came from.

Scrapy's own two middlewares warn at each start that the spider middleware that would write the
header is off. It is off on purpose (settings/base.py), so these neither look for it nor warn.
"""

from __future__ import annotations

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import (
    BaseRedirectMiddleware,
    MetaRefreshMiddleware,
    RedirectMiddleware,
)
from scrapy.http import Response


class _Discreet(BaseRedirectMiddleware):
    """Writes no Referer."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read Scrapy's own settings.

        Raises:
            NotConfigured: redirects of this kind are off.
        """
        middleware = cls(crawler.settings)
        middleware.crawler = crawler
        return middleware

    def handle_referer(self, request: Request, response: Response) -> None:
        """Drop what the first request said."""
        request.headers.pop("Referer", None)


class Redirect(_Discreet, RedirectMiddleware):
    """Follows redirects by status."""


class MetaRefresh(_Discreet, MetaRefreshMiddleware):
    """Follows redirects that a page asks for."""
