"""Sends a browser's page in its site's slot, and tells the frontier when it was really sent.

To open a page takes a tenth of a second, and seconds where a browser starts or all pages are busy.
So the slot is checked when the page is about to send its request. What a browser then does cannot
be held: it may be slow, follows redirects, and repeats a request that a server left unanswered. The
site's next pause begins with the last of these (I5).
"""

from __future__ import annotations

from playwright.async_api import Page, Response, Route
from playwright.async_api import Request as PageRequest
from scrapy import Request

from scrapy_seine.engine.download.send_gate import SendGate
from scrapy_seine.politeness.site_limits import PATIENCE_MS

_ALL = "**"
#: How long an open page waits for another slot, at most, ms. Where pages open slower than their
#: site's pause, each would otherwise be handed back, as often as it is opened.
OPEN_PATIENCE_MS = 5000


class PageInSlot:
    """One page's request to its site."""

    def __init__(self, gate: SendGate, request: Request, page: Page) -> None:
        self.gate, self.request, self.page = gate, request, page
        self.refusal: Exception | None = None
        """Why the request was not sent."""
        self._is_sent = False

    async def begin(self) -> None:
        """Hold the page's next navigation until its slot."""
        await self.page.route(_ALL, self._hold)
        self.page.on("response", self._record)

    def end(self) -> None:
        """Record a request that was not answered as sent now, because nobody knows when it was."""
        if self._is_sent:
            self._record_sent(0.0)

    async def _hold(self, route: Route, sent: PageRequest) -> None:
        if sent.is_navigation_request():
            await self.page.unroute(_ALL, self._hold)
            try:
                await self._wait()
            except Exception as error:  # the download raises it
                self.refusal = error
                await route.abort()
                return
            self._is_sent = True
        await route.fallback()

    async def _wait(self) -> None:
        await reserve_if_missed(self.gate, self.request, OPEN_PATIENCE_MS)
        if (slot_opened := self.gate.wait_for_slot(self.request)) is not None:
            await slot_opened

    def _record(self, response: Response) -> None:
        is_redirect = 300 <= response.status < 400  # noqa: PLR2004
        if self._is_sent and not is_redirect and response.request.is_navigation_request():
            timing = response.request.timing
            has_times = min(timing["requestStart"], timing["responseStart"]) >= 0
            took_ms = timing["responseStart"] - timing["requestStart"] if has_times else 0.0
            self._record_sent(max(0.0, took_ms) / 1000)

    def _record_sent(self, ago_s: float) -> None:
        self._is_sent = False
        self.page.remove_listener("response", self._record)
        self.gate.record_sent(self.request, ago_s=ago_s)


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
