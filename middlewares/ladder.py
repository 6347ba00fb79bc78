"""Fetches each domain by the cheapest step that works; the fleet shares the step in Redis."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable
from typing import Any, Self

import attrs
from redis.asyncio import Redis
from redis.exceptions import RedisError
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.access import ladder_budget
from crawler.access.detect import BAD, REFUSED_AT, VERDICT
from crawler.access.identities import BOT, candidates, identities_of
from crawler.access.ladder import (
    STEPS,
    Decision,
    Policy,
    View,
    decide,
    step_within,
    steps_for,
)
from crawler.access.ladder_store import NO_BROWSER, LadderStore, needs_browser
from crawler.access.proxies.operator_list import ProxyList
from crawler.access.redis_errors import RedisErrors
from crawler.access.shared_state import fleet_name
from crawler.stores.store_endpoints import endpoints, redis_client
from scrapy_seine import meta as m
from scrapy_seine.attrs_bases import Record
from scrapy_seine.config import flag
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.urls import domain

logger = logging.getLogger(__name__)

#: Key of `request.meta`: the ladder's step of this try.
STEP = "ladder_step"
#: Refusals on one step before a request goes to the ordinary retries.
_TRIES = 4
#: Seconds between two reports to Redis, and after which an idle domain's step is read again.
_FLUSH_S = 1.0
_FRESH_S = 30.0
_ANNOUNCE_S = 60.0
#: A domain without a request for this long is forgotten here, because each costs a call of Redis
#: every _FRESH_S; it is longer than any request takes, s.
_IDLE_S = 900.0


@attrs.define(eq=False, repr=False)
class Site(Record):
    """A domain's state in this process."""

    view: View
    read_at: float
    identity: str
    """The identity above the lowest step."""
    steps: tuple[str, ...]
    counts: dict[str, tuple[int, int]] = attrs.Factory(dict)
    """Good and bad responses by step, since the last report."""
    used_at: float = attrs.Factory(time.monotonic)
    """When a request last asked for its step, monotonic s."""


