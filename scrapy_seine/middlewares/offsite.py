"""Offsite requests leave a spider's domains and are dropped; one without domains pays nothing."""

from __future__ import annotations

from scrapy import Request, Spider, signals
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.exceptions import IgnoreRequest

from scrapy_seine.engine.lease.outcomes import Ignored


class Offsite(OffsiteMiddleware):
    """Scrapy's own, which takes each URL apart twice, though most spiders allow any domain.

    Domains that a spider names only while it runs count from the download on, as there is no look
    at the links any more.
    """

    def spider_opened(self, spider: Spider) -> None:
        """Look at links only where there is something to look for."""
        super().spider_opened(spider)
        if not getattr(spider, "allowed_domains", None):
            self.crawler.signals.disconnect(self.request_scheduled, signals.request_scheduled)

    def process_request(  # type: ignore[override]  # Scrapy's second argument is on its way out
        self, request: Request
    ) -> None:
        """Let a request pass.

        Raises:
            Ignored: its host is in none of the spider's domains.
        """
        if not getattr(self.crawler.spider, "allowed_domains", None):
            return
        try:
            super().process_request(request)
        except IgnoreRequest as error:
            raise Ignored("offsite", str(error)) from None
