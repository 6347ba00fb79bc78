"""robots.txt, fetched once for the fleet and obeyed by each worker (RFC 9309).

For a known site this costs a page one dictionary lookup. One worker of the fleet fetches that of an
unknown site, by the page's route (same proxy pool, same country); the site's requests wait a
moment, then go back to the frontier while the site is blocked.
"""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from collections.abc import Awaitable
from time import monotonic
from typing import Any, Self

import attrs
from redis.exceptions import RedisError
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response, TextResponse
from scrapy.utils.httpobj import urlparse_cached

from scrapy_seine import meta as m
from scrapy_seine.attrs_bases import Value
from scrapy_seine.engine.headers import header
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.outcomes import Ignored
from scrapy_seine.engine.reading.reading_limit import Unreadable
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import NoWay
from scrapy_seine.middlewares.robots_fetch import RobotsFetch
from scrapy_seine.middlewares.robots_parser import ProjectParser
from scrapy_seine.politeness import crawl_delay
from scrapy_seine.politeness.download_slots import SLOT, waits_at
from scrapy_seine.politeness.robots_cache import (
    FetchedRobots,
    FetchNeeded,
    FetchRunning,
    SharedRobots,
)
from scrapy_seine.politeness.robots_rules import Robots
from scrapy_seine.politeness.robots_status import away_s
from scrapy_seine.politeness.site_limits import SiteLimits
from scrapy_seine.urls import domain

logger = logging.getLogger(__name__)
#: How long requests wait for robots.txt inside the downloader before they go back, s.
PATIENCE_S = 3.0
#: Wait before the next check whether the fleet has the proxies that a page needs, s.
_LACKING_S = 4.0
#: Sites that a process remembers.
MOST_SITES = 10_000


@attrs.frozen(eq=False, repr=False)
class _Site(Value):
    robots: Robots
    valid_until: float
    delay_ms: int = 0
    """Pause that the site asks for."""


