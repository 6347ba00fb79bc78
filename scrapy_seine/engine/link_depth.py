"""How many links lead to a request: DEPTH_LIMIT, and a line for chains of links without an end.

A calendar, or a callback that makes each next address itself, leads from page to page for ever. The
depth tells it from a large site, whose pages are few links away.

Where Scrapy's DepthMiddleware runs, the depth is what it gave: it knows `depth_reset`, and sees no
request of `process_spider_exception`, which may repeat its page.
"""

from __future__ import annotations

import logging

from scrapy import Request

from scrapy_seine import meta as m
from scrapy_seine.engine.lease.outcomes import whole_number
from scrapy_seine.printable import redact

logger = logging.getLogger(__name__)
#: Depths that are worth a line, once each.
_REMARKABLE = (1_000, 10_000, 100_000)


class LinkDepth:
    """Sets a request's depth, and compares it with DEPTH_LIMIT; 0 is no limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.counted_by_scrapy = False
        """Whether the project has Scrapy's DepthMiddleware."""
        self._unreported = set(_REMARKABLE)

    def is_too_deep(self, request: Request, page: Request | None) -> bool:
        """Note the depth of a request, which *page* links to; returns whether it is too deep."""
        if page is None:
            depth = 0
        elif self.counted_by_scrapy:
            depth = whole_number(request.meta.get(m.DEPTH), 0)
            if not depth:  # no seed for all that: only the operator's lead to private addresses
                request.meta.setdefault(m.HOME, "")
        else:
            depth = page.meta.get(m.DEPTH, 0) + 1
        request.meta[m.DEPTH] = depth
        if depth in self._unreported:
            self._unreported.discard(depth)
            logger.warning(
                "%d links lead to %.200s, one after the other: if each page names a new one, the "
                "crawl does not end (DEPTH_LIMIT, or SEINE_DOMAIN_PAGES, ends it)",
                depth,
                redact(request.url),
            )
        return 0 < self.limit < depth
