"""A connection: one request at a time, written at once; its answer is read as it arrives."""

from __future__ import annotations

import asyncio
import select
from ipaddress import ip_address
from typing import cast

from twisted.internet.ssl import Certificate

from scrapy_seine.engine.download.http.reader import Reader


class Unanswered(Exception):
    """The connection ended before any byte of an answer arrived."""

    def __init__(self, reason: str, *, may_be_seen: bool) -> None:
        super().__init__(reason)
        self.may_be_seen = may_be_seen
        """Whether the site may have seen the request."""


class Connection(asyncio.Protocol):
    """A connection without encryption."""

    transport: asyncio.Transport
    reader: Reader | None = None
    """Reads the awaited answer; None: no answer is awaited."""
    completion: asyncio.Future[bool]
    closed = False
    kept_at = 0.0
    """When it became idle, monotonic s."""
    certificate: Certificate | None = None
    private = False
    """Whether its address is not public: then not every request may use it."""
    home = ""
    """If it is private: its request's home, see `download.private_addresses`."""

    def __init__(self, address: str) -> None:
        self.address, self.peer = ip_address(address), address

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Turn off write buffering."""
        self.transport = writable = cast(
            "asyncio.Transport", transport
        )  # uvloop's transport does not inherit from asyncio.Transport
        # uvloop writes at once what exceeds this limit, and the rest in the next loop iteration.
        writable.set_write_buffer_limits(0)

    async def wait_ready(self) -> None:
        """Wait until requests may be written."""

    def ask(self, data: bytes, reader: Reader, completion: asyncio.Future[bool]) -> bool:
        """Write a request and read its answer; returns whether it was written.

        *completion* becomes True when the answer is complete, False if only the connection's end
        shows that. It fails with Unanswered, the reader's exception, or the connection's error.
        """
        if self.closed or self.transport.is_closing():
            completion.set_exception(Unanswered("the connection was closed", may_be_seen=False))
            return False
        self.reader, self.completion = reader, completion
        try:
            self.write(data)
        except OSError as error:
            self._settle(Unanswered(str(error), may_be_seen=True))
        return True

    def has_unread_input(self) -> bool:
        """Whether unread bytes or an end arrived, though no answer is awaited.

        The next request would take these bytes for its answer.
        """
        poll = select.poll()
        poll.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(poll.poll(0))

    def write(self, data: bytes) -> None:
        """Write bytes."""
        self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        """Take received bytes."""
        self.received(data)

    def received(self, data: bytes) -> None:
        """Feed the reader; close the connection if no answer is awaited."""
        reader = self.reader
        if reader is None:
            self.abort()
            return
        try:
            reader.feed(data)
        except Exception as error:
            self._settle(error)
            return
        if reader.done:
            self._settle(None)

    def eof_received(self) -> None:
        """The peer sends nothing more; the transport closes itself."""
        self.closed = True

    def connection_lost(self, exc: Exception | None) -> None:
        """End the awaited answer, or fail it."""
        self.closed = True
        reader = self.reader
        if reader is None:
            return
        if not reader.began:
            self._settle(Unanswered(str(exc or "the connection was closed"), may_be_seen=True))
            return
        try:
            reader.end()
        except Exception as error:
            self._settle(error)
        else:
            self._settle(None, complete=False)

    def _settle(self, error: Exception | None, *, complete: bool = True) -> None:
        assert self.reader is not None
        if error is not None or not self.reader.keeps:
            self.abort()
        self.reader = None
        if self.completion.done():
            return
        if error is None:
            self.completion.set_result(complete)
        else:
            self.completion.set_exception(error)

    def abort(self) -> None:
        """Close it now."""
        self.closed = True
        self.transport.abort()
