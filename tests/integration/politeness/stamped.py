"""A site that knows to the microsecond when each request reached the machine.

The kernel stamps what arrives (SO_TIMESTAMPING, Linux). A busy machine may run this process tens of
milliseconds later, and a time read only then would tell of the machine, not of the crawler.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import AsyncIterator

import attrs

#: asm-generic/socket.h, linux/net_tstamp.h: software stamps on reception, and reports of them.
_SO_TIMESTAMPING, _RX_SOFTWARE, _SOFTWARE = 37, 1 << 3, 1 << 4
_BODY = b"<p>page</p>"
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(_BODY)
) + _BODY


@attrs.define
class StampedSite:
    """A running site; each of its pages is the same."""

    domain: str
    latency_s: float = 0.0
    each: int = 0
    """Answers on one connection; the next request is noted, and the connection closed."""
    arrivals: list[tuple[float, str]] = attrs.Factory(list)

    def pages(self, n: int) -> list[str]:
        """URLs of *n* pages."""
        return [f"http://{self.domain}/p/{i}" for i in range(n)]

    def times(self) -> list[float]:
        """When pages were asked for, in order (Unix seconds)."""
        return sorted(at for at, path in self.arrivals if path.startswith("/p/"))

    async def talk(self, connection: socket.socket) -> None:
        """Answer one connection until its end."""
        with connection, contextlib.suppress(ConnectionError):
            answered = 0
            while request := await self._receive(connection):
                at, data = request
                self.arrivals.append((at, data.split(b" ")[1].decode()))
                if self.each and answered == self.each:
                    return
                answered += 1
                await asyncio.sleep(self.latency_s)
                await asyncio.get_running_loop().sock_sendall(connection, _ANSWER)

    async def _receive(self, connection: socket.socket) -> tuple[float, bytes] | None:
        await _readable(connection)
        data, ancillary, _, _ = connection.recvmsg(65536, 1024)
        at = time.time()
        for level, kind, value in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPING):
                seconds, nanoseconds = struct.unpack_from("=2q", value)
                at = seconds + nanoseconds / 1e9
        return (at, data) if data else None


async def _readable(connection: socket.socket) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(connection)


@contextlib.asynccontextmanager
async def serve_stamped(*, latency_s: float = 0.0, each: int = 0) -> AsyncIterator[StampedSite]:
    """Run a site on a free loopback port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    listener.setblocking(False)
    listener.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, _RX_SOFTWARE | _SOFTWARE)
    site = StampedSite(f"127.0.0.1:{listener.getsockname()[1]}", latency_s, each)
    talks: set[asyncio.Task[None]] = set()

    async def accept() -> None:
        while True:
            connection, _ = await asyncio.get_running_loop().sock_accept(listener)
            connection.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, _RX_SOFTWARE | _SOFTWARE)
            talks.add(asyncio.ensure_future(site.talk(connection)))

    accepting = asyncio.ensure_future(accept())
    try:
        yield site
    finally:
        for task in (accepting, *talks):
            task.cancel()
        await asyncio.gather(accepting, *talks, return_exceptions=True)
        listener.close()
