"""Sets how a request of the browser lane is rendered: context, identity, proxy, actions."""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable
from time import monotonic
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from redis.exceptions import RedisError
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotSupported

from crawler.access.browser_programs import NoBrowser
from crawler.access.identities import BOT, PROFILE, spoken_in
from scrapy_seine.config import flag
from scrapy_seine.engine.download.lanes import lane_of
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.stated_outcomes import LACKING_S
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.live_workers import lanes_of
from scrapy_seine.politeness.site_limits import SiteLimits
from scrapy_seine.urls import domain

logger = logging.getLogger(__name__)

#: Error of a proxy that a browser cannot use.
NO_LOGIN = (
    "a browser cannot log in to the SOCKS proxy {address}: list it as http:// if it speaks that, "
    "or without a password behind a forwarder of your own"
)
#: Seconds between two readings of the lanes of the fleet's workers.
_LOOK_S = 10.0
#: Key of `request.meta`: `wait_for`, `wait_s`, `scroll`, `mouse` (crawler.access.browser_actions).
RENDER = "render"
#: Window sizes of visitors; each visitor keeps one.
_WINDOWS = ((1366, 768), (1440, 900), (1536, 864), (1920, 1080))


class Render:
    """Sets the meta keys of scrapy-playwright, for one download; they are not stored in Redis."""

    def __init__(
        self,
        inflight: InFlightTable,
        site_limits: SiteLimits,
        robot: str,
        plan: dict[str, Any],
        *,
        able: bool,
    ) -> None:
        self.inflight = inflight
        self.site_limits = site_limits
        self.able = able
        self.robot = robot
        self.plan = plan
        self.logged: set[str] = set()
        self._has_browser, self._look_at = True, 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings.

        Raises:
            ConfigError: SEINE_BROWSER is neither yes nor no.
        """
        settings = crawler.settings
        robot, plan = str(settings.get("USER_AGENT")), settings.getdict("SEINE_RENDER")
        inflight, site_limits = worker_of(crawler).inflight, worker_of(crawler).site_limits
        return cls(inflight, site_limits, robot, plan, able=flag(settings, "SEINE_BROWSER"))

    def process_request(self, request: Request) -> Awaitable[Request | None] | None:
        """Prepare a request of the browser lane; without a browser, leave it to another worker.

        Raises:
            NotSupported: a browser cannot use the request's proxy; it is retried with another.
        """
        if lane_of(request) != "browser":
            return None
        if not self.able:
            return self._leave(request)
        self._prepare(request)
        return None

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Postpone a page whose browser did not start, without counting a try."""
        if not isinstance(exception, NoBrowser):
            return None
        wait_s = random.uniform(0.5, 2.0)
        return self.inflight.postpone(request, kind="lane", reason=str(exception), wait_s=wait_s)

    async def _leave(self, request: Request) -> Request | None:
        """Postpone a request for a browser worker; without such a worker, for a limited time.

        Raises:
            NotSupported: the time is over; the request is buried.
        """
        wait_s = random.uniform(0.5, 2.0)
        if await self._fleet_has_browser():
            reason = "this worker has no browser"
            return self.inflight.postpone(request, kind="lane", reason=reason, wait_s=wait_s)
        reason = "no worker of the fleet has a browser"
        copy = self.inflight.wait_for(request, kind="lane", reason=reason, wait_s=10 * wait_s)
        if copy is None and self.inflight.entry_of(request) is not None:
            raise NotSupported(reason)
        return copy

    async def _fleet_has_browser(self) -> bool:
        """Whether a live worker of the fleet has a browser, read every _LOOK_S."""
        if monotonic() < self._look_at or self.site_limits.exchange is None:
            return self._has_browser
        frontier = self.site_limits.exchange.frontier
        try:
            self._has_browser = "browser" in await lanes_of(frontier)
        except (RedisError, OSError):
            return self._has_browser
        self._look_at = monotonic() + _LOOK_S
        if not self._has_browser and "lane" not in self.logged:
            self.logged.add("lane")
            logger.error(
                "requests need a browser, and no worker has one: requests wait %d s and are then "
                "given up; start a worker with SEINE_BROWSER=1",
                LACKING_S,
            )
        return self._has_browser

    def _prepare(self, request: Request) -> None:
        from scrapy_playwright.page import PageMethod

        from crawler.access.browser_actions import behave

        meta = request.meta
        exit_id = meta.get("proxy_id") or "direct"
        plan = {**self.plan, **(meta.get(RENDER) or {})}
        meta["playwright"] = True
        meta["browser_visitor"] = f"{domain(request.url)} {exit_id} {meta.get(PROFILE) or BOT}"
        # The lane itself waits until the page is loaded (crawler.access.page_navigations).
        meta["playwright_page_goto_kwargs"] = {"wait_until": "commit"}
        meta["playwright_page_methods"] = [PageMethod(behave, plan)]
        meta["playwright_context_kwargs"] = self.context(request, meta["browser_visitor"])

    def context(self, request: Request, visitor: str) -> dict[str, Any]:
        """Options of the visitor's browser context."""
        width, height = _WINDOWS[sum(visitor.encode()) % len(_WINDOWS)]
        # A service worker would answer later pages itself, or request them outside of their slots.
        options: dict[str, Any] = {
            "viewport": {"width": width, "height": height},
            "service_workers": "block",
        }
        # The bot sends its own User-Agent here, too; a profile keeps the browser's.
        if not request.meta.get(PROFILE):
            options["user_agent"] = self.robot
        elif request.meta.get("exit_country"):
            options["locale"] = spoken_in(str(request.meta["exit_country"]))[0]
        if request.meta.get("proxy"):
            options["proxy"] = self._proxy(str(request.meta["proxy"]))
        return options

    def _proxy(self, url: str) -> dict[str, str]:
        try:
            return proxy_of(url)
        except NotSupported as error:
            if str(error) not in self.logged:
                self.logged.add(str(error))
                logger.error("%s", error)
            raise


def proxy_of(url: str) -> dict[str, str]:
    """Convert a proxy's URL to Playwright's options.

    Raises:
        NotSupported: browsers of Chromium's family cannot log in to a SOCKS proxy.

    >>> proxy_of("http://me:p%40ss@p.example:8080")
    {'server': 'http://p.example:8080', 'username': 'me', 'password': 'p@ss'}
    """
    parts = urlsplit(url)
    if parts.username and parts.scheme.startswith("socks"):
        raise NotSupported(NO_LOGIN.format(address=f"{parts.hostname}:{parts.port}"))
    options = {"server": f"{parts.scheme}://{parts.hostname}:{parts.port}"}
    if parts.username:
        options |= {"username": unquote(parts.username), "password": unquote(parts.password or "")}
    return options
