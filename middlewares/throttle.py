"""The last to see a request, and the first to see its answer: when may a site be asked?

On the way out, a request that missed its time (the process was busy, robots.txt came first) gets
another, so that no two arrive closer than the site's pause. On the way in, a site that asks for a
pause gets it from the whole fleet.
"""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawler.config import number
from crawler.engine.ledger import Entry, Ledger, ledger_of
from crawler.engine.manners import Manners, manners_of
from crawler.politeness.delay import TOO_MANY_REQUESTS, UNAVAILABLE, block_of, retry_after_s
from crawler.urls import domain

#: Statuses from here on are no pages, and often quicker than one.
ERRORS = 400


class Throttle:
    """Sends on time or not at all; blocks a domain on 429, and on 503 with Retry-After."""

    def __init__(
        self, ledger: Ledger, manners: Manners, stats: Any, *, usual_s: float, limit_s: float
    ) -> None:
        self.ledger = ledger
        self.manners = manners
        self.stats = stats
        self.usual_s = usual_s
        self.limit_s = limit_s

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings.

        Raises:
            ConfigError: one is wrong.
        """
        return cls(
            ledger_of(crawler),
            manners_of(crawler),
            crawler.stats,
            usual_s=number(crawler.settings, "SEINE_BLOCK_SECONDS", 5),
            limit_s=number(crawler.settings, "SEINE_BLOCK_LIMIT_SECONDS", 3600),
        )

    def process_request(self, request: Request) -> Awaitable[Request | None] | None:
        """Let a request pass if it is on time; no round trip then."""
        entry = self.ledger.entry_of(request)
        if entry is None or self.manners.may_send(entry.lease, spent_at=entry.spent_at):
            return None
        return self._wait(request, entry)

    async def _wait(self, request: Request, entry: Entry) -> Request | None:
        self.stats.inc_value("seine/slots_missed")
        if await self.manners.next_slot(entry.lease, spent_at=entry.spent_at):
            return None
        self.stats.inc_value("seine/handed_back")
        copy = self.ledger.hand_back(request)
        if copy is None:
            raise IgnoreRequest("its domain may not be asked now")
        return copy

    def process_response(self, request: Request, response: Response) -> Response:
        """Note what the answer asks for, and how long it took; it goes on unchanged."""
        if self.manners.pace is not None:
            self._measure(request, response)
        if response.status not in (TOO_MANY_REQUESTS, UNAVAILABLE):
            return response
        raw = (response.headers.get("Retry-After") or b"").decode("latin-1")
        asked_s = retry_after_s(raw, datetime.now(UTC)) if raw else None
        block = block_of(response.status, asked_s, usual_s=self.usual_s, limit_s=self.limit_s)
        if block is not None and block.wait_s > 0:
            limit_s = self.limit_s if block.grows else 0.0
            self.manners.block(domain(request.url), block.wait_s, limit_s=limit_s)
            self.stats.inc_value(f"seine/blocks/{response.status}")
        return response

    def _measure(self, request: Request, response: Response) -> None:
        latency_s = request.meta.get("download_latency")
        if latency_s is not None and self.ledger.entry_of(request) is not None:
            self.manners.answered(domain(request.url), latency_s, good=response.status < ERRORS)
