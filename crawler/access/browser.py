"""The browser lane: scrapy-playwright with a limited, recycled and crash-proof set of contexts."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from functools import partial
from inspect import isawaitable
from pathlib import Path
from traceback import walk_tb
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.http import Response
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

from crawler.access.browser_contexts import BrowserContext, ContextPool
from crawler.access.browser_programs import NoBrowser, launch_options, machine_of
from crawler.access.browser_slot import Departures, PageInSlot, reserve_if_missed
from crawler.access.page_navigations import MOST
from scrapy_seine.config import number
from scrapy_seine.engine.download.private_addresses import place_of
from scrapy_seine.engine.download.send_gate import NotNow
from scrapy_seine.engine.download.socks_relay import Relay
from scrapy_seine.engine.ending.exit_status import BROWSER_FAILED
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.urls import domain

#: User agent of Chrome on Linux.
USER_AGENT = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/{major}.0.0.0 Safari/537.36"
)
#: Errors of Chromium and Firefox for the relay's replies "not allowed" and "unreachable" alike.
_RELAY_ERRORS = ("ERR_SOCKS_CONNECTION_FAILED", "NS_ERROR_CONNECTION_REFUSED")

#: A browser that does not start for this long ends its worker, s: a local one, and a remote one,
#: which may be restarting.
_LOCAL_S, _REMOTE_S = 5.0, 300.0
#: Key of `request.meta` that scrapy-playwright sets for a file that the browser saved.
_FILE_NAME = "playwright_suggested_filename"
#: How often a page is opened where the browser has no window for it yet, and the wait between, s.
_WINDOW_TRIES, _WINDOW_S = 20, 0.25
_DRIVER_ENDED = "Playwright's own program has ended"
#: Playwright's mark before the error output of the browser's program.
_STDERR_MARK = "[err] "


logger = logging.getLogger(__name__)


class BrowserHandler(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]  # it has no types
    """Renders pages in a pool of contexts (`browser_contexts`); raises Scrapy's own errors."""

    #: Its pages wait for their slots themselves (`browser_slot`).
    waits_for_slot = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self.is_remote = bool(self.config.cdp_url or self.config.connect_url)
        if not self.is_remote:
            path = str(settings.get("SEINE_BROWSER_PATH") or "")
            self.config.launch_options = launch_options(
                self.config.browser_type_name, path, self.config.launch_options
            )
        self.pool = ContextPool(
            int(number(settings, "SEINE_BROWSER_CONTEXTS", 4, low=1)),
            int(number(settings, "SEINE_BROWSER_RECYCLE_PAGES", 50, low=1)),
        )
        self.limit_s = number(settings, "SEINE_BROWSER_SECONDS", 60, low=1)
        self.default_timeout_s = number(settings, "DOWNLOAD_TIMEOUT", 180)
        self.restart_after = int(number(settings, "SEINE_BROWSER_RESTART_PAGES", 1000, low=1))
        self.since_start = 0
        self.failing_since: float | None = None
        self.worker = worker_of(crawler)
        self.reach = self.worker.reach
        self.departures = Departures()
        maxsize = settings.getint("DOWNLOAD_MAXSIZE")
        self.relay = Relay(self.reach, hold=self.departures.hold, most_bytes=maxsize)
        self._relayed: WeakSet[Request] = WeakSet()
        self._slots: WeakKeyDictionary[Page, PageInSlot] = WeakKeyDictionary()
        self._without_data: set[str] = set()
        """Sites whose pages were read without their data."""
        self._warn_of_distance()
        self.page_slots = asyncio.Semaphore(int(number(settings, "SEINE_BROWSER_PAGES", 4, low=1)))
        self.context_released = asyncio.Condition()
        blocked = frozenset(settings.getlist("SEINE_BROWSER_BLOCK"))
        self.abort_request = lambda request: request.resource_type in blocked

    def _warn_of_distance(self) -> None:
        """Warn if pages without a proxy cannot be rendered, because the browser is elsewhere."""
        machine = machine_of(self.config.cdp_url or self.config.connect_url or "")
        if machine and self.reach.policy.mode != "allow":
            logger.warning(
                "the browser is on %s, from where this machine's guard of private addresses cannot"
                " be reached: each page without a proxy will fail; run the browser here, list"
                " proxies, or set SEINE_PRIVATE_ADDRESSES=allow",
                machine,
            )

    async def download_request(self, request: Request) -> Response:
        """Render a page.

        Raises:
            DownloadTimeoutError: rendering took too long.
            DownloadCancelledError: it is larger than DOWNLOAD_MAXSIZE.
            AddressRefused: the request leads to a private address that it may not reach.
            DownloadFailedError: the page cannot be reached, or the browser died too often.
            NoBrowser: the browser does not start.
            NotNow: it missed its slot, and the site has none soon.
        """
        limit_s = self._limit_s(request)
        home = await self._route_through_relay(request)
        request.meta.pop(_FILE_NAME, None)
        async with self.page_slots, self._context_in_time(request) as context:
            request.meta["playwright_context"] = context.name
            await self._set_user_agent(request)
            since = time.monotonic()
            try:
                async with asyncio.timeout(limit_s):
                    response: Response = await self._download_request(request)
            except (TimeoutError, PlaywrightTimeout):
                raise DownloadTimeoutError(
                    f"{request.url} was not rendered within {limit_s:g} s"
                ) from None
            except (PlaywrightError, RuntimeError) as error:
                raise await self._reason(error, request, home, since) from None
            # Browsers take what was cut off for a whole file, or page, where its length is unknown.
            is_unbounded = _FILE_NAME in request.meta or "partial" in response.flags
            if is_unbounded and 2 * len(response.body) > self.relay.most_bytes:
                read = request.replace(url=response.url)
                if self._is_too_large(read, home, since):
                    raise _too_large(request)
            if home is not None and (
                address := self.relay.connected_addresses.get(place_of(request))
            ):
                self.reach.record_host(request, address)
            return response

    async def _download_request_with_page(
        self, request: Request, page: Page, spider: Spider
    ) -> Response:
        """Go to the page's address, in the slot of its request."""
        departures = self.departures if request in self._relayed else None
        self._slots[page] = slot = PageInSlot(self.worker.gate, request, page, departures)
        page.on("popup", lambda popup: popup.close())
        await slot.begin()
        try:
            response = await super()._download_request_with_page(request, page, spider)
            if slot.navigations.leads_to:
                return _redirect(request, slot.navigations.leads_to)
            return slot.navigations.result(response)
        except PlaywrightError:
            if slot.navigations.leads_to:
                await page.close()
                return _redirect(request, slot.navigations.leads_to)
            if slot.refusal is not None:
                raise slot.refusal from None
            raise
        finally:
            slot.end()

    async def _create_browser_context(self, *args: Any, **kwargs: Any) -> Any:
        """Create a context whose pages open no further ones, which no slot and no limit would hold.

        A page's own routes take its requests; those of a page that it opens arrive here.
        """
        wrapper = await super()._create_browser_context(*args, **kwargs)
        await wrapper.context.route("**", lambda route: route.abort())
        return wrapper

    async def _create_page(self, request: Request, spider: Spider) -> Page:
        """Open a page; again where Firefox has no window ready yet, because nothing was sent."""
        tries_left = _WINDOW_TRIES
        while True:
            tries_left -= 1
            try:
                page: Page = await super()._create_page(request, spider)
            except PlaywrightError as error:
                if not (tries_left and _lacks_window(error)):
                    raise
                await asyncio.sleep(_WINDOW_S)
            else:
                return page

    async def _apply_page_methods(self, page: Page, request: Request, spider: Spider) -> None:
        """Act on the page, and on those that it leads to, until it leads nowhere."""
        navigations = self._slots[page].navigations
        for tries_left in reversed(range(2 * MOST)):
            before = navigations.count
            try:
                if await navigations.wait_until_loaded():
                    await self._act(page, request)
                    await navigations.wait_for_way_on()
            except PlaywrightError as error:
                if "navigat" not in error.message or not tries_left:
                    raise
            else:
                if navigations.count == before and not navigations.pending:
                    break
        if not await navigations.wait_for_data():
            self._say_data_is_missing(page.url)
        navigations.is_read = True
        await navigations.check_end()

    async def _act(self, page: Page, request: Request) -> None:
        """Act on the page as scrapy-playwright does, which waits 30 s where a page never loads."""
        actions = request.meta.get("playwright_page_methods") or ()
        for action in actions.values() if isinstance(actions, dict) else actions:
            method = action.method
            bound = partial(method, page) if callable(method) else getattr(page, method)
            result = bound(*action.args, **action.kwargs)
            action.result = await result if isawaitable(result) else result
            await self._slots[page].navigations.wait_until_loaded()

    def _say_data_is_missing(self, url: str) -> None:
        """Count the page, and say so once for its site."""
        self.stats.inc_value("browser/without_data")
        if (site := domain(url)) not in self._without_data:
            self._without_data.add(site)
            logger.warning(
                "%s is read without what its scripts still wait for from %s, because that takes"
                " too long",
                *(url, site),
            )

    async def _reason(
        self, error: Exception, request: Request, home: str | None, since: float
    ) -> Exception:
        """Return why a page was not rendered, as Scrapy's own error."""
        if self._is_too_large(request, home, since):
            return _too_large(request)
        if not isinstance(error, PlaywrightError):
            return DownloadFailedError(str(error))
        if not await self._is_driver_alive():
            self._stop_worker(_DRIVER_ENDED)
            return NoBrowser(_DRIVER_ENDED)
        if home is not None and any(name in str(error.message) for name in _RELAY_ERRORS):
            return self._relay_error(request, home, since)
        return DownloadFailedError(_line_of(error))

    def _is_too_large(self, request: Request, home: str | None, since: float) -> bool:
        return home is not None and self.relay.was_cut_off(home, place_of(request), since)

    def _relay_error(self, request: Request, home: str, since: float) -> Exception:
        """Return why the relay did not connect the page to its host, or to a redirect's target."""
        place = place_of(request)
        failure = self.relay.failure(home, place, since)
        if failure:
            return self.reach.refusal(request, failure)
        if failure is None and (refusal := self.relay.last_refusal(home, since)) is not None:
            place, address = refusal
            return self.reach.refusal(request, address, place)
        return DownloadFailedError(f"no connection to {place}")

    async def _launch(self) -> None:
        """Start Playwright's driver when the engine starts; if it fails, the worker ends."""
        loop = asyncio.get_running_loop()
        previous_handler = loop.get_exception_handler()
        loop.set_exception_handler(_log_without_playwright)
        try:
            await super()._launch()
        except Exception as error:  # Playwright has no error class for a dead driver
            self._stop_worker(_launch_failure(error))
        else:
            loop.set_exception_handler(previous_handler)

    async def _is_driver_alive(self) -> bool:
        """Whether Playwright's driver answers; without it no browser can be launched."""
        playwright = getattr(self.browser_provider, "playwright", None)
        if playwright is None:  # a project's own provider
            return True
        try:
            context = await playwright.request.new_context()
            await context.dispose()
        except Exception:  # as in `_launch`
            return False
        return True

    async def _maybe_launch_browser(self) -> None:
        """Launch the browser if it does not run; end the worker if it does not start.

        Otherwise each page would become a dead letter, and the worker would take pages from workers
        whose browser starts.

        Raises:
            NoBrowser: the browser does not start.
        """
        try:
            await super()._maybe_launch_browser()
        except Exception as error:
            reason, now_s = _launch_failure(error), time.monotonic()
            if self.failing_since is None:
                self.failing_since = now_s
                logger.warning("the browser does not start: %s", reason)
            elif now_s - self.failing_since > (_REMOTE_S if self.is_remote else _LOCAL_S):
                self._stop_worker(reason)
            raise NoBrowser(f"the browser does not start: {reason}") from None
        self.failing_since = None

    def _stop_worker(self, reason: str) -> None:
        """Stop the worker, once."""
        if self.worker.stop_reason != BROWSER_FAILED:
            logger.error("worker exits: its browser does not start: %s", reason)
            self.worker.stop(BROWSER_FAILED)

    async def _route_through_relay(self, request: Request) -> str | None:
        """Route a page without a proxy, and all that it loads, through the relay within its reach.

        Returns the page's home; None if it uses a proxy, or the browser is elsewhere and may reach
        any address.
        """
        options = request.meta.setdefault("playwright_context_kwargs", {})
        if "proxy" in options or (self.is_remote and self.reach.policy.mode == "allow"):
            return None
        home = self.reach.home_of(request)
        port = await self.relay.port_of(home)
        options["proxy"] = {"server": f"socks5://127.0.0.1:{port}"}
        self._relayed.add(request)
        visitor = str(request.meta.get("browser_visitor") or "default")
        request.meta["browser_visitor"] = f"{visitor} {home}".rstrip()
        return home

    def _limit_s(self, request: Request) -> float:
        """Return the seconds for a page: the browser's limit, or a lower one of the request."""
        timeout_s = request.meta.get("download_timeout")
        # Scrapy sets the default on every request.
        if not timeout_s or float(timeout_s) == self.default_timeout_s:
            return self.limit_s
        return min(self.limit_s, float(timeout_s))

    async def _set_user_agent(self, request: Request) -> None:
        """Set Chromium's user agent without its word "Headless"."""
        options = request.meta.setdefault("playwright_context_kwargs", {})
        # Firefox' user agent has no such word.
        if "user_agent" not in options and self.config.browser_type_name == "chromium":
            await self._maybe_launch_browser()
            major = str(self.browser.version).partition(".")[0]
            options["user_agent"] = USER_AGENT.format(major=major)

    @contextlib.asynccontextmanager
    async def _context_in_time(self, request: Request) -> AsyncIterator[BrowserContext]:
        """Acquire a context, unless the request missed its slot and its site has none soon."""
        await reserve_if_missed(self.worker.gate, request)
        async with self._context(request) as context:
            yield context

    @contextlib.asynccontextmanager
    async def _context(self, request: Request) -> AsyncIterator[BrowserContext]:
        """Acquire a context for one page, and release it in any case."""
        visitor = str(request.meta.get("browser_visitor") or "default")
        async with self.context_released:
            while (context := self.pool.acquire(visitor)) is None:
                idle = self.pool.idle()
                if idle is None:
                    await self.context_released.wait()
                else:
                    await self._close_context(idle)
        failed = True
        try:
            yield context
            failed = False
        except NotNow:  # nothing was sent
            failed = False
            raise
        finally:
            async with self.context_released:
                if self.pool.release(context, spoiled=failed):
                    await self._close_context(context)
                await self._maybe_restart()
                self.context_released.notify_all()

    async def _close_context(self, context: BrowserContext) -> None:
        self.pool.contexts.pop(context.name, None)
        self.stats.inc_value("browser/contexts_closed")
        wrapper = self.context_wrappers.get(context.name)
        if wrapper is not None:
            with contextlib.suppress(PlaywrightError):
                await wrapper.context.close()

    async def close(self) -> None:
        """Close the browser and the relay; errors of a dead driver are ignored."""
        if self.worker.stop_reason != BROWSER_FAILED:
            await super().close()
        else:
            with contextlib.suppress(Exception):
                await super().close()
        await self.relay.close()

    async def _maybe_restart(self) -> None:
        """Restart the browser after SEINE_BROWSER_RESTART_PAGES, while no page is open."""
        self.since_start += 1
        if self.since_start < self.restart_after or self.is_remote:
            return
        has_pages = any(context.pages for context in self.pool.contexts.values())
        if has_pages or not hasattr(self, "browser"):
            return
        self.since_start = 0
        self.pool.contexts.clear()
        self.stats.inc_value("browser/restarts")
        with contextlib.suppress(PlaywrightError):
            await self.browser.close()


