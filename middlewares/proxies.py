"""Requests leave through the fleet's proxies; a refused one leaves through another."""

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
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotConfigured,
)
from scrapy.http import Response

from crawler.access.detect import REFUSED, RULE, VERDICT
from crawler.access.proxies.limits_per import LimitsPer
from crawler.access.proxies.line import BadLine, Proxy
from crawler.access.proxies.operator_list import ProxyList
from crawler.access.proxies.pool import (
    Each,
    Outcome,
    PoolConfig,
    ProxyPool,
    Registered,
    Slot,
    Taken,
)
from crawler.access.proxies.sticky import StickyProxies
from crawler.access.shared_state import fleet_name
from crawler.stores.postgres_endpoint import endpoints, redis_client
from scrapy_seine import meta as m
from scrapy_seine.config import flag, number
from scrapy_seine.engine.download.send_gate import NotNow
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import AddressRefused, ConfigError, NoWay
from scrapy_seine.frontier.round_trips.server_clock import ServerClock
from scrapy_seine.urls import domain

logger = logging.getLogger(__name__)

#: Keys of `request.meta`: the proxy's id, which may be shown, and the token of its use.
PROXY_ID, LEASE = "proxy_id", "proxy_lease"
#: Key of `request.meta`: when its proxy may be used for its domain (`Slot`); None: at once.
AT = "proxy_at"
_PROBE = "proxy_probe"
_NOT_LISTED = "no proxy of its pool is listed"
#: Seconds between two looks at the list's file.
_RELOAD_S = 10.0
#: Seconds after which a worker says again what it lists.
_REGISTER_S = 300.0
#: Seconds for which workers may have different lists before that is worth a word.
_SETTLE_S = 30.0
#: Seconds between two counts of the proxies that a domain may be asked through.
_COUNT_S = 15.0
#: A longer wait is the whole domain's, not one request's: nothing else could be sent either.
_LONG_S = 2.0
#: Nothing waits longer than this before it looks again, seconds.
_LONGEST_S = 30.0
#: Nor longer than this where the ladder may find another way, seconds.
_CLIMBING_S = 4.0
#: Nor longer than this where nobody lists such a proxy (a worker may just be telling of it), s.
_LACKING_S = 1.0
#: Bad answers that a pool without a usable proxy counts as: it took as many to get there.
_WHOLE_POOL = 3
#: Rule of a page that is whole, but made by JavaScript: its proxy did all that a proxy can.
_SHELL = "javascript-shell"
#: Replies of the pool that stand for a new ban.
_NEWS = frozenset({"BANNED", "RESTING"})
_TRIES = "proxy_retry_times"
#: Key of `request.meta`: until when a request waits here, monotonic seconds.
_UNTIL = "proxy_until"
#: Key of `request.meta`: step on which it already said that the pool is refused.
_TOLD = "proxy_told"


