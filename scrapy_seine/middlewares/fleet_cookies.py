"""Scrapy's cookies, shared by the fleet: one worker's login serves all of them.

A jar belongs to the crawl's run, to `meta["cookiejar"]`, to the identity with its proxy if a
request has one, and to a site. A change is written to Redis before the callback gets the page, so
that the links of the page carry the jar's version (`meta["jar"]`). A worker whose copy of the jar
is older reads the jar before it sends the request. Requests that do not come from such a page use
the copy for REREAD_S without a check.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import cache, lru_cache
from http.cookiejar import Cookie
from time import monotonic
from typing import Self, TypeVar

import attrs
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.http import Response
from scrapy.http.cookies import potential_domain_matches
from scrapy.utils.httpobj import urlparse_cached
from tldextract import TLDExtract

from scrapy_seine import meta as m
from scrapy_seine.config import FrontierConfig, number
from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.encoding.seal import Seal
from scrapy_seine.middlewares.cookie_limit import Jar
from scrapy_seine.middlewares.jars_in_redis import FleetJars, Place
from scrapy_seine.store_wait import RetryUntil

logger = logging.getLogger(__name__)
T = TypeVar("T")
#: How often a worker checks a jar without a version in its requests for changes, s.
REREAD_S = 5.0
#: Jars of one worker, at most; Redis has them all.
MOST_JARS = 5000
#: A cookie whose expiry changes by less is not sent to the fleet again, s.
_PROLONGED_S = 60


@attrs.define(eq=False, repr=False)
class _Shared:
    """This worker's copy of a jar."""

    name: str
    cookies: Jar = attrs.Factory(Jar)
    version: int = 0
    looked_at: float = -REREAD_S
    """When it was last compared with the fleet's (monotonic)."""
    lock: asyncio.Lock = attrs.Factory(asyncio.Lock)

    def is_behind(self, carried: int) -> bool:
        """Whether a request that carries this version has to wait for a read of Redis."""
        return carried > self.version or monotonic() - self.looked_at > REREAD_S

    def places(self, host: str) -> dict[Place, Cookie]:
        """Return cookies that a request to *host* may set or get."""
        names = potential_domain_matches(host)
        names += potential_domain_matches(f"{host}.local") if "." not in host else []
        cookies = (cookie for domain in names for cookie in self.cookies.of(domain))
        return {(cookie.domain, cookie.path, cookie.name): cookie for cookie in cookies}


