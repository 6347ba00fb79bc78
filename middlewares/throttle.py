"""Sites that ask for a pause get one, from the whole fleet."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.config import number
from crawler.engine.manners import Manners, manners_of
from crawler.politeness.delay import TOO_MANY_REQUESTS, UNAVAILABLE, block_of, retry_after_s
from crawler.urls import domain


class Throttle:
    """Blocks a domain for the fleet on 429, and on 503 with Retry-After."""

    def __init__(self, manners: Manners, stats: Any, *, usual_s: float, limit_s: float) -> None:
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
            manners_of(crawler),
            crawler.stats,
            usual_s=number(crawler.settings, "SEINE_BLOCK_SECONDS", 5),
            limit_s=number(crawler.settings, "SEINE_BLOCK_LIMIT_SECONDS", 3600),
        )

    def process_response(self, request: Request, response: Response) -> Response:
        """Note what the answer asks for; it goes on unchanged."""
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
