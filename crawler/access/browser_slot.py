"""Sends a browser's page in its site's slot, and tells the frontier when it was really sent.

To open a page takes a tenth of a second, and seconds where a browser starts or all pages are busy.
So the slot is checked when the page is about to send its request, or where its bytes leave this
machine, in the relay: a browser needs some tenths of a second from the one to the other. A page
through a proxy passes no relay. A document that the page leads to later (a script, a refresh, in
Chromium a redirect) waits for a slot of its own; one of another site is asked for by a request of
its own. What a browser then does cannot be held: Firefox follows redirects, and both repeat a
request that a server left unanswered. The site's next pause begins with the last of these (I5).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from playwright.async_api import Page, Response, Route
from playwright.async_api import Request as PageRequest
from scrapy import Request
from scrapy.exceptions import DownloadFailedError

from crawler.access.browser_redirects import hold_redirects
from crawler.access.page_navigations import Navigations
from scrapy_seine.engine.download.private_addresses import place_of
from scrapy_seine.engine.download.send_gate import NotNow, SendGate
from scrapy_seine.politeness.site_limits import PATIENCE_MS
from scrapy_seine.urls import domain

_ALL = "**"
#: How long an open page waits for another slot, at most, ms. Where pages open slower than their
#: site's pause, each would otherwise be handed back, as often as it is opened.
OPEN_PATIENCE_MS = 5000
#: The same for a document that the page leads to. It cannot be handed back, and the page's own
#: limit ends it before.
_LATER_PATIENCE_MS = 120_000
#: How long before its slot a page's request leaves the browser for the relay, s.
_LEAD_S = 0.4
#: The first byte of a TLS handshake's records, which are no request.
_HANDSHAKE = 0x16
_LONGEST_LINE = 16_384


class PageInSlot:
    """One page's request to its site."""

    def __init__(
        self, gate: SendGate, request: Request, page: Page, departures: Departures | None
    ) -> None:
        self.gate, self.request, self.page = gate, request, page
        self.navigations = Navigations(page)
        self.departures = departures
        """Where the request passes the relay; None: it passes none."""
        self.refusal: Exception | None = None
        """Why the request was not sent."""
        self.place, self.target = "", b""
        """Host and port that the browser asks, and what it asks for, as it writes it."""
        self.departure: asyncio.Future[None] | None = None
        """Set when bytes that may be its request are at the relay."""
        self.is_over = False
        self._is_sent = self._has_left = False

    async def begin(self) -> None:
        """Hold the page's navigations until their slots."""
        await self.page.route(_ALL, self._hold)
        browser = self.page.context.browser
        if browser is not None and browser.browser_type.name == "chromium":
            await hold_redirects(self.page, self._may_follow)
        self.page.on("response", self._record)
        self.navigations.begin()

    def end(self) -> None:
        """Record a request that was not answered as sent now, because nobody knows when it was."""
        self.is_over = True
        if self.departures is not None:
            self.departures.remove(self)
        if self._is_sent:
            self._record_sent(0.0)

    async def _hold(self, route: Route, sent: PageRequest) -> None:
        if not self.navigations.is_main(sent):
            if self.navigations.may_load(sent):
                await route.fallback()
            else:
                await route.abort("aborted")
        elif self._leads_out(sent.url, sent.method) or not self.navigations.may_begin(sent):
            await route.abort("aborted")  # the page stays as it is
        elif await self._is_released(sent.url):
            await route.fallback()
        else:
            await route.abort()

    async def _may_follow(self, url: str) -> bool:
        return not self._leads_out(url) and await self._is_released(url)

    def _leads_out(self, url: str, method: str = "GET") -> bool:
        """Whether an address is another site's, which has its own rules, limits and slots.

        A form that is sent there is no address that could be asked for instead.
        """
        is_address = method == "GET" and url.startswith(("http:", "https:"))
        if not is_address or domain(url) == domain(self.request.url):
            return False
        self.navigations.lead_out(url)
        return True

    async def _is_released(self, url: str) -> bool:
        """Wait until a document may be asked for, or until its bytes may leave this machine."""
        if self.departures is not None:
            self.departures.remove(self)
            self.expects(url)
            # Until then others' scripts and styles pass, which cannot be told from it in TLS.
            await asyncio.sleep((self.gate.due_in(self.request) or 0.0) - _LEAD_S)
            self.departures.add(self)
            return True
        try:
            await self.leave()
        except Exception as error:  # the download raises it
            self.refusal = error
            return False
        return True

    def expects(self, url: str) -> None:
        """Say which address the browser asks for, as it writes it."""
        self.place = place_of(Request(url))
        self.target = b"/" + "".join(url.partition("#")[0].split("/", 3)[3:]).encode()
        self.departure = None

    async def leave(self) -> None:
        """Wait for the request's slot, or for another one.

        Raises:
            NotNow: its site has none soon.
            DownloadFailedError: the same, where the page's first document was sent.
            ConnectionAbortedError: the page ended meanwhile.
        """
        if not self._has_left:
            await reserve_if_missed(self.gate, self.request, OPEN_PATIENCE_MS)
        else:
            try:
                await reserve_if_missed(self.gate, self.request, _LATER_PATIENCE_MS)
            except NotNow as error:
                raise DownloadFailedError(f"the page leads to {self.place}, and {error}") from None
        if (slot_opened := self.gate.wait_for_slot(self.request)) is not None:
            await slot_opened
        if self.is_over:
            raise ConnectionAbortedError
        self._is_sent = self._has_left = True

    def _record(self, response: Response) -> None:
        if not self.navigations.record_answer(response):
            return
        if self.departures is not None and self.departure is None:
            self.departures.remove(self)  # the browser's cache answered
        if self._is_sent:
            timing = response.request.timing
            has_times = min(timing["requestStart"], timing["responseStart"]) >= 0
            took_ms = timing["responseStart"] - timing["requestStart"] if has_times else 0.0
            self._record_sent(max(0.0, took_ms) / 1000)

    def _record_sent(self, ago_s: float) -> None:
        self._is_sent = False
        self.gate.record_sent(self.request, ago_s=ago_s)


