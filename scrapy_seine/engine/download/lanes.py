"""One download handler with lanes: plain, browser-like TLS, a real browser, and stored pages.

Scrapy has one handler per scheme; this one routes each request to its lane's handler. A lane's
handler is made on first use, so that workers without it do not pay for it.
"""

from __future__ import annotations

from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import NotSupported
from scrapy.http import Response
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_seine import meta as m
from scrapy_seine.config import flag
from scrapy_seine.engine.download.http.url_gateway import NO_GATEWAY
from scrapy_seine.engine.download.which_client import CLIENTS, client_of
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import NoWay

#: Lanes whose clients do not expose their connections.
_UNSEEN = ("tls", "browser")


def lane_of(request: Request) -> str:
    """Return a request's lane: the ladder's step, else what the request asks for, else plain.

    Scrapy's own client knows neither SOCKS nor IPv6 addresses: such a proxy needs the TLS lane's
    client. A gateway is requested by plain HTTP, because the gateway connects to the site, or
    renders the page.
    """
    meta = request.meta
    if m.GATEWAY in meta:
        return "plain"
    lane = str(meta.get(m.LANE_NOW) or meta.get(m.LANE) or "plain")
    proxy = meta.get("proxy")
    if lane != "plain" or not proxy:
        return lane
    is_ipv6 = str(proxy).rpartition("/")[2].rpartition("@")[2].startswith("[")
    return "tls" if is_ipv6 or str(proxy).startswith("socks") else lane


class Lanes(BaseDownloadHandler):
    """Routes each request to its lane's handler."""

    #: The browser is launched when the engine starts, so its handler must exist by then.
    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.gate = worker_of(crawler).gate
        self.reach = worker_of(crawler).reach
        self.handlers = worker_of(crawler).lanes
        self.lanes = {
            **crawler.settings.getdict("SEINE_LANES"),
            "plain": client_of(crawler.settings),
        }
        self.replay = bool(crawler.settings.get("SEINE_REPLAY"))
        self.browser = flag(crawler.settings, "SEINE_BROWSER")
        if self.browser:
            self._handler("browser")

    def _handler(self, lane: str) -> Any:
        if lane not in self.handlers:
            self.handlers[lane] = build_from_crawler(load_object(self.lanes[lane]), self.crawler)
        return self.handlers[lane]

    async def download_request(self, request: Request) -> Response:
        """Download through the request's lane.

        Raises:
            NotSupported: this worker has no browser, or there is no such lane.
            NoWay: its gateway cannot be used under these settings.
            AddressRefused: it leads to a private address that it may not reach.
            NotNow: it missed its slot, and the site has none soon.
        """
        lane = "replay" if self.replay else lane_of(request)
        if lane not in self.lanes:
            text = f"there is no {lane!r} lane: meta['lane'] is plain, tls or browser"
            self.gate.inflight.bury(request, "lane", text)
            raise NotSupported(text)
        if lane == "browser" and not self.browser:
            raise NotSupported("this worker has no 'browser' lane")
        if m.GATEWAY in request.meta and self.lanes["plain"] != CLIENTS["seine"]:
            self.gate.inflight.bury(request, "lane", NO_GATEWAY)
            raise NoWay(NO_GATEWAY)
        if request.meta.get("proxy"):
            await self.reach.check_proxy(request)
        if m.GATEWAY in request.meta or (lane in _UNSEEN and request.meta.get("proxy")):
            await self.reach.check_name(request)  # the other side resolves the name
        handler = self._handler(lane)
        # The plain lane checks the time when it has a connection; stored pages need no slot.
        if (
            lane in _UNSEEN
            and not getattr(handler, "waits_for_slot", False)
            and (slot_opened := self.gate.wait_for_slot(request)) is not None
        ):
            await slot_opened
        try:
            response: Response = await handler.download_request(request)
        finally:
            request.meta.pop(m.GATEWAY, None)  # callbacks and logs must not get its key
        return response

    async def close(self) -> None:
        """Close the lanes; the close of the second scheme finds none left."""
        while self.handlers:
            _, handler = self.handlers.popitem()
            await handler.close()
