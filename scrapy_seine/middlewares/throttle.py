"""AutoThrottle, and pauses that a site asks for: both are sent to the whole fleet.

The send gate (engine.download.send_gate) decides when a request may be sent, because it has the
connection; requests that it refuses are handed back here.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from scrapy_seine import meta as m
from scrapy_seine.engine.download.send_gate import NotNow
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.middlewares.retry import asked_s
from scrapy_seine.once_a_minute import OnceAMinute
from scrapy_seine.politeness.download_slots import waits_at
from scrapy_seine.politeness.retry_after import (
    TOO_MANY_REQUESTS,
    UNAVAILABLE,
    Block,
    block_of,
    limits_s,
)
from scrapy_seine.politeness.site_limits import SiteLimits
from scrapy_seine.urls import slot

logger = logging.getLogger(__name__)
#: From this status on responses are no pages, and often quicker than pages.
ERRORS = 400


class Throttle:
    """Blocks a domain on 429, and on 503 with Retry-After; hands back what missed its slot."""

    def __init__(
        self,
        inflight: InFlightTable,
        site_limits: SiteLimits,
        stats: Any,
        *,
        usual_s: float,
        limit_s: float,
    ) -> None:
        self.inflight = inflight
        self.site_limits = site_limits
        self.stats = stats
        self.usual_s = usual_s
        self.limit_s = limit_s
        self._log_limiter = OnceAMinute()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings.

        Raises:
            ConfigError: one is wrong.
        """
        usual_s, limit_s = limits_s(crawler.settings)
        return cls(
            worker_of(crawler).inflight,
            worker_of(crawler).site_limits,
            crawler.stats,
            usual_s=usual_s,
            limit_s=limit_s,
        )

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Send back a request that missed its slot at a site that has none soon.

        Raises:
            IgnoreRequest: it is not the frontier's, so it cannot go back.
        """
        if not isinstance(exception, NotNow) or m.INSTEAD_OF in request.meta:
            return None
        self.stats.inc_value("seine/handed_back")
        copy = self.inflight.hand_back(request)
        if copy is None:
            raise IgnoreRequest("its domain may not be asked now")
        return copy

    def process_response(
        self, request: Request, response: Response
    ) -> Response | Awaitable[Response]:
        """Record a response's requested pause, and its latency; it is returned unchanged."""
        if self.site_limits.pace is not None:
            self._measure(request, response)
        if response.status not in (TOO_MANY_REQUESTS, UNAVAILABLE):
            return response
        block = block_of(
            response.status, asked_s(response), usual_s=self.usual_s, limit_s=self.limit_s
        )
        if block is None or block.wait_s <= 0:
            return response
        confirms = self.site_limits.confirms_pause
        if block.wait_s > self.usual_s and confirms is not None:
            return self._pause_if_confirmed(request, response, block, confirms)
        self._pause(request, response, block)
        return response

    async def _pause_if_confirmed(
        self,
        request: Request,
        response: Response,
        block: Block,
        confirms: Callable[[Request, float], Awaitable[bool]],
    ) -> Response:
        """Pause a site for as long as an answer says, or as usual if it may be a proxy's own."""
        if not await confirms(request, block.wait_s):
            block = Block(self.usual_s, grows=True)
        self._pause(request, response, block)
        return response

    def _pause(self, request: Request, response: Response, block: Block) -> None:
        limit_s = self.limit_s if block.grows else 0.0
        host = slot(request.url)
        for place in dict.fromkeys((host, waits_at(request, host))):
            self.site_limits.block(place, block.wait_s, limit_s=limit_s)
        self.stats.inc_value(f"seine/blocks/{response.status}")
        self._log_block(host, response.status, block)

    def _log_block(self, host: str, status: int, block: Block) -> None:
        """Log why a site's pages wait, once a minute: otherwise a long pause looks like a hang."""
        if not self._log_limiter.is_due(host):
            return
        pause = f"{block.wait_s:g} s" + (", longer after each further one" if block.grows else "")
        logger.warning("%s answered HTTP %d: its pages wait %s", host, status, pause)

    def _measure(self, request: Request, response: Response) -> None:
        latency_s = request.meta.get("download_latency")
        entry = self.inflight.entry_of(request)
        if latency_s is not None and entry is not None:
            latency_s = max(0.0, latency_s - entry.waited_s)
            place = waits_at(request, slot(request.url))
            self.site_limits.record_latency(place, latency_s, good=response.status < ERRORS)
