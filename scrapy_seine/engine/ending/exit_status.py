"""A worker's exit status: 1 if a supervisor should start it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

#: The browser that a worker needs does not start.
BROWSER_FAILED = "browser_failed"
#: Reasons with status 1. After any other, as a finished crawl or a signal, the status is 0.
BAD_ENDS = frozenset({"outage", "error", "state_lost", "start_error", BROWSER_FAILED})


def fail_after(reason: str, crawler: Crawler) -> None:
    """Make Scrapy's commands exit with 1 after a bad end: they do if the crawler has no spider."""
    if reason in BAD_ENDS:
        crawler.spider = None
