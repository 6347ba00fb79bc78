"""The site: each arrival is written down before anything else happens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from math import inf
from time import monotonic

import attrs
from aiohttp import web

Answer = Callable[[web.BaseRequest], web.StreamResponse | Awaitable[web.StreamResponse]]


def page(request: web.BaseRequest) -> web.StreamResponse:
    """Any page."""
    return web.Response(text="<p>page</p>", content_type="text/html")


@attrs.define
class Site:
    """A running site; tests change its answer as they go."""

    answer: Answer = page
    latency_s: float = 0.0
    url: str = ""
    domain: str = ""
    held_from: float = inf
    released: asyncio.Event = attrs.Factory(asyncio.Event)
    arrivals: list[tuple[float, str]] = attrs.Factory(list)
    active: int = 0
    most_active: int = 0

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.arrivals.append((monotonic(), request.path_qs))
        self.active += 1
        self.most_active = max(self.most_active, self.active)
        number = len(self.arrivals)
        try:
            if number > self.held_from:
                await self.released.wait()
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            answer = self.answer(request)
            return await answer if isinstance(answer, Awaitable) else answer
        finally:
            self.active -= 1

    def hold(self, number: int) -> None:
        """Let further requests wait: a crawl ends on no machine before a test has done its part."""
        self.release()
        self.held_from = number
        self.released.clear()

    def release(self) -> None:
        """Answer the requests that wait."""
        self.held_from = inf
        self.released.set()

    def times(self, prefix: str = "/p/") -> list[float]:
        """When pages were asked for, in order."""
        return sorted(at for at, path in self.arrivals if path.startswith(prefix))

    def count(self, path: str) -> int:
        """How often one path was asked for."""
        return sum(asked == path for _, asked in self.arrivals)

    def pages(self, n: int, *, start: int = 0) -> list[str]:
        """URLs of *n* pages."""
        return [f"{self.url}p/{i}" for i in range(start, start + n)]


@contextlib.asynccontextmanager
async def serve(answer: Answer = page, *, latency_s: float = 0.0) -> AsyncIterator[Site]:
    """Run a site on a free loopback port."""
    site = Site(answer, latency_s)
    runner = web.ServerRunner(web.Server(site.handle, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=256).start()
    site.domain = f"127.0.0.1:{runner.addresses[0][1]}"
    site.url = f"http://{site.domain}/"
    try:
        yield site
    finally:
        await runner.cleanup()