class Departures:
    """Pages whose requests are on the way to the relay, where their bytes wait."""

    def __init__(self) -> None:
        self._pages: dict[str, list[PageInSlot]] = {}

    def add(self, page: PageInSlot) -> None:
        """Expect a page's request."""
        if not page.is_over:
            self._pages.setdefault(page.place, []).append(page)

    def remove(self, page: PageInSlot) -> None:
        """Expect it no longer."""
        if page in (pages := self._pages.get(page.place, [])):
            pages.remove(page)
            if not pages:
                del self._pages[page.place]

    def hold(self, place: str, data: bytes) -> Awaitable[None] | None:
        """Return what a request's bytes have to wait for; None: no page expects them."""
        pages = self._pages.get(place, [])
        if data[0] == _HANDSHAKE:
            return None
        words = data[:_LONGEST_LINE].partition(b"\r\n")[0].split(b" ")
        if words[-1].startswith(b"HTTP/"):
            pages = [page for page in pages if page.target in words[1:2]]
        if not pages:
            return None
        # Encrypted bytes may be those of any page: as many wait as there are, each for another
        # page, and further ones with the last, because they may be its own.
        page = next((page for page in pages if page.departure is None), pages[-1])
        return self._pass(page, list(pages))

    async def _pass(self, page: PageInSlot, waiting: list[PageInSlot]) -> None:
        if page.departure is None:
            page.departure = asyncio.ensure_future(self._depart(page))
        try:
            await asyncio.shield(page.departure)
        except Exception as error:
            for other in waiting:  # the connection may be that of any of them
                other.refusal = error
            raise ConnectionAbortedError from error

    async def _depart(self, page: PageInSlot) -> None:
        await page.leave()
        page.gate.record_sent(page.request)
        self.remove(page)


async def reserve_if_missed(
    gate: SendGate, request: Request, patience_ms: int = PATIENCE_MS
) -> None:
    """Get another slot in place of one that passed while the browser was busy.

    That is no lateness of the worker, which would widen the pauses of all its sites.

    Raises:
        NotNow: the site has none soon.
    """
    if gate.due_in(request) is None:
        await gate.reserve(request, is_late=False, patience_ms=patience_ms)
