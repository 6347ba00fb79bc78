"""A dashboard without files says so in a line, not in tracebacks that fill the disk."""

from __future__ import annotations

import asyncio
import errno

import pytest
from aiohttp import web

from crawler.dashboard.serve import accept_failure_handler
from scrapy_seine.unreadable_requests import server_log


def test_connections_that_cannot_be_accepted_are_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """At the limit of open files a dashboard wrote 40,000 tracebacks in 18 s."""
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(accept_failure_handler())
    full = OSError(errno.EMFILE, "Too many open files")
    for _ in range(3):
        text = "socket.accept() out of system resource"
        loop.call_exception_handler({"message": text, "exception": full})
    assert [record.exc_info for record in caplog.records] == [None]
    loop.call_exception_handler({"message": "a task failed", "exception": KeyError("x")})
    assert "KeyError" in caplog.text
    loop.close()


async def test_requests_that_are_no_http_are_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """A scanner's requests wrote a traceback each."""
    runner = web.AppRunner(web.Application(), access_log=None, logger=server_log())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    for _ in range(3):
        reader, writer = await asyncio.open_connection(*runner.addresses[0][:2])
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n")
        assert b" 400 " in await reader.readline()
        writer.close()
    await runner.cleanup()
    (line,) = caplog.messages
    assert line.startswith("Error handling request from 127.0.0.1: it is no HTTP: Invalid")
    assert [record.exc_info for record in caplog.records] == [None]
