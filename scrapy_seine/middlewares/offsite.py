"""Drops requests that leave a spider's domains; spiders without domains skip the check."""

from __future__ import annotations

from scrapy import Request, Spider, signals
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.exceptions import IgnoreRequest

from scrapy_seine.engine.lease.outcomes import Ignored


class Offsite(OffsiteMiddleware):
    """Scrapy's own, which parses each URL twice, though most spiders allow any domain.

    Domains that a spider sets while it runs apply from the download on, because links are not
    checked then.
    """

    def spider_opened(self, spider: Spider) -> None:
        """Check links only if the spider has allowed domains."""
        super().spider_opened(spider)
        if not getattr(spider, "allowed_domains", None):
            self.crawler.signals.disconnect(self.request_scheduled, signals.request_scheduled)

    def process_request(  # type: ignore[override]  # Scrapy's second argument is on its way out
        self, request: Request
    ) -> None:
        """Check a request.

        Raises:
            Ignored: its host is in none of the spider's domains.
        """
        if not getattr(self.crawler.spider, "allowed_domains", None):
            return
        try:
            super().process_request(request)
        except IgnoreRequest as error:
            raise Ignored("offsite", str(error)) from None
