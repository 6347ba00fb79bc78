"""The browser lane: scrapy-playwright with a limited, recycled and crash-proof set of contexts."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from pathlib import Path
from traceback import walk_tb
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError
from scrapy.http import Response
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

from crawler.access.browser_contexts import BrowserContext, ContextPool
from crawler.access.browser_programs import NoBrowser, launch_options
from scrapy_seine.config import number
from scrapy_seine.engine.download.private_addresses import place_of
from scrapy_seine.engine.download.socks_relay import Relay
from scrapy_seine.engine.ending.exit_status import BROWSER_FAILED
from scrapy_seine.engine.worker import worker_of

#: What Chrome on Linux calls itself.
USER_AGENT = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/{major}.0.0.0 Safari/537.36"
)
#: What Chromium and Firefox call the answer "not allowed by the rules" of a SOCKS proxy. Firefox
#: has no word for that alone, but of the answers that the relay gives it means this one only.
_DENIED = ("ERR_SOCKS_CONNECTION_FAILED", "NS_ERROR_CONNECTION_REFUSED")

#: A browser that does not start for so long ends its worker, s: one that is launched here, and one
#: elsewhere, which may be restarted meanwhile.
_HERE_S, _ELSEWHERE_S = 5.0, 300.0
_UNDRIVEN = "Playwright's own program has ended"
#: How Playwright begins what the program said before it ended.
_SAID = "[err] "


logger = logging.getLogger(__name__)


class BrowserHandler(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]  # it has no types
    """Renders pages in rooms (crawler.access.browser_contexts); errors come as Scrapy's own."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self.elsewhere = bool(self.config.cdp_url or self.config.connect_url)
        if not self.elsewhere:
            path = str(settings.get("SEINE_BROWSER_PATH") or "")
            self.config.launch_options = launch_options(
                self.config.browser_type_name, path, self.config.launch_options
            )
        self.house = ContextPool(
            int(number(settings, "SEINE_BROWSER_CONTEXTS", 4, low=1)),
            int(number(settings, "SEINE_BROWSER_RECYCLE_PAGES", 50, low=1)),
        )
        self.limit_s = number(settings, "SEINE_BROWSER_SECONDS", 60, low=1)
        self.usual_s = number(settings, "DOWNLOAD_TIMEOUT", 180)
        self.restart_after = int(number(settings, "SEINE_BROWSER_RESTART_PAGES", 1000, low=1))
        self.since_start = 0
        self.failing_since: float | None = None
        self.worker = worker_of(crawler)
        self.reach = self.worker.reach
        self.relay = Relay(self.reach.policy)
        self.seats = asyncio.Semaphore(int(number(settings, "SEINE_BROWSER_PAGES", 4, low=1)))
        self.left = asyncio.Condition()
        blocked = frozenset(settings.getlist("SEINE_BROWSER_BLOCK"))
        self.abort_request = lambda request: request.resource_type in blocked

    async def download_request(self, request: Request) -> Response:
        """Render a page.

        Raises:
            DownloadTimeoutError: it took too long.
            AddressRefused: it leads to a private address that it may not reach.
            DownloadFailedError: it cannot be reached, or the browser died too often.
            NoBrowser: the browser does not start.
        """
        limit_s = self._limit_s(request)
        home = await self._way_out(request)
        async with self.seats, self._room(request) as room:
            request.meta["playwright_context"] = room.name
            await self._name_itself(request)
            try:
                async with asyncio.timeout(limit_s):
                    response: Response = await self._download_request(request)
            except (TimeoutError, PlaywrightTimeout):
                raise DownloadTimeoutError(
                    f"{request.url} was not rendered within {limit_s:g} s"
                ) from None
            except PlaywrightError as error:
                if not await self._driven():
                    self._end(_UNDRIVEN)
                    raise NoBrowser(_UNDRIVEN) from None
                if home is not None and any(word in str(error.message) for word in _DENIED):
                    address = self.relay.refused.get((home, place_of(request)), "")
                    raise self.reach.refusal(request, address) from None
                raise DownloadFailedError(_why(error)) from None
            if home is not None and (found := self.relay.reached.get(place_of(request))):
                self.reach.reached(request, found)
            return response

    async def _launch(self) -> None:
        """Start what drives the browser, as the engine starts; without it the worker ends."""
        loop = asyncio.get_running_loop()
        before = loop.get_exception_handler()
        loop.set_exception_handler(_leave_out_playwrights)
        try:
            await super()._launch()
        except Exception as error:  # Playwright has no class of its own for a driver that ended
            self._end(_why_not(error))
        else:
            loop.set_exception_handler(before)

    async def _driven(self) -> bool:
        """Whether Playwright's own program answers; without it no browser is launched again."""
        playwright = getattr(self.browser_provider, "playwright", None)
        if playwright is None:  # a project's own provider
            return True
        try:
            asked = await playwright.request.new_context()
            await asked.dispose()
        except Exception:  # as in `_launch`
            return False
        return True

    async def _maybe_launch_browser(self) -> None:
        """Launch the browser where it does not run; one that does not start ends the worker.

        Another try for each page would end in a dead letter for each, and the worker would take
        pages from those whose browser starts.

        Raises:
            NoBrowser: it does not start.
        """
        try:
            await super()._maybe_launch_browser()
        except Exception as error:
            why, now_s = _why_not(error), time.monotonic()
            if self.failing_since is None:
                self.failing_since = now_s
                logger.warning("the browser does not start: %s", why)
            elif now_s - self.failing_since > (_ELSEWHERE_S if self.elsewhere else _HERE_S):
                self._end(why)
            raise NoBrowser(f"the browser does not start: {why}") from None
        self.failing_since = None

    def _end(self, why: str) -> None:
        """End the worker, once."""
        if self.worker.told != BROWSER_FAILED:
            logger.error("worker exits: its browser does not start: %s", why)
            self.worker.stop(BROWSER_FAILED)

    async def _way_out(self, request: Request) -> str | None:
        """Have a page that needs no proxy, and all that it loads, go out within its reach.

        Returns the page's home; None where it goes out through a proxy, or may go anywhere.
        """
        options = request.meta.setdefault("playwright_context_kwargs", {})
        if "proxy" in options or self.reach.policy.mode == "allow":
            return None
        home = self.reach.home_of(request)
        port = await self.relay.port_of(home)
        options["proxy"] = {"server": f"socks5://127.0.0.1:{port}"}
        visitor = str(request.meta.get("browser_visitor") or "default")
        request.meta["browser_visitor"] = f"{visitor} {home}".rstrip()
        return home

    def _limit_s(self, request: Request) -> float:
        """Seconds for a page: what the request asks for itself may be less than the browser's."""
        asked = request.meta.get("download_timeout")
        if not asked or float(asked) == self.usual_s:  # Scrapy writes the usual one everywhere
            return self.limit_s
        return min(self.limit_s, float(asked))

    async def _name_itself(self, request: Request) -> None:
        """Let a browser that is to look like one say so: its own name, without Headless."""
        options = request.meta.setdefault("playwright_context_kwargs", {})
        # Firefox has no such word in its name.
        if "user_agent" not in options and self.config.browser_type_name == "chromium":
            await self._maybe_launch_browser()
            major = str(self.browser.version).partition(".")[0]
            options["user_agent"] = USER_AGENT.format(major=major)

    @contextlib.asynccontextmanager
    async def _room(self, request: Request) -> AsyncIterator[BrowserContext]:
        """Give a room for one page, and take it back whatever happens."""
        visitor = str(request.meta.get("browser_visitor") or "default")
        async with self.left:
            while (room := self.house.enter(visitor)) is None:
                idle = self.house.idle()
                if idle is None:
                    await self.left.wait()
                else:
                    await self._close_room(idle)
        failed = True
        try:
            yield room
            failed = False
        finally:
            async with self.left:
                if self.house.leave(room, spoiled=failed):
                    await self._close_room(room)
                await self._maybe_restart()
                self.left.notify_all()

    async def _close_room(self, room: BrowserContext) -> None:
        self.house.rooms.pop(room.name, None)
        self.stats.inc_value("browser/contexts_closed")
        wrapper = self.context_wrappers.get(room.name)
        if wrapper is not None:
            with contextlib.suppress(PlaywrightError):
                await wrapper.context.close()

    async def close(self) -> None:
        """Close the browser and its way out; a driver that has ended closes nothing."""
        if self.worker.told != BROWSER_FAILED:
            await super().close()
        else:
            with contextlib.suppress(Exception):
                await super().close()
        await self.relay.close()

    async def _maybe_restart(self) -> None:
        """Start the browser anew after many pages, at a moment when no page is open."""
        self.since_start += 1
        if self.since_start < self.restart_after or self.elsewhere:
            return
        if any(room.pages for room in self.house.rooms.values()) or not hasattr(self, "browser"):
            return
        self.since_start = 0
        self.house.rooms.clear()
        self.stats.inc_value("browser/restarts")
        with contextlib.suppress(PlaywrightError):
            await self.browser.close()


def _why(error: PlaywrightError) -> str:
    """Write what went wrong in a line; Firefox tells the reason in a second one."""
    first, second, *_ = [*(error.message or "the browser failed").splitlines(), ""]
    return f"{first}: {second}" if second.startswith("Message: ") else first


def _leave_out_playwrights(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what nobody awaited, but for Playwright's own: one line has told why it does not start.

    When its program ends it reads the error of one of its tasks and callbacks, not of all.
    """
    error = context.get("exception")
    frames = walk_tb(error.__traceback__ if error is not None else None)
    files = [frame.f_code.co_filename for frame, _ in frames]
    if not any("playwright" in Path(file).parts for file in files):
        loop.default_exception_handler(context)


def _why_not(error: Exception) -> str:
    """Write in a line why the browser does not start: by what its program said, where it did."""
    said = str(error).partition(_SAID)[2] or str(error) or type(error).__name__
    return said.splitlines()[0].strip()


logging.getLogger("scrapy-playwright").setLevel(logging.ERROR)
