"""The dupefilter's slot. Seen URLs live in the frontier, where one script filters and queues."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from time import monotonic
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy_redis.dupefilter import RFPDupeFilter

from scrapy_seine.urls import fingerprint, within


class DupeFilter(RFPDupeFilter):  # type: ignore[misc]  # the base class has no types
    """Knows fingerprints that this worker saw pushed lately; Redis has the last word.

    A page's navigation repeats on every page of a site. Remembering for a minute what the frontier
    has confirmed spares encoding and sending the same forty links again and again. Only confirmed
    fingerprints are remembered, so that a page that is never acked hides nothing (I3).
    """

    CAPACITY = 50_000
    LIFETIME_S = 60.0

    def __init__(self) -> None:
        self._confirmed: OrderedDict[int, float] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make one; it needs no settings and no connection."""
        return cls()

    @classmethod
    def from_settings(cls, settings: Any) -> Self:
        """The same, for scrapy-redis."""
        return cls()

    @classmethod
    def from_spider(cls, spider: Any) -> Self:
        """The same, for scrapy-redis."""
        return cls()

    def request_fingerprint(self, request: Request) -> int:
        """64-bit fingerprint of method, normalised URL and body."""
        return fingerprint(request.url, request.method, request.body)

    def request_seen(self, request: Request) -> bool:
        """Whether the frontier confirmed this fingerprint within the last minute."""
        return self.knows(self.request_fingerprint(request))

    def knows(self, number: int) -> bool:
        """The same, for a fingerprint."""
        since = self._confirmed.get(number)
        return since is not None and monotonic() - since < self.LIFETIME_S

    def knows_url(self, url: str, job: str = "") -> bool:
        """The same, for a page that is asked for with GET, within a job."""
        try:
            return self.knows(within(job, fingerprint(url)))
        except ValueError:
            return False

    def confirm(self, number: int) -> None:
        """The frontier has this fingerprint now."""
        confirmed, now = self._confirmed, monotonic()
        confirmed[number] = now
        confirmed.move_to_end(number)
        # Two for each that comes: what has outlived its use goes, and none waits for a long sweep.
        for oldest in list(islice(confirmed, 2)):
            if now - confirmed[oldest] < self.LIFETIME_S and len(confirmed) <= self.CAPACITY:
                break
            del confirmed[oldest]

    def open(self) -> None:
        """Nothing to open."""

    def close(self, reason: str = "") -> None:
        """Nothing to close: shared state is never deleted by a worker (I7)."""

    def clear(self) -> None:
        """Forget what was confirmed here."""
        self._confirmed.clear()
