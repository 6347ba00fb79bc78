"""How a robots.txt is fetched: the way of the page that needs it, its redirects, and its failures.

RFC 9309, 2.3.1: redirects are followed. After a 4xx everything is allowed; after a 5xx, or without
an answer, nothing is for a while.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from time import monotonic
from typing import Any

import attrs
from redis.exceptions import RedisError
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from scrapy_seine import meta as m
from scrapy_seine.engine.download import own_faults
from scrapy_seine.engine.download.private_addresses import place_of
from scrapy_seine.engine.download.send_gate import NotNow
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import AddressRefused, NoNetwork, NoWay
from scrapy_seine.middlewares.decompress import Unusable
from scrapy_seine.middlewares.first_bytes import FirstBytes
from scrapy_seine.middlewares.redirect import LedNowhere
from scrapy_seine.politeness.robots_cache import FetchedRobots, SharedRobots, lifetime_s
from scrapy_seine.politeness.robots_rules import SIZE_LIMIT, first_part
from scrapy_seine.politeness.robots_status import away_s, state_of

logger = logging.getLogger(__name__)
#: Timeout of a fetch, redirects included, s.
FETCH_S = 45.0
#: Lifetime of a result that should be fetched again at once, s.
_MOMENT_S = 0.001
#: Keys of the page's meta that its robots.txt request takes over.
_ROUTE_KEYS = ("proxy", m.PROXY_POOL, m.PROXY_COUNTRY, m.SITE_ID, "download_slot")


class RobotsFetch:
    """Asks a site for its robots.txt."""

    def __init__(self, crawler: Crawler, inflight: InFlightTable) -> None:
        self.crawler = crawler
        self.inflight = inflight
        self.stats: Any = crawler.stats
        self.reach = worker_of(crawler).reach
        self.first_bytes = FirstBytes(crawler)
        self.lifetime_s = lifetime_s(crawler.settings)

    async def fetch_shared(
        self, shared: SharedRobots, origin: str, request: Request, failures: int
    ) -> FetchedRobots:
        """Fetch it, and store the result for the fleet.

        Raises:
            AddressRefused, NoWay: the page cannot be fetched either.
            NoNetwork: this machine cannot reach any site.
        """
        try:
            fetched = await self.fetch_unshared(origin, request, failures)
        except (AddressRefused, NoWay, NoNetwork):  # another page or machine may fetch it
            with suppress(RedisError, OSError):
                await shared.store(origin, FetchedRobots("away", b"", _MOMENT_S), failures=failures)
            raise
        failures = failures + 1 if fetched.state == "away" else 0
        fetched = attrs.evolve(fetched, was_public=self.reach.was_public(request))
        try:
            await shared.store(origin, fetched, failures=failures)
        except (RedisError, OSError) as error:
            member = worker_of(self.crawler).member
            meanwhile = f"Each worker fetches the robots.txt of {origin} by itself"
            if member is None or not member.exchange.refusals.log_refusal(error, meanwhile):
                logger.debug("robots.txt of %s is not shared: %s", origin, error)
        return fetched

    async def fetch_unshared(self, origin: str, request: Request, failures: int) -> FetchedRobots:
        """Fetch it in the page's slot, or without one where the frontier has none.

        Raises:
            AddressRefused, NoWay, NoNetwork: as `fetch_shared` does.
        """
        try:
            return await self._download(origin, request, failures, on_lease=True)
        except NotNow:  # the frontier has no slot; without rules nothing else can be fetched
            return await self._download(origin, request, failures, on_lease=False)
        finally:
            entry = self.inflight.entry_of(request)
            if entry is not None:  # the slot was used: the page must take another
                entry.spent_at = monotonic()

    async def _download(
        self, origin: str, request: Request, failures: int, *, on_lease: bool
    ) -> FetchedRobots:
        meta = {key: request.meta[key] for key in _ROUTE_KEYS if key in request.meta}
        # RFC 9309, 2.3.1.2: follow at least five redirects, to any host.
        meta |= {"dont_obey_robotstxt": True, "allow_offsite": True, "redirect_ttl": 5}
        meta[m.HOME] = self.reach.home_of(request)
        meta |= {m.FIRST_BYTES: SIZE_LIMIT, "download_maxsize": 0, "download_timeout": FETCH_S / 3}
        if on_lease:
            meta |= {m.INSTEAD_OF: request, m.PATIENCE_MS: int(FETCH_S * 500)}
        robots_request = Request(
            f"{origin}/robots.txt", meta=meta, callback=NO_CALLBACK, dont_filter=True
        )
        engine: Any = self.crawler.engine
        self.stats.inc_value("robotstxt/request_count")
        try:
            with self.first_bytes:
                response = await asyncio.wait_for(engine.download_async(robots_request), FETCH_S)
        except (NotNow, NoWay):
            raise
        except AddressRefused as error:
            if error.place != place_of(robots_request):  # a redirect leads there: treat as missing
                return FetchedRobots("free", b"", self.lifetime_s)
            raise  # this page may not reach the address either, but other pages may
        except Unusable as error:  # there are rules that cannot be read
            logger.warning("robots.txt of %s: %s", origin, error)
            return FetchedRobots("away", b"", away_s(failures))
        except IgnoreRequest as error:
            if isinstance(error.__cause__, LedNowhere):  # over five redirects: treat as missing
                return FetchedRobots("free", b"", self.lifetime_s)
            # There may be rules, which were not fetched.
            logger.warning(
                "robots.txt of %s: a middleware ignores it (%s: %s), so the site's pages wait; let "
                "requests for /robots.txt pass there",
                *(origin, type(error).__name__, error),
            )
            return FetchedRobots("away", b"", away_s(failures))
        except Exception as error:
            return _unreachable(origin, error, failures)
        state = state_of(response.status)
        self.stats.inc_value("robotstxt/response_count")
        self.stats.inc_value(f"robotstxt/response_status_count/{response.status}")
        if state == "away":
            logger.warning("robots.txt of %s: HTTP %d", origin, response.status)
            return FetchedRobots(state, b"", away_s(failures))
        body = first_part(response.body) if state == "rules" else b""
        return FetchedRobots(state, body, self.lifetime_s)


def _unreachable(origin: str, error: Exception, failures: int) -> FetchedRobots:
    """Log that a download failed, and return for how long nothing may be fetched.

    Raises:
        NoNetwork: this machine is to blame, so that the failure says nothing about the site.
    """
    if reason := own_faults.log_own_fault(error):
        raise NoNetwork(reason) from None
    logger.warning("robots.txt of %s: %s: %s", origin, type(error).__name__, error)
    return FetchedRobots("away", b"", away_s(failures))
