"""Exit status 1 of `scrapy fetch`, `view` and `parse` where no page reached the spider.

Scrapy ends them with 0 after a refused connection, a rule of robots.txt, or a status that the
spider does not take: a script that reads their output would go on with nothing. `bench` has no
status but 0, and gets the line alone.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.settings import BaseSettings

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)
#: Nearest to the spider: a page that another middleware took away was not seen.
_PRIORITY = 10_000


class PageSeen:
    """A spider middleware that notes whether there was a page."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.seen = False
        crawler.signals.connect(self._on_engine_stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware of one crawler."""
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        """Note that a page is here."""
        self.seen = True

    def _on_engine_stopped(self) -> None:
        """Have Scrapy's command exit with 1: it does where there is no spider."""
        if not self.seen:
            logger.error("no page reached the spider; the lines above say why")
            self.crawler.spider = None


def fail_without_a_page(settings: BaseSettings | Any) -> None:
    """Add the middleware to the settings of a command that looks at a page."""
    settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", PageSeen, _PRIORITY)
