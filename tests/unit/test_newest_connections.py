"""Idle connections keep no visitor out, and take no file from the process."""

from __future__ import annotations

import asyncio

from aiohttp import web

from scrapy_seine.newest_connections import MOST, Runner
from tests.helpers import patient

_ASK = b"GET / HTTP/1.1\r\nHost: a.example\r\n"


async def _answer(request: web.Request) -> web.Response:
    return web.Response(text="ok")


async def test_many_connections_that_send_half_a_head_leave_room_for_a_visitor() -> None:
    app = web.Application()
    app.router.add_get("/", _answer)
    runner = Runner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    idle = []
    for _ in range(MOST + 50):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(_ASK)
        idle.append((reader, writer))
    try:
        first, visitor = await asyncio.open_connection("127.0.0.1", port)
        visitor.write(_ASK + b"Connection: close\r\n\r\n")
        answer = await asyncio.wait_for(first.read(), patient(10))
        assert answer.endswith(b"ok")
        gone = [asyncio.wait_for(reader.read(), patient(10)) for reader, _ in idle[:50]]
        ends = await asyncio.gather(*gone, return_exceptions=True)
        assert all(end == b"" or isinstance(end, ConnectionResetError) for end in ends)
        assert not idle[-1][0].at_eof()
    finally:
        visitor.close()
        for _, writer in idle:
            writer.close()
        await runner.cleanup()