class Escalate:
    """Sets each request's step, counts the verdicts, and moves domains to other steps.

    Decisions are pure (crawler.access.ladder); reports are sent once a second, so that a page costs
    no round trip. Verdicts come from a listener, because the proxies' middleware, which runs
    before, returns some requests.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self.crawler = crawler
        self.stats: Any = crawler.stats
        self.redis_errors = RedisErrors(crawler, "ladder/store_errors")
        self.policy = Policy.from_settings(settings, settings.getdict("SEINE_LADDER_CAPS"))
        worker = worker_of(crawler)
        self.inflight, self.site_limits = worker.inflight, worker.site_limits
        self.identity, self.identities, _ = identities_of(settings, crawler.spidercls)
        self.pool = str(settings.get("SEINE_LADDER_POOL"))
        self.browser = flag(settings, "SEINE_BROWSER")
        self.sites: dict[str, Site] = {}
        self.reading: dict[str, asyncio.Task[Site]] = {}
        #: Domains for which this worker has logged that they wait for a browser.
        self.waiting_for_browser: set[str] = set()
        self.better_pool = False
        self._redis: Redis | None = None
        self._loop: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings.

        Raises:
            NotConfigured: the ladder is off, or has one step only.
            ConfigError: a setting is wrong.
        """
        settings = crawler.settings
        mode = str(settings.get("SEINE_LADDER", "auto"))
        useful = identities_of(settings, crawler.spidercls)[2] or flag(settings, "SEINE_BROWSER")
        if mode == "off" or (mode != "on" and not useful):
            raise NotConfigured  # without a message, because Scrapy would log it as a warning
        middleware = cls(crawler)
        proxy_list = ProxyList.from_settings(settings).read() or ([], [])
        middleware.better_pool = any(proxy.pool == middleware.pool for proxy in proxy_list[0])
        worker_of(crawler).verdict_listeners.listen(middleware.record_verdict)
        if middleware.browser:
            crawler.signals.connect(middleware._on_spider_opened, signals.spider_opened)
        crawler.signals.connect(middleware._on_spider_closed, signals.spider_closed)
        return middleware

    def _on_spider_opened(self) -> None:
        """Announce this worker's browser to the fleet at once."""
        self._store()

    # Requests

    def process_request(self, request: Request) -> Awaitable[Request | None] | None:
        """Set the request's step; the step of a new domain is read from Redis first."""
        if m.LANE in request.meta:
            return None
        name = domain(request.url)
        site = self.sites.get(name)
        if site is None or self._stale(request, site):
            return self._look(request, name)
        site.used_at = time.monotonic()
        if site.view.probe:
            return self._probe(request, name, site)
        self._use(request, step_within(site.view.step, site.steps))
        return None

    @staticmethod
    def _stale(request: Request, site: Site) -> bool:
        """Whether to read the step again for a refused request, as others may have climbed."""
        refused = request.meta.get(REFUSED_AT)
        if not refused or refused[0] != site.view.step:
            return False
        return time.monotonic() - site.read_at > _FLUSH_S / 2

    async def _look(self, request: Request, name: str) -> None:
        task = self.reading.get(name)
        if task is None:
            identity = str(
                request.meta.get(m.IDENTITY) or self.identities.get(name) or self.identity
            )
            task = self.reading[name] = asyncio.ensure_future(self._read(name, identity))
        site = await asyncio.shield(task)
        self.reading.pop(name, None)
        self._use(request, step_within(site.view.step, site.steps))

    async def _probe(self, request: Request, name: str, site: Site) -> None:
        step, probe = step_within(site.view.step, site.steps), site.view.probe
        try:
            if probe in STEPS and await self._store().ticket(name, probe):
                step = probe
        except (RedisError, OSError) as error:
            self.redis_errors.note(error, "No domain tries another step")
        self._use(request, step)

    def _use(self, request: Request, name: str) -> None:
        step, meta = STEPS[name], request.meta
        meta[STEP], meta[m.LANE_NOW] = name, step.lane
        # A site's browser identity holds above the lowest step; that step uses the bot's.
        meta["identity_now"] = BOT if name == "plain" else ""
        if step.better_pool:
            meta["pool_now"] = self.pool
        else:
            meta.pop("pool_now", None)
        self.stats.inc_value(f"ladder/requests/{name}")

    # Answers

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Return a refused request while there is a higher step to try."""
        verdict, name = request.meta.get(VERDICT), request.meta.get(STEP)
        if name is None or verdict not in BAD:
            return response
        site = self.sites.get(domain(request.url))
        if site is None or name == site.steps[-1] or self._tries(request, name) >= _TRIES:
            return response
        reason = f"{verdict} on step {name}"
        wait_s = random.uniform(1.0, 2.0) * _FLUSH_S
        copy = self.inflight.postpone(request, kind="ladder", reason=reason, wait_s=wait_s)
        return copy or response

    def record_verdict(self, request: Request, good: bool, weight: int) -> None:
        """Count a verdict for the request's step."""
        name, site = request.meta.get(STEP), self.sites.get(domain(request.url))
        if site is not None and name is not None:
            counts = site.counts.get(name, (0, 0))
            site.counts[name] = (counts[0] + weight * good, counts[1] + weight * (not good))

    @staticmethod
    def _tries(request: Request, name: str) -> int:
        """Refusals of the request on this step, including this one."""
        step, tries = (request.meta.get(REFUSED_AT) or ("", 0))[:2]
        tries = int(tries) + 1 if step == name else 1
        request.meta[REFUSED_AT] = [name, tries]
        return tries

    # Reports

    def _store(self) -> LadderStore:
        if self._redis is None:
            url = endpoints(self.crawler.settings, need=("redis",)).redis_url
            self._redis = redis_client(url)
            self._loop = asyncio.ensure_future(self._report())
        fleet = fleet_name(self.crawler.settings)
        return LadderStore(self._redis, fleet, self.policy)

    async def _read(self, name: str, identity: str) -> Site:
        """Read a domain's step; without Redis, the lowest step for now."""
        try:
            view = await self._store().tally(name, {})
        except (RedisError, OSError) as error:
            self.redis_errors.note(error, f"{name} is asked by the lowest step")
            view = View()
        site = self.sites.setdefault(name, Site(view, 0.0, identity, self._steps(name, identity)))
        site.view, site.read_at = view, time.monotonic()
        self._mark(name, site)
        await self._look_for_browser(name, site)
        return site

    def _steps(self, name: str, identity: str) -> tuple[str, ...]:
        return steps_for(
            pretend=bool(candidates(identity)),
            better_pool=self.better_pool,
            cap=self.policy.cap_of(name),
        )

    async def _report(self) -> None:
        announced = 0.0
        while True:
            try:
                if self.browser and time.monotonic() - announced > _ANNOUNCE_S:
                    await self._store().announce_browser()
                    announced = time.monotonic()
                await self.flush()
            except (RedisError, OSError) as error:
                self.redis_errors.note(error, "No domain moves to another step")
            await asyncio.sleep(_FLUSH_S)

    async def _look_for_browser(self, name: str, site: Site) -> None:
        """Log once that a domain waits for a browser worker, and once that it no longer does."""
        if self.browser:
            return
        try:
            needs = needs_browser(step_within(site.view.step, site.steps))
            lacks = needs and not await self._store().has_browsers()
        except (RedisError, OSError) as error:
            self.redis_errors.note(error, "It is unknown whether a worker has a browser")
            return
        if lacks and name not in self.waiting_for_browser:
            self.waiting_for_browser.add(name)
            self.stats.inc_value("ladder/no_browser")
            logger.warning("%s: %s", name, NO_BROWSER)
        elif not lacks and name in self.waiting_for_browser:
            self.waiting_for_browser.remove(name)
            logger.info("%s: no longer waits for a browser worker", name)

    async def flush(self) -> None:
        """Report the counts, decide on moves, and read the other workers' moves."""
        now_s = time.monotonic()
        for name, site in list(self.sites.items()):
            if site.counts or now_s - site.read_at > _FRESH_S:
                counts, site.counts = site.counts, {}
                await self._settle(name, site, counts)
                site.read_at = now_s
            if now_s - site.used_at > _IDLE_S and not site.counts:
                del self.sites[name]  # the next request reads the domain's step again

    async def _settle(self, name: str, site: Site, counts: dict[str, tuple[int, int]]) -> None:
        store = self._store()
        site.view = await store.tally(name, counts)
        decision = decide(site.view, site.steps, self.policy)
        if decision is not None and await store.move(name, site.view, decision):
            self._log_decision(name, site.view, decision)
            site.view = await store.tally(name, {})
        self._mark(name, site)
        await self._look_for_browser(name, site)
        view, policy = site.view, self.policy
        rest_s = ladder_budget.pause_s(
            STEPS[view.step].cost,
            view.spent,
            policy.budget,
            now_ms=view.now,
            longest_s=policy.pause_s,
        )
        if rest_s > 0:
            self.stats.inc_value("ladder/over_budget")
            self.site_limits.block(name, rest_s)

    def _log_decision(self, name: str, view: View, decision: Decision) -> None:
        self.stats.inc_value(f"ladder/{decision.kind}/{decision.to}")
        if decision.kind == "stuck":
            logger.error(
                "%s: %s; it is left alone for %g s", name, decision.reason, self.policy.pause_s
            )
            self.site_limits.block(name, self.policy.pause_s)
        else:
            logger.info(
                "%s: %s from %s to %s: %s",
                name,
                decision.kind,
                view.step,
                decision.to,
                decision.reason,
            )

    def _mark(self, name: str, site: Site) -> None:
        """Restrict a domain that needs a browser to workers with one."""
        lane = STEPS[step_within(site.view.step, site.steps)].lane
        self.site_limits.set_lane(name, "browser" if lane == "browser" else "")

    async def _on_spider_closed(self) -> None:
        """Report the remaining counts, and disconnect."""
        if self._redis is None:
            return
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        try:
            await self.flush()
        except (RedisError, OSError) as error:
            self.redis_errors.note(error, "The last counts of the ladder are lost")
        await self._redis.aclose()
