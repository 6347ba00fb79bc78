"""A site with one page for each way in which a request can end."""

from __future__ import annotations

import asyncio

from aiohttp import web

#: Who was led from a page to itself already, as with a cookie.
_visitors: set[str] = set()


async def _answer(request: web.Request) -> web.StreamResponse:
    path = request.path
    if path == "/slow":
        await asyncio.sleep(3)
    if path == "/slash":
        raise web.HTTPMovedPermanently("/slash/")
    if path == "/circle":
        raise web.HTTPFound("/circle")
    if path == "/cookie" and (visitor := request.headers["User-Agent"]) not in _visitors:
        _visitors.add(visitor)
        raise web.HTTPFound("/cookie")
    if path == "/offsite":
        raise web.HTTPFound("http://localhost/p/9")
    if path == "/nowhere":
        raise web.HTTPFound("/p/" + "9" * 5000)
    if path == "/red":
        raise web.HTTPFound("/p/9")
    if path == "/robots.txt":
        return web.Response(text="User-agent: *\nDisallow: /forbidden/\n")
    if path.startswith("/st/"):
        return web.Response(status=int(path.rpartition("/")[2]), text="status")
    return web.Response(text=f"<p>{path}</p>", content_type="text/html")


async def start() -> tuple[web.AppRunner, str]:
    """Serve on a free loopback port; returns the runner and the base URL."""
    app = web.Application()
    app.router.add_get("/{tail:.*}", _answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    return runner, f"http://127.0.0.1:{port}"
