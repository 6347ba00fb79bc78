"""A connection: one request at a time, written at once, and its answer read as it comes."""

from __future__ import annotations

import asyncio
import select
from ipaddress import ip_address
from typing import cast

from twisted.internet.ssl import Certificate

from scrapy_seine.engine.download.http.reader import Reader


class Unanswered(Exception):
    """The connection ended before anything of an answer came."""

    def __init__(self, why: str, *, sent: bool) -> None:
        super().__init__(why)
        self.sent = sent
        """Whether the site may have seen the request."""


class Connection(asyncio.Protocol):
    """A connection without encryption."""

    transport: asyncio.Transport
    reader: Reader | None = None
    """What reads the answer that is awaited, if one is."""
    answered: asyncio.Future[bool]
    closed = False
    kept_at = 0.0
    """When it was put aside, in seconds of the monotonic clock."""
    certificate: Certificate | None = None
    private = False
    """Whether its address is none of the public internet: not every request may use it."""
    home = ""
    """Where it is private: its request's home, as `download.private_addresses` says."""

    def __init__(self, address: str) -> None:
        self.address, self.at = ip_address(address), address

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Have what is written leave at once."""
        self.transport = made = cast(
            "asyncio.Transport", transport
        )  # uvloop's is none by its class
        # uvloop sends right away what is above this limit, and the rest when the loop turns next.
        made.set_write_buffer_limits(0)

    async def ready(self) -> None:
        """Wait until requests may be written."""

    def ask(self, data: bytes, reader: Reader, answered: asyncio.Future[bool]) -> bool:
        """Write a request and have its answer read. Returns whether it was written.

        *answered* comes true when it is complete, and false where only the connection's end says
        so. It fails with Unanswered, what the reader raises, or the error of the connection.
        """
        if self.closed or self.transport.is_closing():
            answered.set_exception(Unanswered("the connection was closed", sent=False))
            return False
        self.reader, self.answered = reader, answered
        try:
            self.write(data)
        except OSError as error:
            self._settle(Unanswered(str(error), sent=True))
        return True

    def heard(self) -> bool:
        """Whether something came that the loop has not read yet: an end, or what nobody asked for.

        The next request would take these bytes for its answer.
        """
        look = select.poll()
        look.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(look.poll(0))

    def write(self, data: bytes) -> None:
        """Send."""
        self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        self.received(data)

    def received(self, data: bytes) -> None:
        """Read the answer on; where none is awaited, the connection is of no more use."""
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
        """Nothing more comes; the transport closes itself."""
        self.closed = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Whatever was awaited does not come any more."""
        self.closed = True
        reader = self.reader
        if reader is None:
            return
        if not reader.began:
            self._settle(Unanswered(str(exc or "the connection was closed"), sent=True))
            return
        try:
            reader.end()
        except Exception as error:
            self._settle(error)
        else:
            self._settle(None, whole=False)

    def _settle(self, error: Exception | None, *, whole: bool = True) -> None:
        assert self.reader is not None
        if error is not None or not self.reader.keeps:
            self.abort()
        self.reader = None
        if self.answered.done():
            return
        if error is None:
            self.answered.set_result(whole)
        else:
            self.answered.set_exception(error)

    def abort(self) -> None:
        """Close it now."""
        self.closed = True
        self.transport.abort()