def _redirect(request: Request, url: str) -> Response:
    """Return that another site is to be asked for the page, which has limits of its own."""
    headers = {"Location": url}
    return Response(request.url, status=302, headers=headers, request=request, flags=["playwright"])


def _too_large(request: Request) -> DownloadCancelledError:
    return DownloadCancelledError(f"{request.url} is larger than DOWNLOAD_MAXSIZE")


def _line_of(error: PlaywrightError) -> str:
    """Return the error as one line; Firefox has the reason on a second line."""
    line, next_line, *_ = [*(error.message or "the browser failed").splitlines(), ""]
    return f"{line}: {next_line}" if next_line.startswith("Message: ") else line


def _lacks_window(error: PlaywrightError) -> bool:
    """Whether Firefox opens no page, because the window for it is about to open or to close.

    >>> _lacks_window(PlaywrightError("Protocol error (browsingContext.create): unknown error"))
    True
    """
    return "browsingContext.create" in error.message


def _log_without_playwright(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log unhandled errors except Playwright's, because one line reports why it does not start.

    When Playwright's driver ends, it reads the error of only one of its tasks and callbacks.
    """
    error = context.get("exception")
    frames = walk_tb(error.__traceback__ if error is not None else None)
    files = [frame.f_code.co_filename for frame, _ in frames]
    if not any("playwright" in Path(file).parts for file in files):
        loop.default_exception_handler(context)


def _launch_failure(error: Exception) -> str:
    """Return as one line why the browser does not start, from its error output if there is any."""
    output = str(error).partition(_STDERR_MARK)[2] or str(error) or type(error).__name__
    return output.splitlines()[0].strip()


logging.getLogger("scrapy-playwright").setLevel(logging.ERROR)
