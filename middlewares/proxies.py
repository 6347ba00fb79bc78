"""Sends requests through the fleet's proxies; a refused request is sent through another proxy."""

from __future__ import annotations

import asyncio
import logging
import random
import time
import uuid
from typing import Any, Self

from redis.exceptions import RedisError
from rotating_proxies.middlewares import BanDetectionMiddleware, RotatingProxyMiddleware
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError, IgnoreRequest, NotConfigured
from scrapy.http import Response

from crawler.access.detect import REFUSED, VERDICT
from crawler.access.proxies.limits_per import LimitsPer
from crawler.access.proxies.list_format import BadLine, Proxy
from crawler.access.proxies.operator_list import ProxyList
from crawler.access.proxies.pool import (
    EachAddress,
    Outcome,
    PoolConfig,
    ProxyPool,
    Rest,
    Slot,
    TakenProxy,
)
from crawler.access.proxies.same_answers import NO_FRONT
from crawler.access.proxies.sticky import ELSEWHERE, StickyProxies
from crawler.access.redis_errors import RedisErrors
from crawler.access.shared_state import fleet_name
from crawler.extract.links.gate_cookies import GATE_BOUND, GATE_PROXY
from crawler.stores.store_endpoints import endpoints, redis_client
from middlewares.ban_policy import VerdictPolicy as VerdictPolicy  # noqa: PLC0414  # public here
from middlewares.claimed_pauses import ClaimedPauses
from middlewares.different_lists import DifferentLists
from middlewares.gates import note_gate_proxy
from middlewares.lack_of_proxies import LackOfProxies
from middlewares.same_answers import Answers
from scrapy_seine import meta as m
from scrapy_seine.config import flag, number
from scrapy_seine.engine.download.send_gate import NotNow
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import ConfigError, NoWay
from scrapy_seine.frontier.round_trips.server_clock import ServerClock
from scrapy_seine.urls import domain

logger = logging.getLogger(__name__)

#: Keys of `request.meta`: the proxy's id, which is no secret, and the token of its use.
PROXY_ID, LEASE = "proxy_id", "proxy_lease"
#: Key of `request.meta`: when the proxy may be used for the domain (`Slot`); None: at once.
AT = "proxy_at"
_PROBE = "proxy_probe"
_NOT_LISTED = "no proxy of its pool is listed"
#: Seconds between two checks of the list's file.
_RELOAD_S = 10.0
#: Seconds between two counts of a domain's usable proxies.
_COUNT_S = 15.0
#: A longer wait blocks the domain, because its other requests cannot be sent either.
_LONG_S = 2.0
#: Longest wait before another try to take a proxy, seconds.
_LONGEST_S = 30.0
#: The same where the ladder may climb to another pool, seconds.
_CLIMBING_S = 4.0
#: The same where no worker lists such a proxy (a worker may just be registering one), seconds.
_LACKING_S = 1.0
#: Bad verdicts that a pool without a usable proxy counts as, because it took as many to get there.
_WHOLE_POOL = 3
#: Replies of the pool for a new ban.
_NEWS = frozenset({"BANNED", "RESTING"})
_TRIES = "proxy_retry_times"
#: Key of `request.meta`: end of a request's wait in this process, monotonic seconds.
_UNTIL = "proxy_until"
#: Key of `request.meta`: the ladder's step on which the request has reported its pool as refused.
_TOLD = "proxy_told"
#: Priority of a request that looks for another proxy, at least.
_LOOKS_FIRST = 100


