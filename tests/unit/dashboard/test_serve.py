"""A dashboard without files says so in a line, not in tracebacks that fill the disk."""

from __future__ import annotations

import asyncio
import errno

import pytest

from crawler.dashboard.serve import accept_failure_handler


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
