"""Skips dead ends, and pages known under another session id (crawler.extract.links)."""

from __future__ import annotations

import logging
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler

from crawler.extract.links.choice import PRIORITY
from crawler.extract.links.narrowings import NARROWS, Narrowings
from crawler.extract.links.sitemap_check import SitemapCheck
from scrapy_seine import meta as m
from scrapy_seine.engine.lease.outcomes import Ignored
from scrapy_seine.printable import printable

logger = logging.getLogger(__name__)
RULE = "dead end"
#: Priorities of requests for pages that are no product's and no listing's further page.
_LISTING_PRIORITIES = (PRIORITY["listing"], PRIORITY["other"])


class DeadEnds:
    """Ignores links with URLs of the shapes that the spider has learned to lead to nothing."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Serve the crawler's spider; without learned shapes every request passes."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Pass a request on.

        Raises:
            Ignored: pages with URLs of its shape led to nothing, or its URL differs from a known
                one in a session parameter only.
        """
        spider = self.crawler.spider
        ends: Any = getattr(spider, "dead_ends", None)
        visits: Any = getattr(spider, "visits", None)
        check: Any = getattr(spider, "sitemap_check", None)
        narrowings: Any = getattr(spider, "narrowings", None)
        left_out_copy: Any = getattr(spider, "is_left_out_copy", None)
        is_other = bool(check) and request.priority == PRIORITY["other"]
        is_active = (
            (ends and ends.shapes)
            or (visits and visits.has_names)
            or (narrowings and narrowings.has_places)
        )
        if not is_active and not is_other:
            return
        meta = request.meta
        if not meta.get(m.DEPTH) or m.KNOWN in meta or request.callback is not None:
            return  # a seed, a known product's page, or a page of a search
        site_id = str(meta.get(m.SITE_ID) or "")
        if (
            is_other
            and left_out_copy is not None
            and left_out_copy(url=request.url, site_id=site_id)
        ):
            raise Ignored(RULE, "it is the shop in another language or for another country")
        if is_other and self._is_in_sitemap(request, check):
            raise Ignored(RULE, "the site's sitemap lacks none of the products that pages link to")
        if ends and ends.is_dead_end(request.url):
            raise Ignored(RULE, "pages of addresses like this one led to nothing")
        if narrowings and self._only_narrows(request, narrowings):
            raise Ignored(RULE, "pages of its place showed no further product")
        job = str(meta.get(m.JOB_ID) or "")
        if m.SCOPE in meta:
            return  # the page is asked for again on purpose
        if visits and (visits.is_known(job, request.url) or self._is_settled(request)):
            raise Ignored(
                RULE,
                "its page is known under an address of other folders or another visit",
            )

    @staticmethod
    def _only_narrows(request: Request, narrowings: Narrowings) -> bool:
        """Whether a request is that of a facet, tag or brand whose like showed nothing further."""
        job, root = (str(request.meta.get(key) or "") for key in (m.JOB_ID, NARROWS))
        return request.priority in _LISTING_PRIORITIES and narrowings.leaves_out(
            job, request.url, root
        )

    def _is_in_sitemap(self, request: Request, check: SitemapCheck) -> bool:
        """Whether the site's sitemap has all products to which such a page may lead."""
        job = str(request.meta.get(m.JOB_ID) or "")
        if not check.leaves_out(request.url, job):
            return False
        if check.is_first(request.url, job):
            logger.info(
                "%s: it and the site's other articles, brands and notices are left out, because"
                " the sitemap lacks none of the products that pages link to",
                printable(request.url),
            )
        return True

    def _is_settled(self, request: Request) -> bool:
        """Whether the page is known without what canonicals drop, or at its host's first origin."""
        spider: Any = self.crawler.spider
        job = str(request.meta.get(m.JOB_ID) or "")
        settled = spider.visits.settled(request.url, job)
        return settled != request.url and bool(spider.knows(settled, job or m.run_of(request.meta)))
