"""Pages of a shape that leads nowhere are not fetched (crawler.extract.links.dead_ends)."""

from __future__ import annotations

from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler

from scrapy_seine import meta as m
from scrapy_seine.engine.lease.outcomes import Ignored

RULE = "dead end"


class DeadEnds:
    """Ignores links of the shapes that the spider found to lead nowhere."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Serve the crawler's spider; one that learns no such shapes loses nothing."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Let a request pass.

        Raises:
            Ignored: pages of its address's shape led nowhere.
        """
        known: Any = getattr(self.crawler.spider, "dead_ends", None)
        if known is None or not known.shapes:
            return
        meta = request.meta
        if not meta.get(m.DEPTH) or m.KNOWN in meta or request.callback is not None:
            return  # a seed, a known product's page, or a page of a search
        if known.is_one(request.url):
            raise Ignored(RULE, "pages of addresses like this one led to nothing")