class Proxies(RotatingProxyMiddleware):  # type: ignore[misc]  # the base class has no types
    """rotating_proxies with one memory for the fleet; its lists, limits and ban policy count.

    Which proxy may be used is decided in Redis (crawler.access.proxies.pool). Where none is free
    the request returns to the frontier with its tries untouched.
    """

    def __init__(self, crawler: Crawler, proxy_list: ProxyList) -> None:
        settings = crawler.settings
        self.crawler = crawler
        self.stats: Any = crawler.stats
        self.proxy_list = proxy_list
        self.config = PoolConfig.from_settings(settings)
        self.default = str(settings.get("SEINE_PROXY_POOL", "any"))
        self.most_tries = int(number(settings, "ROTATING_PROXY_PAGE_RETRY_TIMES", 5))
        self.sticky = StickyProxies(settings)
        self.limits_per = LimitsPer(settings)
        self.clock = ServerClock()
        self.counted: dict[str, float] = {}
        self.stop_if_no_proxies = flag(settings, "ROTATING_PROXY_CLOSE_SPIDER")
        self.policy: Any = BanDetectionMiddleware._load_policy(crawler)
        worker = worker_of(crawler)
        self.inflight, self.site_limits = worker.inflight, worker.site_limits
        self.verdicts = worker.verdict_listeners
        self.known: dict[str, Proxy] = {}
        self.proxies: list[Proxy] = []
        self.worker = uuid.uuid4().hex[:16]
        self._pool: ProxyPool | None = None
        self._look_at = self._register_at = 0.0
        self._differs = 0
        self._wrong = ""
        self._lacking: set[tuple[str, str]] = set()
        self._opening = asyncio.Lock()
        self._late: set[asyncio.Task[str]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Find the lists.

        Raises:
            NotConfigured: there is no list of proxies, or the list is empty.
            ConfigError: a setting is wrong, or a list cannot be read.
        """
        proxy_list = ProxyList.from_settings(crawler.settings)
        if not proxy_list:
            raise NotConfigured  # without a word: Scrapy would warn of what is usual
        if told := proxy_list.check():
            logger.warning("%s", told)
            raise NotConfigured
        middleware = cls(crawler, proxy_list)
        found = ProxyList.from_settings(crawler.settings).read() or ([], [])
        worker_of(crawler).reach.trust(proxy.url for proxy in found[0])
        crawler.signals.connect(middleware.downloaded, signals.response_downloaded)
        crawler.signals.connect(middleware.closed, signals.spider_closed)
        return middleware

    async def _open(self) -> ProxyPool:
        """Connect, and read the list where it changed."""
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
        """Tell the fleet what this worker lists: where that changed, and now and then."""
        found = self._read()
        if found is not None:
            self.proxies, bad = found
            for line in bad:
                logger.error("list of proxies, line %d is left out: %s", line.number, line.reason)
            self.known = {proxy.id: proxy for proxy in self.proxies}
        elif time.monotonic() < self._register_at:
            return
        registered = await pool.register(self.proxies, self.worker)
        self._register_at = time.monotonic() + _REGISTER_S
        self.stats.set_value("proxies/listed", len(self.proxies))
        self.stats.set_value("proxies/lists_in_fleet", registered.lists)
        if found is not None:
            text = "%d proxies listed, %d left the fleet"
            logger.info(text, len(self.proxies), registered.left)
        self._compare(registered)

    def _read(self) -> tuple[list[Proxy], list[BadLine]] | None:
        """Read the list; None where it is as before, or where the last one must do.

        A list that vanishes or becomes empty meanwhile changes nothing: its requests would leave
        from this worker's own address.
        """
        try:
            found, wrong = self.proxy_list.read(), ""
        except ConfigError as error:
            found, wrong = None, str(error)
        if found is not None and not found[0]:
            found, wrong = None, "the list of proxies is empty now"
            self.proxy_list.forget()  # so that it is told for as long as it is
        if wrong:
            self.stats.inc_value("proxies/list_errors")
            if wrong != self._wrong:
                logger.error("%s; the last %d stay in use", wrong, len(self.proxies))
        self._wrong = wrong
        return found

    def _tell_of_lack(self, pool: str, country: str) -> None:
        """Say once that a request waits for a proxy that nobody lists."""
        self.stats.inc_value("proxies/no_such_pool")
        if (pool, country) not in self._lacking:
            self._lacking.add((pool, country))
            where = f" in {country}" if country else ""
            logger.error(
                "no proxy of pool %r%s is listed: its requests wait, and are given up in the end; "
                "list one, or change SEINE_PROXY_POOL or meta['proxy_pool']",
                pool or "any",
                where,
            )

    def _compare(self, registered: Registered) -> None:
        """Say once that workers have different lists, unless that was about to change."""
        if registered.lists == 1:
            self._differs = 0
            return
        self._differs += 1
        if self._differs == 1:  # a changed file reaches the workers one after the other
            self._register_at = time.monotonic() + _SETTLE_S
        elif self._differs == 2:  # noqa: PLR2004
            logger.warning(
                "the fleet's workers have %d different lists of proxies; each uses its own. "
                "Only here: %s; only elsewhere: %s",
                registered.lists,
                registered.here,
                registered.elsewhere,
            )

    async def process_request(self, request: Request) -> Request | None:
        """Send the request through a proxy, or back until one is free."""
        request.meta.pop(m.GATEWAY, None)
        own = request.meta.get("pool_now") or request.meta.get(m.PROXY_POOL)
        wanted = str(own or self.default)
        if wanted == "none" or ("proxy" in request.meta and "_rotating_proxy" not in request.meta):
            return None
        site = domain(request.url)
        taken = await self._take(request, site, "" if wanted == "any" else wanted)
        if isinstance(taken, float):
            self.stats.inc_value("proxies/none_free")
            return self._later(request, site, taken) or await self._wait(request, site, taken)
        request.meta.pop(_UNTIL, None)
        proxy = self.known[taken.id]
        request.meta.update({"_rotating_proxy": True, PROXY_ID: taken.id, LEASE: taken.token})
        if proxy.is_gateway:  # None: HttpProxyMiddleware is to set none of the environment's
            request.meta.update({"proxy": None, m.GATEWAY: proxy.url})
        else:
            request.meta["proxy"] = proxy.url
        request.meta["proxy_provider"] = proxy.provider
        request.meta[_PROBE] = taken.probe
        at_s = self.clock.local(taken.at_ms / 1000)
        request.meta[AT] = Slot(taken.at_ms, at_s) if taken.at_ms else None
        if proxy.country:
            request.meta["exit_country"] = proxy.country
        self.stats.inc_value(f"proxies/used/{proxy.pool}")
        return None

    async def _take(self, request: Request, site: str, pool: str) -> Taken | float:
        """Take a proxy, or say for how many seconds to wait; an outage of Redis is a wait, too."""
        country = str(request.meta.get(m.PROXY_COUNTRY) or "").upper()
        each = self._each(request, site)
        way = site, pool, country
        kept = self.sticky.kept(way)
        try:
            proxies = await self._open()
            if each is not None:
                await self._spread(proxies, site, pool, country)
            asked = time.monotonic()
            taken = await proxies.take(site, pool=pool, country=country, keep=kept, each=each)
        except (RedisError, OSError):
            self.stats.inc_value("proxies/store_errors")
            return 1.0
        if not isinstance(taken, Taken):
            if taken == float("inf"):  # or Redis has lost what it knew
                self._register_at = 0.0
                if not any(
                    p.pool == (pool or p.pool) and p.country == (country or p.country)
                    for p in self.proxies
                ):
                    self._tell_of_lack(pool, country)
            return taken
        self.clock.learn(taken.now_ms / 1000, asked, time.monotonic())
        proxy = self.known.get(taken.id)
        if proxy is None:  # the list changed meanwhile
            return 1.0
        self.sticky.note(way, taken.id, proxy.pool)
        return taken

    def _each(self, request: Request, site: str) -> Each | None:
        """Limits that each proxy keeps for the site; None: the site's are the whole fleet's."""
        if not self.limits_per.is_egress(site):
            return None
        # robots.txt keeps the limits of the page in whose place it is asked for.
        entry = self.inflight.entry_of(request.meta.get(m.INSTEAD_OF) or request)
        lease = entry.lease if entry is not None else None
        # What is not the frontier's, or is from before it knew, is noted and not held up.
        return Each(lease.each_ms, lease.each_cap) if lease is not None else Each(0, 0)

    async def _spread(self, proxies: ProxyPool, site: str, pool: str, country: str) -> None:
        """Tell the frontier now and then how many addresses keep the site's limits."""
        if time.monotonic() < self.counted.get(site, 0.0):
            return
        self.counted[site] = time.monotonic() + _COUNT_S
        self.site_limits.set_spread(site, await proxies.usable(site, pool=pool, country=country))

    def _later(self, request: Request, site: str, wait_s: float) -> Request | None:
        lacks, longest_s = wait_s == float("inf"), _CLIMBING_S if self.verdicts else _LONGEST_S
        wait_s = min(max(wait_s, random.uniform(0.4, 0.8)), longest_s)
        reason = _NOT_LISTED if lacks else "no proxy is free"
        back = self.inflight.wait_for if lacks else self.inflight.postpone
        copy = back(request, kind="proxy", reason=reason, wait_s=wait_s)
        if lacks and copy is None and self.inflight.entry_of(request) is not None:
            raise IgnoreRequest(reason)  # the request is buried
        step = str(request.meta.get("ladder_step"))
        if wait_s >= _LONG_S and request.meta.get(_TOLD) != step:
            # The whole pool is refused: that is about the site, and the ladder's business.
            request.meta[_TOLD] = step
            self.verdicts.tell(request, False, _WHOLE_POOL)
        if wait_s >= _LONG_S and copy is not None:
            if self.stop_if_no_proxies and self.crawler.engine is not None:
                asyncio.ensure_future(self.crawler.engine.close_spider_async(reason="no_proxies"))  # noqa: RUF006
            self.site_limits.block(site, wait_s)
        return copy

    async def _wait(self, request: Request, site: str, wait_s: float) -> Request:
        """Wait here with what is not the frontier's: robots.txt; nobody would send it again.

        Raises:
            NoWay: nobody lists a proxy of its pool.
            DownloadTimeoutError: no proxy was free for long.
        """
        now, lacks = time.monotonic(), wait_s == float("inf")
        until = request.meta.setdefault(_UNTIL, now + _LONGEST_S)
        if lacks and now > until - _LONGEST_S + _LACKING_S:
            raise NoWay(_NOT_LISTED)
        if now > until:
            raise DownloadTimeoutError(f"no proxy is free for {site}")
        await asyncio.sleep(min(wait_s, 1.0))
        # From the top: the ladder may have found another pool.
        return request.replace(dont_filter=True)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """Report the use; send a refused request through another proxy."""
        if LEASE not in request.meta:
            return response
        is_ban = getattr(self.crawler.spider, "response_is_ban", self.policy.response_is_ban)
        reason = f"refused through {request.meta[PROXY_ID]}: HTTP {response.status}"
        refused = request.meta.get(VERDICT) in REFUSED
        back = await self._judged(request, is_ban(request, response), reason, refused=refused)
        return back or response

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Report the use; send the request through another proxy if this one failed."""
        if LEASE not in request.meta:
            return None
        if isinstance(exception, NotNow):  # nothing was sent
            await self._report(request, "unknown")
            return None
        is_ban = getattr(self.crawler.spider, "exception_is_ban", self.policy.exception_is_ban)
        reason = f"failed through {request.meta[PROXY_ID]}: {type(exception).__name__}"
        return await self._judged(request, is_ban(request, exception), reason)

    async def _judged(
        self, request: Request, ban: bool | None, reason: str, *, refused: bool = False
    ) -> Request | None:
        request.meta["_ban"] = ban
        # If the site never accepted this proxy, the proxy is to blame, and the try does not count;
        # otherwise the page may be at fault.
        tries = int(request.meta.get(_TRIES) or 0) + (not request.meta.get(_PROBE))
        if not ban or tries > self.most_tries:
            await self._report(request, "good" if ban is False else "unknown")
            return None
        word = await self._report(request, "ban")
        if refused and word in _NEWS and not request.meta.get(_PROBE):
            # The site refuses a proxy that it accepted before; all uses of it together are one.
            self.verdicts.tell(request, False)
        self.stats.inc_value("proxies/bans")
        request.meta[_TRIES] = tries
        copy = self.inflight.postpone(request, kind="proxy", reason=reason, wait_s=0.0)
        # What is not the frontier's, robots.txt for instance, is tried again on the spot.
        return copy or request.replace(dont_filter=True)

    async def _report(self, request: Request, outcome: Outcome) -> str:
        taken = Taken(request.meta[PROXY_ID], request.meta.pop(LEASE))
        return await self._tell(domain(request.url), taken, outcome)

    async def _tell(self, site: str, taken: Taken, outcome: Outcome) -> str:
        try:
            word = await (await self._open()).report(site, taken, outcome)
        except (RedisError, OSError):
            self.stats.inc_value("proxies/store_errors")
            return ""
        if word in _NEWS:
            self.counted.pop(site, None)
            logger.info("proxy %s is %s by %s", taken.id, word.lower(), site)
        return word

    def downloaded(self, response: Response, request: Request) -> None:
        """Report a redirect here: the middleware that follows it ends the chain before this one."""
        if not 300 <= response.status < 400 or LEASE not in request.meta:  # noqa: PLR2004
            return
        taken = Taken(request.meta[PROXY_ID], request.meta.pop(LEASE))
        task = asyncio.ensure_future(self._tell(domain(request.url), taken, "good"))
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def closed(self) -> None:
        """Finish the reports and disconnect."""
        await asyncio.gather(*self._late, return_exceptions=True)
        if self._pool is None:
            return
        try:
            await self._pool.withdraw(self.worker)
        except (RedisError, OSError):
            self.stats.inc_value("proxies/store_errors")
        await self._pool.redis.aclose()


class VerdictPolicy:
    """Ban policy in rotating_proxies' form: by the verdict, and by what only proxies do wrong."""

    _PROXY_RULES = frozenset({"proxy-error", "proxy-auth", "squid", "garbage", "truncated"})
    #: It was not asked for, or is larger than it may be.
    _PAGES = (IgnoreRequest, NoWay, AddressRefused, DownloadCancelledError)
    _BAN_STATUSES = frozenset({403, 407, 429, 503})

    def response_is_ban(self, request: Request, response: Response) -> bool | None:
        """True: banned; False: not; None: no telling."""
        verdict = request.meta.get(VERDICT)
        if verdict is None:
            return response.status in self._BAN_STATUSES
        if verdict in {"blocked", "captcha", "throttled"}:
            return True
        if verdict == "ok" or request.meta.get(RULE) == _SHELL:
            return False
        return True if request.meta.get(RULE) in self._PROXY_RULES else None

    def exception_is_ban(self, request: Request, exception: Exception) -> bool | None:
        """A download that failed through a proxy counts against it, unless the page is to blame."""
        return None if isinstance(exception, self._PAGES) else True
