"""Scrapy's cookies, shared by the fleet; loaded only if they are enabled."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from scrapy_seine.engine.fastpath import scrapy_internals

if TYPE_CHECKING:
    from scrapy.downloadermiddlewares.cookies import CookiesMiddleware


class Cookies:
    """Makes the middleware: importing it takes 0.05 s, as Scrapy's imports an HTTP client."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CookiesMiddleware:
        """Make it.

        Raises:
            NotConfigured: COOKIES_ENABLED is off.
            ConfigError: a setting is wrong.
        """
        if not crawler.settings.getbool("COOKIES_ENABLED"):
            raise NotConfigured
        if not scrapy_internals.available("fleet cookies"):
            return own_jars(crawler)
        from scrapy_seine.middlewares.fleet_cookies import FleetCookies

        return FleetCookies.from_crawler(crawler)


def own_jars(crawler: Crawler) -> CookiesMiddleware:
    """Make Scrapy's own middleware, whose jars belong to this worker only."""
    from scrapy.downloadermiddlewares.cookies import CookiesMiddleware

    from scrapy_seine.middlewares.cookie_limit import Jar

    middleware = CookiesMiddleware.from_crawler(crawler)
    middleware.jars = defaultdict(Jar)
    return middleware
