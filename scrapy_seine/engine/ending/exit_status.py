"""With which exit status a worker ends: 1 after what a supervisor should answer with a start."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

#: The browser of a worker that is to have one does not start.
BROWSER_FAILED = "browser_failed"
#: Reasons of such an end. After any other, as a finished crawl or a signal, the status is 0.
BAD_ENDS = frozenset({"outage", "error", "state_lost", "start_error", BROWSER_FAILED})


def fail_after(reason: str, crawler: Crawler) -> None:
    """Have Scrapy's commands exit with 1 after a bad end: they do where there is no spider."""
    if reason in BAD_ENDS:
        crawler.spider = None