class RobotsMiddleware:
    """Accepts requests that robots.txt allows; forbidden ones are ignored, and counted."""

    def __init__(self, crawler: Crawler, inflight: InFlightTable, site_limits: SiteLimits) -> None:
        settings = crawler.settings
        self.crawler = crawler
        self.inflight = inflight
        self.site_limits = site_limits
        self.stats: Any = crawler.stats
        self.given_agent = str(settings.get("ROBOTSTXT_USER_AGENT") or "")
        self.agent = self.given_agent or str(settings.get("USER_AGENT"))
        self.parser = ProjectParser(crawler)
        self.fetch = RobotsFetch(crawler, inflight)
        self.delay_limit_s = crawl_delay.limit_s(settings)
        self.reach, self.limit = worker_of(crawler).reach, worker_of(crawler).limit
        self.sites: dict[str, _Site] = {}
        self.learning: dict[str, asyncio.Task[_Site]] = {}
        self.token = uuid.uuid4().hex

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings.

        Raises:
            NotConfigured: ROBOTSTXT_OBEY is off, or pages are replayed: no site is asked, and
                rules of the archive's time must not become the fleet's.
            ConfigError: a setting is wrong.
        """
        settings = crawler.settings
        if settings.get("SEINE_REPLAY") or not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured  # without a message, as Scrapy's own: a message is a warning
        return cls(crawler, worker_of(crawler).inflight, worker_of(crawler).site_limits)

    def process_request(
        self, request: Request
    ) -> Awaitable[Request | Response | None] | Request | Response | None:
        """Accept the request, send it back for later, answer or ignore it.

        Raises:
            IgnoreRequest: robots.txt forbids it.
        """
        if request.meta.get("dont_obey_robotstxt"):
            return None
        url = urlparse_cached(request)
        if url.scheme not in {"http", "https"}:
            return None
        origin = f"{url.scheme}://{url.netloc.rpartition('@')[2].lower()}"
        site = self.sites.get(origin)
        if site is not None and site.valid_until > monotonic():
            return self._judge(request, site)
        return self._wait(request, origin)

    def _judge(self, request: Request, site: _Site) -> Request | Response | None:
        agent = self._agent_of(request)
        if site.robots.allows(request.url, agent):
            if site.delay_ms and SLOT in request.meta:
                place = waits_at(request, domain(request.url))
                self.site_limits.keep_delay(place, site.delay_ms)
            return _known(request, site.robots) if request.meta.get(m.KNOWN_ROBOTS) else None
        if site.robots.state != "away":
            self.stats.inc_value("robotstxt/forbidden")
            raise Ignored("robots", _reason(site.robots, request.url, agent))
        self.stats.inc_value("robotstxt/away")
        copy = self.inflight.retry(
            request,
            kind="robots",
            reason="robots.txt cannot be read, so nothing may be asked for now",
            wait_s=max(0.0, site.valid_until - monotonic()),
        )
        if copy is None:
            raise IgnoreRequest("robots.txt cannot be read")
        return copy

    def _agent_of(self, request: Request) -> str:
        """Return whose rules hold for a request: a name of the project's own in its headers, too.

        A browser's name that the ladder lent to the request hides no robot from its rules.
        """
        if self.given_agent or "user-agent" in request.meta.get(m.BORROWED, ()):
            return self.agent
        return header(request, "User-Agent") or self.agent

    async def _wait(self, request: Request, origin: str) -> Request | Response | None:
        task_key = f"{self.reach.home_of(request)} {origin}"  # homes may reach different addresses
        task = self.learning.get(task_key)
        if task is None:
            task = asyncio.ensure_future(self._learn(origin, request))
            self.learning[task_key] = task
            task.add_done_callback(
                lambda finished_tasks: self._store_site(task_key, origin, finished_tasks)
            )
        entry = self.inflight.entry_of(request)
        finished_tasks, _ = await asyncio.wait([task], timeout=PATIENCE_S if entry else None)
        if finished_tasks:
            try:
                return self._judge(request, task.result())
            except NoWay as error:
                return self._lacking(request, error)
        self.site_limits.block(waits_at(request, domain(request.url)), PATIENCE_S)
        return self.inflight.hand_back(request)

    def _lacking(self, request: Request, error: NoWay) -> Request:
        """Postpone the page until the fleet has the proxies that its robots.txt needs.

        Raises:
            IgnoreRequest: it waited long enough and is buried, or is not the frontier's.
        """
        reason = str(error)
        copy = self.inflight.wait_for(request, kind=error.kind, reason=reason, wait_s=_LACKING_S)
        if copy is None:
            raise IgnoreRequest(reason)
        return copy

    def _store_site(self, task_key: str, origin: str, task: asyncio.Task[_Site]) -> None:
        del self.learning[task_key]
        if task.cancelled() or task.exception() is not None:
            return
        while len(self.sites) >= MOST_SITES:
            self.sites.pop(next(iter(self.sites)))
        self.sites[origin] = task.result()

    async def _learn(self, origin: str, request: Request) -> _Site:
        fetched = await self._fetch(origin, request)
        host = domain(request.url)
        robots, asked_s, left_s = self._parse(fetched, origin)
        read = await self.parser.read(robots, fetched.body, request)
        if read is None:
            robots, left_s = Robots("away"), away_s(0)
        else:
            robots = read
        site = _Site(robots, monotonic() + left_s)
        if robots.state == "away":
            for place in dict.fromkeys((host, waits_at(request, host))):
                self.site_limits.block(place, left_s)
            return site
        delay_ms = crawl_delay.kept_ms(asked_s, self.delay_limit_s)
        await self.site_limits.crawl_delay(host, delay_ms)
        return attrs.evolve(site, delay_ms=delay_ms)

    def _parse(self, fetched: FetchedRobots, origin: str) -> tuple[Robots, float, float]:
        """Return the rules, the pause (s) and the lifetime (s) of a robots.txt (I11)."""
        robots = Robots.parse(fetched.state, fetched.body)
        try:
            return robots, self.limit.call(robots.delay_s, self.agent) or 0.0, fetched.left_s
        except Unreadable as error:  # as one that cannot be fetched: allow nothing for now
            logger.warning("robots.txt of %s: %s", origin, error)
            return Robots("away"), 0.0, away_s(0)

    async def _fetch(self, origin: str, request: Request) -> FetchedRobots:
        if self.site_limits.exchange is None:
            return await self.fetch.fetch_unshared(origin, request, 0)
        redis = self.site_limits.exchange.frontier.redis
        shared = SharedRobots(redis, self.token)
        while True:
            try:
                result = await shared.lookup(origin)
                if not isinstance(result, FetchRunning) and result.was_public:
                    self.reach.record_public_home(request)
                if isinstance(result, FetchedRobots):
                    self._log_away(origin, result)
                    return result
                if isinstance(result, FetchNeeded):
                    async with shared.locked(origin):
                        return await self.fetch.fetch_shared(
                            shared, origin, request, result.failures
                        )
                assert isinstance(result, FetchRunning)
            except (RedisError, OSError) as error:
                refusals = self.site_limits.exchange.refusals
                if not refusals.log_refusal(error, f"The pages of {origin} wait for robots.txt"):
                    logger.debug("robots.txt of %s waits for Redis: %s", origin, error)
            await asyncio.sleep(random.uniform(0.05, 0.3))

    def _log_away(self, origin: str, robots: FetchedRobots) -> None:
        """Log why a site's pages wait, if another process, or an earlier run, found the reason."""
        if robots.state == "away":
            logger.warning(
                "robots.txt of %s could not be read lately, so its pages wait %.0f s",
                origin,
                robots.left_s,
            )


def _reason(robots: Robots, url: str, agent: str) -> str:
    if robots.is_too_long(url, agent):
        return f"robots.txt has more patterns than are tried on a URL of {len(url):,} characters"
    return "robots.txt forbids it"


def _known(request: Request, robots: Robots) -> Response | None:
    """Answer a request for robots.txt with the one that is known: the site is asked once."""
    url = urlparse_cached(request)
    if url.path != "/robots.txt" or url.query or request.method != "GET":
        return None
    return TextResponse(
        request.url,
        status=200 if robots.state == "rules" else 404,
        headers={"Content-Type": "text/plain; charset=utf-8"},
        body=robots.text.encode(),
        flags=["cached"],
    )