class Proxies(RotatingProxyMiddleware):  # type: ignore[misc]  # the base class has no types
    """rotating_proxies with shared state for the fleet; its lists, limits and ban policy apply.

    Redis decides which proxy may be used (crawler.access.proxies.pool). Where none is free, the
    request returns to the frontier without counting a try.
    """

    def __init__(self, crawler: Crawler, proxy_list: ProxyList) -> None:
        settings = crawler.settings
        self.crawler = crawler
        self.stats: Any = crawler.stats
        self.redis_errors = RedisErrors(crawler, "proxies/store_errors")
        self.proxy_list = proxy_list
        self.config = PoolConfig.from_settings(settings)
        self.default = str(settings.get("SEINE_PROXY_POOL", "any"))
        self.max_tries = int(number(settings, "ROTATING_PROXY_PAGE_RETRY_TIMES", 5))
        self.sticky = StickyProxies(settings)
        self.proxies_by_id: dict[str, Proxy] = {}
        self.answers = Answers(crawler, self._open, self._find, self.redis_errors, self._sources)
        self.limits_per = LimitsPer(settings)
        self.clock = ServerClock()
        self.counted_at: dict[str, float] = {}
        self.stop_if_no_proxies = flag(settings, "ROTATING_PROXY_CLOSE_SPIDER")
        self.policy: Any = BanDetectionMiddleware._load_policy(crawler)
        worker = worker_of(crawler)
        self.inflight, self.site_limits = worker.inflight, worker.site_limits
        self.verdicts = worker.verdict_listeners
        self.pauses = ClaimedPauses(self._open, self._witness, self.redis_errors)
        self.site_limits.confirms_pause = self.pauses.are_sites
        self.proxies: list[Proxy] = []
        self.worker = uuid.uuid4().hex[:16]
        self._pool: ProxyPool | None = None
        self._look_at = self._register_at = 0.0
        self._lists = DifferentLists()
        self._list_problem = ""
        #: The list was empty at the start: requests go directly if the whole fleet has no proxy.
        self._began_empty = False
        self._direct_until = 0.0
        self._others_have = False
        self._lack = LackOfProxies()
        self._opening = asyncio.Lock()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the list of proxies.

        Raises:
            NotConfigured: there is no list of proxies.
            ConfigError: a setting is wrong, or a list cannot be read.
        """
        proxy_list = ProxyList.from_settings(crawler.settings)
        if not proxy_list:
            raise NotConfigured  # without a message, because Scrapy would log it as a warning
        problem = proxy_list.check()
        if problem:
            logger.warning("%s", problem)
        middleware = cls(crawler, proxy_list)
        middleware._began_empty = bool(problem)
        listing = ProxyList.from_settings(crawler.settings).read() or ([], [])
        worker_of(crawler).reach.trust(proxy.url for proxy in listing[0])
        crawler.signals.connect(middleware.opened, signals.spider_opened)
        crawler.signals.connect(middleware.closed, signals.spider_closed)
        return middleware

    async def _open(self) -> ProxyPool:
        """Connect, and read the list if it changed."""
        async with self._opening:
            if self._pool is None:
                url = endpoints(self.crawler.settings, need=("redis",)).redis_url
                fleet = fleet_name(self.crawler.settings)
                self._pool = ProxyPool(redis_client(url), fleet, self.config)
            if time.monotonic() >= self._look_at:
                await self._reload(self._pool)
                self._look_at = time.monotonic() + _RELOAD_S
        return self._pool

    async def _reload(self, pool: ProxyPool) -> None:
        """Register this worker's list with the fleet, when it changed and again and again."""
        listing = self._read_list()
        if listing is not None:
            self.proxies, bad_lines = listing
            for line in bad_lines:
                logger.error("list of proxies, line %d is left out: %s", line.number, line.reason)
            self.proxies_by_id = {proxy.id: proxy for proxy in self.proxies}
        elif time.monotonic() < self._register_at:
            return
        registered = await pool.register(self.proxies, self.worker)
        self._register_at = time.monotonic() + self._lists.note(registered)
        self.stats.set_value("proxies/listed", len(self.proxies))
        self.stats.set_value("proxies/lists_in_fleet", registered.lists)
        if listing is not None:
            logger.info("%d proxies listed, %d left", len(self.proxies), registered.removed_count)
        self._others_have = bool(registered.only_elsewhere.count)

    def _read_list(self) -> tuple[list[Proxy], list[BadLine]] | None:
        """Read the list; None where the last one stays in use.

        A list that vanishes or becomes empty is ignored, because requests would otherwise be sent
        from this worker's own address.
        """
        try:
            listing, problem = self.proxy_list.read(), ""
        except ConfigError as error:
            listing, problem = None, str(error)
        if listing is not None and not listing[0]:
            listing, problem = None, "the list of proxies is empty now"
            self.proxy_list.forget()  # so that the error is found again at the next read
        if problem and (self.proxies or not self._began_empty):
            self.stats.inc_value("proxies/list_errors")
            if problem != self._list_problem:
                logger.error("%s; the last %d stay in use", problem, len(self.proxies))
        self._list_problem = problem
        return listing

    def _goes_directly(self) -> bool:
        """Whether requests are sent without a proxy, because the fleet was given none.

        A worker that starts while the list is being written has an empty one, too; the proxies of
        the other workers tell the two apart.
        """
        is_direct = self._began_empty and not self.proxies and not self._others_have
        if is_direct:
            self._direct_until = time.monotonic() + _RELOAD_S
        return is_direct

    async def process_request(self, request: Request) -> Request | None:
        """Set the request's proxy, or postpone the request until one is free."""
        request.meta.pop(m.GATEWAY, None)
        pool, country = self._route_of(request)
        if pool == "none" or ("proxy" in request.meta and "_rotating_proxy" not in request.meta):
            return None
        if self._direct_until > time.monotonic():
            return None
        site = domain(request.url)
        lease = await self._take_proxy(request, site, pool, country)
        if isinstance(lease, float):
            if lease == float("inf") and self._goes_directly():
                return None
            self.stats.inc_value("proxies/none_free")
            return self._postpone(request, site, lease) or await self._wait(request, site, lease)
        request.meta.pop(_UNTIL, None)
        proxy = self.proxies_by_id[lease.id]
        request.meta.update({"_rotating_proxy": True, PROXY_ID: lease.id, LEASE: lease.token})
        if proxy.is_gateway:  # None, so that HttpProxyMiddleware uses no proxy of the environment
            request.meta.update({"proxy": None, m.GATEWAY: proxy.url})
        else:
            request.meta["proxy"] = proxy.url
        request.meta["proxy_provider"] = proxy.provider
        request.meta[_PROBE] = lease.probe
        at_s = self.clock.local(lease.at_ms / 1000)
        request.meta[AT] = Slot(lease.at_ms, at_s) if lease.at_ms else None
        if proxy.country:
            request.meta["exit_country"] = proxy.country
        self.stats.inc_value(f"proxies/used/{proxy.pool}")
        return None

    def _route_of(self, request: Request) -> tuple[str, str]:
        """Return the pool and the country of a request's proxies; '' stands for any."""
        pool = request.meta.get("pool_now") or request.meta.get(m.PROXY_POOL) or self.default
        country = str(request.meta.get(m.PROXY_COUNTRY) or "").upper()
        return "" if pool == "any" else str(pool), country

    def _listed(self, pool: str, country: str) -> list[Proxy]:
        return [p for p in self.proxies if pool in ("", p.pool) and country in ("", p.country)]

    async def _take_proxy(
        self, request: Request, site: str, pool: str, country: str
    ) -> TakenProxy | float:
        """Take a proxy, or return the seconds to wait; an outage of Redis is a wait, too."""
        limits = self._limits_of(request, site)
        route = site, pool, country
        note_gate_proxy(request, getattr(self.crawler.spider, "gate_cookies", None))
        gate = str(request.meta.get(GATE_PROXY) or "") if request.meta.get(GATE_BOUND) else ""
        avoided = "" if gate else str(request.meta.get(ELSEWHERE) or "")
        try:
            proxies = await self._open()
            if limits is not None:
                await self._spread(proxies, site, pool, country)
            sent_at = time.monotonic()
            lease = await proxies.take(
                site,
                pool=pool,
                country=country,
                preferred=gate or ("" if avoided else self.sticky.proxy_of(route)),
                avoided=avoided,
                each_address=limits,
                is_bound=bool(gate),
            )
        except (RedisError, OSError) as error:
            self.redis_errors.note(error, f"The requests to {site} wait for a proxy")
            return 1.0
        if not isinstance(lease, TakenProxy):
            if lease == float("inf"):  # not listed, or Redis lost the list
                self._register_at = 0.0
                if not self._goes_directly() and not self._listed(pool, country):
                    self.stats.inc_value("proxies/no_such_pool")
                    self._lack.log_unlisted(pool, country)
            return lease
        self.clock.learn(lease.now_ms / 1000, sent_at, time.monotonic())
        proxy = self.proxies_by_id.get(lease.id)
        if proxy is None:  # the list changed meanwhile
            return 1.0
        request.meta.pop(ELSEWHERE, None)
        self.sticky.note(route, lease.id, proxy.pool)
        return lease

    def _limits_of(self, request: Request, site: str) -> EachAddress | None:
        """Limits that each proxy keeps for the site; None: the fleet keeps the site's limits."""
        if not self.limits_per.is_egress(site):
            return None
        # robots.txt keeps the limits of the page that triggered it.
        entry = self.inflight.entry_of(request.meta.get(m.INSTEAD_OF) or request)
        lease = entry.lease if entry is not None else None
        # A request that was leased before the limits were known is noted, not delayed; for one
        # without a lease middlewares.egress_pace gets a time.
        return EachAddress(lease.each_ms, lease.each_cap) if lease is not None else None

    async def _spread(self, proxies: ProxyPool, site: str, pool: str, country: str) -> None:
        """Report the number of a site's usable proxies to the frontier, every _COUNT_S."""
        if time.monotonic() < self.counted_at.get(site, 0.0):
            return
        self.counted_at[site] = time.monotonic() + _COUNT_S
        self.site_limits.set_spread(site, await proxies.usable(site, pool=pool, country=country))

    def _postpone(self, request: Request, site: str, wait_s: float) -> Request | None:
        is_unlisted = wait_s == float("inf")
        is_refused = is_unlisted or isinstance(wait_s, Rest)
        if isinstance(wait_s, Rest) and wait_s >= _LONG_S:
            self._lack.log_resting(site, wait_s)
        longest_s = _CLIMBING_S if self.verdicts else _LONGEST_S
        if is_unlisted and self._others_have:  # they may send it: the site must not wait for it
            longest_s = _LACKING_S
        wait_s = min(max(wait_s, random.uniform(0.4, 0.8)), longest_s)
        reason = _NOT_LISTED if is_unlisted else "no proxy is free"
        back = self.inflight.wait_for if is_unlisted else self.inflight.postpone
        copy = back(request, kind="proxy", reason=reason, wait_s=wait_s)
        if is_unlisted and copy is None and self.inflight.entry_of(request) is not None:
            raise IgnoreRequest(reason)  # the request is buried
        step = str(request.meta.get("ladder_step"))
        if is_refused and wait_s >= _LONG_S and request.meta.get(_TOLD) != step:
            # The whole pool is refused, so that the ladder counts it against the site.
            request.meta[_TOLD] = step
            self.verdicts.notify(request, False, _WHOLE_POOL)
        if wait_s >= _LONG_S and copy is not None:
            if is_refused and self.stop_if_no_proxies and self.crawler.engine is not None:
                asyncio.ensure_future(self.crawler.engine.close_spider_async(reason="no_proxies"))  # noqa: RUF006
            if is_refused or ELSEWHERE not in request.meta:  # others may use the avoided proxy
                self.site_limits.block(site, wait_s)
        return copy

    async def _wait(self, request: Request, site: str, wait_s: float) -> Request:
        """Wait with a request without a lease (robots.txt), which the frontier cannot postpone.

        Raises:
            NoWay: no worker lists a proxy of its pool.
            DownloadTimeoutError: no proxy was free for _LONGEST_S.
        """
        now_s, is_unlisted = time.monotonic(), wait_s == float("inf")
        until = request.meta.setdefault(_UNTIL, now_s + _LONGEST_S)
        if is_unlisted and now_s > until - _LONGEST_S + _LACKING_S:
            raise NoWay(_NOT_LISTED)
        if now_s > until:
            raise DownloadTimeoutError(f"no proxy is free for {site}")
        await asyncio.sleep(min(wait_s, 1.0))
        # Through all middlewares again, because the ladder may have changed the pool.
        return request.replace(dont_filter=True)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """Report the proxy's use; send a refused request through another proxy."""
        if LEASE not in request.meta:
            return response
        is_ban = getattr(self.crawler.spider, "response_is_ban", self.policy.response_is_ban)
        reason = f"refused through {request.meta[PROXY_ID]}: HTTP {response.status}"
        refused = request.meta.get(VERDICT) in REFUSED
        ban = is_ban(request, response)
        if ban is None:  # the page or its proxy is at fault: another one tells, on a further try
            request.meta[ELSEWHERE] = request.meta[PROXY_ID]
        if not ban:
            return await self.judge(request, response, ban=ban)
        back = await self.settle(request, ban, reason, refused=refused)
        return back or response

    async def judge(
        self, request: Request, response: Response, *, ban: bool | None = False
    ) -> Request | Response:
        """Report the proxy's use; send a request again whose answer may be the proxy's own."""
        proxy = request.meta[PROXY_ID]
        judged = await self.answers.judge(request, response, proxy, self.source_of(proxy))
        if judged.verdict == "AGAIN":
            return await self.look_again(request, f"answered as {judged.first}")
        if judged.verdict == "NO PAGE":
            reason = f"answered as {judged.first} through {proxy}"
            return await self.reject(request, reason, judged.first != NO_FRONT) or response
        # By a redirect that nothing proves no proxy is good, or its ban by others would end.
        is_redirect = 300 <= response.status < 400  # noqa: PLR2004
        is_unproven = is_redirect and judged.verdict == "UNPROVEN"
        await self.settle(request, None if is_unproven else ban, "")
        return response

    def source_of(self, proxy_id: str) -> str:
        """Return who stands behind a proxy: its provider, else its address."""
        proxy = self.proxies_by_id.get(proxy_id)
        return (proxy.provider if proxy is not None else "") or proxy_id.partition("#")[0]

    def _find(self, proxy_id: str) -> Proxy | None:
        return self.proxies_by_id.get(proxy_id)

    def _sources(self, pool: str = "", country: str = "") -> set[str]:
        return {self.source_of(proxy.id) for proxy in self._listed(pool, country)}

    def _witness(self, request: Request) -> str:
        """Return who stands behind a request's proxy, if others might contradict; else ''."""
        if LEASE not in request.meta or len(self._sources(*self._route_of(request))) == 1:
            return ""
        return self.source_of(str(request.meta[PROXY_ID]))

    async def look_again(self, request: Request, reason: str) -> Request:
        """Send a request once more, through another proxy if there is one; no try is counted.

        It overtakes the site's other requests, because they get such answers until it tells.
        """
        await self.report(request, "unknown")
        self.stats.inc_value("proxies/looks_again")
        request.meta[ELSEWHERE] = request.meta[PROXY_ID]
        copy = self.inflight.postpone(request, kind="proxy", reason=reason, wait_s=0.0)
        copy = copy or request.replace(dont_filter=True)
        copy.priority = max(copy.priority, _LOOKS_FIRST)
        return copy

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Report the proxy's use; send the request through another proxy if this one failed."""
        if LEASE not in request.meta:
            return None
        if isinstance(exception, NotNow):  # nothing was sent
            await self.report(request, "unknown")
            return None
        is_ban = getattr(self.crawler.spider, "exception_is_ban", self.policy.exception_is_ban)
        reason = f"failed through {request.meta[PROXY_ID]}: {type(exception).__name__}"
        return await self.settle(request, is_ban(request, exception), reason)

    async def settle(
        self, request: Request, ban: bool | None, reason: str, *, refused: bool = False
    ) -> Request | None:
        """Report a use of the proxy; return the next try of a request whose proxy is banned."""
        request.meta["_ban"] = ban
        # If the site never accepted this proxy, the proxy is to blame, and the try does not count;
        # otherwise the page may be at fault.
        tries = int(request.meta.get(_TRIES) or 0) + (not request.meta.get(_PROBE))
        if not ban or tries > self.max_tries:
            await self.report(request, "good" if ban is False else "unknown")
            return None
        reply = await self.report(request, "ban", reason)
        if refused and reply in _NEWS and not request.meta.get(_PROBE):
            # The site refuses a proxy that it accepted before; all its uses count as one verdict.
            self.verdicts.notify(request, False)
        self.stats.inc_value("proxies/bans")
        request.meta[_TRIES] = tries
        copy = self.inflight.postpone(request, kind="proxy", reason=reason, wait_s=0.0)
        # A request without a lease, as for robots.txt, is sent again at once.
        return copy or request.replace(dont_filter=True)

    async def reject(self, request: Request, reason: str, may_ban: bool = True) -> Request | None:
        """Send a request again whose answer was the proxy's own; None: it has no lease, and failed.

        Where many proxies give such answers a try counts, because none of them may count as done.
        The only proxy is not banned, because it may answer so now and then: its answers are tries.

        Raises:
            IgnoreRequest: it has no try left, and is buried.
        """
        if not may_ban or len(self.proxies_by_id) == 1:
            await self.report(request, "unknown")
            back = self.inflight.retry(request, kind="ban", reason=reason)
        else:
            back = await self.settle(request, True, reason)
            back = back or self.inflight.retry(request, kind="proxy", reason=reason)
        if back is None and self.inflight.entry_of(request) is not None:
            raise IgnoreRequest(reason)
        return back

    async def report(self, request: Request, outcome: Outcome, reason: str = "") -> str:
        """Report a use of the request's proxy; return the pool's reply."""
        lease = TakenProxy(request.meta[PROXY_ID], request.meta.pop(LEASE))
        site, least_s = domain(request.url), self.pauses.named_s(request)
        try:
            reply = await (await self._open()).report(site, lease, outcome, least_s)
        except (RedisError, OSError) as error:
            self.redis_errors.note(error, "What proxies did is not counted")
            return ""
        if reply in _NEWS:
            self.counted_at.pop(site, None)
            logger.info("proxy %s is %s by %s: %s", lease.id, reply.lower(), site, reason)
        return reply

    def opened(self) -> None:
        """Have the doubtful pages requested before the crawl counts as complete."""
        ended = self.inflight.completed

        async def completed() -> bool:
            return await self.answers.fetch_again(is_end=True) or await ended()

        self.inflight.completed = completed

    async def closed(self) -> None:
        """Disconnect."""
        if self._pool is not None:
            try:
                await self._pool.withdraw(self.worker)
            except (RedisError, OSError) as error:
                self.redis_errors.note(error, "This worker's proxies stay listed for a while")
            await self._pool.redis.aclose()
