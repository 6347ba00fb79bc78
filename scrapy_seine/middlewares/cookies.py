"""Scrapy's cookies, shared by the fleet; loaded where they are enabled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from scrapy_seine.middlewares.fleet_cookies import FleetCookies


class Cookies:
    """Makes the middleware: to import it takes 0.05 s, as Scrapy's brings an HTTP client."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FleetCookies:
        """Make it.

        Raises:
            NotConfigured: COOKIES_ENABLED is off.
            ConfigError: a setting is wrong.
        """
        if not crawler.settings.getbool("COOKIES_ENABLED"):
            raise NotConfigured
        from scrapy_seine.middlewares.fleet_cookies import FleetCookies

        return FleetCookies.from_crawler(crawler)
