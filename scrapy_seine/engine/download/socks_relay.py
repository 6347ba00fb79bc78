"""A local SOCKS 5 proxy (RFC 1928) for lanes that resolve names themselves: TLS and the browser.

It resolves names, connects to an address that the page may reach (`private_addresses.Reach`), and
relays bytes; TLS stays between the lane and the site. Each home, a private host and port that pages
may reach, has a port of its own here, which identifies the connections made for it; pages of public
sites share one. It listens on this machine's loopback only.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv6Address
from time import monotonic
from typing import Any, cast

from scrapy_seine.engine.download.http.happy_eyeballs import race
from scrapy_seine.engine.download.private_addresses import Reach

#: Timeouts of the greeting, and of connecting to a host, s.
_GREETING_S, _CONNECT_S = 10.0, 30.0
_CHUNK = 1 << 16
#: Bytes of a request at least; what a client sends while it reads (HTTP/2's windows) is shorter.
_REQUEST_BYTES = 100
#: The first line of a request that HTTP/1 sends without encryption.
_REQUEST_LINE = re.compile(rb"[A-Z]+ [^\s]+ HTTP/1\.")
#: Replies (RFC 1928, 6): not allowed by the rules; no connection to the host.
DENIED, UNREACHABLE = 2, 4
#: Homes that have a port at the same time; the oldest is closed first.
_MOST_HOMES = 256
#: Places whose address is remembered, at most.
_MOST_PLACES = 10_000

Hold = Callable[[str, bytes], Awaitable[None] | None]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Relay:
    """The proxies of one process, by home."""

    def __init__(
        self,
        reach: Reach,
        on_sent: Callable[[str], None] = lambda place: None,
        hold: Hold = lambda place, data: None,
        most_bytes: int = 0,
    ) -> None:
        """*on_sent* is called with a place when something that may be a request is sent to it.

        *hold* is called before, with the bytes, and returns what has to be awaited first. A site
        that sends more than *most_bytes* after a request is cut off; 0: none is.
        """
        self.reach, self.on_sent, self.hold = reach, on_sent, hold
        self.most_bytes = most_bytes
        self._excesses: dict[tuple[str, str], float] = {}
        """When a place was cut off last (monotonic s), by home and place."""
        self._refusals: dict[tuple[str, str], tuple[float, str]] = {}
        """When a connection was refused last (monotonic s), and its address, by home and place."""
        self._silences: dict[tuple[str, str], float] = {}
        """When a place did not answer last, the same way. A refusal stays known beside it, because
        `127.0.0.1` and `127.0.0.1.`, which no resolver knows, are one place."""
        self.connected_addresses: dict[str, str] = {}
        """Address of the latest connection to a place."""
        self._servers: dict[str, asyncio.Server] = {}
        self._opening = asyncio.Lock()

    async def port_of(self, home: str) -> int:
        """Return the port of the proxy for pages of a *home*."""
        async with self._opening:
            if home not in self._servers:
                if len(self._servers) >= _MOST_HOMES:
                    self._servers.pop(next(iter(self._servers))).close()

                async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                    await self._serve(home, reader, writer)

                self._servers[home] = await asyncio.start_server(serve, "127.0.0.1", 0)
        return int(self._servers[home].sockets[0].getsockname()[1])

    def failure(self, home: str, place: str, since: float) -> str | None:
        """Return the refused address of a place, '' if it did not answer, None if neither."""
        at, address = self._refusals.get((home, place), (0.0, ""))
        if address and at >= since:
            return address
        return "" if self._silences.get((home, place), -1.0) >= since else None

    def was_cut_off(self, home: str, place: str, since: float) -> bool:
        """Whether a place was cut off, because it sent more than `most_bytes`."""
        return self._excesses.get((home, place), -1.0) >= since

    def last_refusal(self, home: str, since: float) -> tuple[str, str] | None:
        """Return the place and address that pages of a *home* were refused last; None: none."""
        for (of, place), (at, address) in reversed(self._refusals.items()):
            if of == home and at >= since:
                return place, address
        return None

    async def close(self) -> None:
        """Stop listening."""
        for server in self._servers.values():
            server.close()
        self._servers.clear()

    async def _serve(
        self, home: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with contextlib.closing(writer), contextlib.suppress(OSError, EOFError, ValueError):
            async with asyncio.timeout(_GREETING_S):
                host, port = await _greet(reader, writer)
            remote = await self._connect(home, host, port)
            if isinstance(remote, int):
                writer.write(bytes((5, remote, 0, 1, 0, 0, 0, 0, 0, 0)))
                await writer.drain()
                return
            writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
            with contextlib.closing(remote[1]):
                await self._exchange((home, _place(host, port)), (reader, writer), remote)

    async def _exchange(self, key: tuple[str, str], client: Streams, remote: Streams) -> None:
        """Relay the bytes of both sides; each request at its time.

        A site that speaks before it is asked is refused, because its bytes would be taken for the
        answer to whatever request follows. So is one that speaks while a further request waits. In
        TLS and HTTP/2 the bytes may be those of the protocol, or of another request's answer.
        """
        is_asked, received, place = False, 0, key[1]

        async def hold(data: bytes) -> None:
            nonlocal is_asked, received
            if len(data) >= _REQUEST_BYTES:
                if (released := self.hold(place, data)) is not None:
                    is_asked = is_asked and not _REQUEST_LINE.match(data)
                    await released
                self.on_sent(place)
                received = 0
            is_asked = True

        async def check(data: bytes) -> None:
            nonlocal received
            received += len(data)
            if not is_asked:
                raise ConnectionAbortedError
            if 0 < self.most_bytes < received:
                _remember(self._excesses, key, monotonic(), _MOST_PLACES)
                raise ConnectionAbortedError

        await asyncio.gather(
            _relay(client[0], remote[1], hold), _relay(remote[0], client[1], check)
        )

    async def _connect(self, home: str, host: str, port: int) -> Streams | int:
        place, loop = _place(host, port), asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_CONNECT_S):
                infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
                permitted = self.reach.reachable(home, place, addresses)
                if not permitted:
                    _remember(
                        self._refusals, (home, place), (monotonic(), addresses[0]), _MOST_PLACES
                    )
                    return DENIED
                peer = await race(permitted, port)
                if isinstance(peer, str):
                    remote = await asyncio.open_connection(peer, port)
                else:
                    remote = await asyncio.open_connection(sock=peer)
                address = remote[1].get_extra_info("peername")[0]
                if not self.reach.policy.is_private(address):
                    self.reach.record_public(home, place)
                _remember(self.connected_addresses, place, address, _MOST_PLACES)
                return remote
        except (OSError, RuntimeError, UnicodeError):
            _remember(self._silences, (home, place), monotonic(), _MOST_PLACES)
            return UNREACHABLE


def _place(host: str, port: int) -> str:
    return f"{host.rstrip('.').lower()}:{port}"


def _remember(table: dict[Any, Any], key: object, value: object, limit: int) -> None:
    table.pop(key, None)
    table[key] = value
    if len(table) > limit:
        del table[next(iter(table))]


async def _greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
    """Read the destination that a client asks for.

    Raises:
        ValueError: it does not speak SOCKS 5, or asks for something else than a connection.
    """
    version, count = await reader.readexactly(2)
    await reader.readexactly(count)
    writer.write(b"\x05\x00")
    head = await reader.readexactly(4)
    if version != 5 or head[:2] != b"\x05\x01":  # noqa: PLR2004  # the protocol's own numbers
        raise ValueError("no request for a connection by SOCKS 5")
    if head[3] == 1:
        host = str(IPv4Address(await reader.readexactly(4)))
    elif head[3] == 4:  # noqa: PLR2004
        host = str(IPv6Address(await reader.readexactly(16)))
    else:
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("ascii")
    return host, int.from_bytes(await reader.readexactly(2))


async def _relay(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    hold: Callable[[bytes], Awaitable[None]],
) -> None:
    """Relay bytes until one side ends, or until *hold* raises OSError."""
    with contextlib.suppress(OSError, RuntimeError):  # the latter is uvloop's, where one is closed
        while data := await reader.read(_CHUNK):
            await hold(data)
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
            return
    cast("asyncio.Transport", writer.transport).abort()