class FleetCookies(CookiesMiddleware):
    """Scrapy's middleware, whose jars are the fleet's."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        super().__init__(settings.getbool("COOKIES_DEBUG"))
        self.crawler = crawler
        self.worker = worker_of(crawler)
        self.outage_s = number(settings, "SEINE_OUTAGE_LIMIT", 600)
        config = FrontierConfig.from_settings(settings, crawler.spidercls.name)
        self._crawl, self._seal = config.crawl, Seal(config.crawl, config.secrets)
        self._shared: OrderedDict[str, _Shared] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it.

        Raises:
            ConfigError: a setting is wrong.
        """
        return cls(crawler)

    def process_request(  # type: ignore[override]
        self, request: Request, spider: Spider | None = None
    ) -> Awaitable[None] | None:
        """Set the cookies of the request's jar."""
        if request.meta.get("dont_merge_cookies", False):
            return None
        jar = self._jar(request)
        if request.cookies or jar.lock.locked() or jar.is_behind(_carried(request, jar)):
            return self._catch_up(request, jar)
        self._set_cookie_header(request, jar)
        return None

    async def _catch_up(self, request: Request, jar: _Shared) -> None:
        async with jar.lock:
            if jar.is_behind(_carried(request, jar)):
                await self._read(jar, _carried(request, jar))
            if request.cookies:
                before = jar.places(_host(request))
                request_cookies = scrapy_internals.cookies_asked_for(self, jar.cookies, request)
                scrapy_internals.keep_cookies(self, request_cookies, jar.cookies, request)
                await self._share(jar, before, request)
        self._set_cookie_header(request, jar)

    def _set_cookie_header(self, request: Request, jar: _Shared) -> None:
        request.headers.pop("Cookie", None)
        jar.cookies.add_cookie_header(request)
        self._debug_cookie(request)
        if jar.version:
            request.meta[m.JAR] = f"{jar.name} {jar.version}"

    def process_response(  # type: ignore[override]
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Awaitable[Response] | Response:
        """Store the cookies of a response for the fleet."""
        if request.meta.get("dont_merge_cookies", False) or b"Set-Cookie" not in response.headers:
            return response
        return self._keep(request, response)

    async def _keep(self, request: Request, response: Response) -> Response:
        jar = self._jar(request)
        async with jar.lock:
            before = jar.places(_host(request))
            cookies = jar.cookies.make_cookies(response, request)
            scrapy_internals.keep_cookies(self, cookies, jar.cookies, request)
            await self._share(jar, before, request)
        self._debug_set_cookie(response)
        if jar.version:
            request.meta[m.JAR] = f"{jar.name} {jar.version}"
        return response

    async def _read(self, jar: _Shared, carried: int) -> None:
        """Update the copy to the fleet's version."""
        fleet = self._fleet()
        if fleet is None:
            return
        if await self._until(lambda: fleet.version(jar.name)) != jar.version:
            version, cookies = await self._until(lambda: fleet.read_jar(jar.name))
            jar.cookies.clear()
            for cookie in cookies:
                jar.cookies.set_cookie(cookie)
            jar.version = version
        # An expired jar never reaches the version that a request carries.
        jar.version = max(jar.version, carried)
        jar.looked_at = monotonic()

    async def _share(self, jar: _Shared, before: dict[Place, Cookie], request: Request) -> None:
        """Send changes to the fleet."""
        after = jar.places(_host(request))
        changed = {p: c for p, c in after.items() if p not in before or _differs(before[p], c)}
        removed = [place for place in before if place not in after]
        fleet = self._fleet()
        if fleet is None or not (changed or removed):
            return
        version = await self._until(lambda: fleet.change(jar.name, changed, removed))
        if version == jar.version + 1:
            jar.version = version
        else:  # other workers changed it as well, and their changes are missing here
            jar.looked_at = -REREAD_S
            await self._read(jar, 0)

    async def _until(self, work: Callable[[], Awaitable[T]]) -> T:
        """Wait out an outage, because a request without its cookies would get another page."""
        return await RetryUntil(self.outage_s, logger.warning).try_until_async(work)

    def _fleet(self) -> FleetJars | None:
        member = self.worker.member
        return None if member is None else FleetJars(member.redis, self._crawl, self._seal)

    def _jar(self, request: Request) -> _Shared:
        name = self._name(request)
        jar = self._shared.get(name)
        if jar is None:
            jar = self._shared[name] = _Shared(name)
            while len(self._shared) > MOST_JARS:
                self._shared.popitem(last=False)
        else:
            self._shared.move_to_end(name)
        return jar

    def _name(self, request: Request) -> str:
        meta = request.meta
        identity = meta.get("identity_now") or meta.get(m.IDENTITY)
        way_out = meta.get("proxy_id") or meta.get("proxy") if identity else None
        site = _site_of(_host(request))
        run = (self.worker.state, meta.get(m.RUN))
        parts = (run, meta.get("cookiejar"), identity, way_out, site)
        return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:32]

    def _debug_cookie(self, request: Request) -> None:
        """Log the names of sent cookies; values would open sessions."""
        if self.debug and (cookie_header := request.headers.get("Cookie")):
            names = [
                pair.partition(b"=")[0].decode("latin-1") for pair in cookie_header.split(b"; ")
            ]
            logger.debug("Sending cookies to %s: %s", request, ", ".join(names))

    def _debug_set_cookie(self, response: Response) -> None:
        """Log the names of received cookies."""
        if self.debug:
            headers = response.headers.getlist("Set-Cookie")
            names = [cookie.partition(b"=")[0].decode("latin-1") for cookie in headers]
            logger.debug("Received cookies from %s: %s", response, ", ".join(names))


@cache
def _splitter() -> TLDExtract:
    # The package's own list: fetching another would block the event loop.
    return TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


@lru_cache(maxsize=10_000)
def _site_of(host: str) -> str:
    """Return the site of a host: all hosts that may share cookies with it have it in common.

    >>> _site_of("www.shop.co.uk"), _site_of("a.b.intranet"), _site_of("127.0.0.1")
    ('shop.co.uk', 'b.intranet', '127.0.0.1')
    """
    parts = _splitter()(host)
    if parts.top_domain_under_public_suffix or parts.ipv4 or parts.ipv6:
        return parts.top_domain_under_public_suffix or host
    return ".".join(host.split(".")[-2:])


def _host(request: Request) -> str:
    return (urlparse_cached(request).hostname or "").lower()


def _carried(request: Request, jar: _Shared) -> int:
    """Return the jar version that a request carries; 0 if it carries none, or another jar's."""
    name, _, version = str(request.meta.get(m.JAR, "")).partition(" ")
    return int(version) if name == jar.name and version.isdecimal() else 0


def _differs(before: Cookie, after: Cookie) -> bool:
    """Whether the fleet has to learn of a cookie that was set again."""
    if (before.value, before.secure) != (after.value, after.secure):
        return True
    if before.expires is None or after.expires is None:
        return before.expires != after.expires
    return abs(after.expires - before.expires) >= _PROLONGED_S
