"""A local SOCKS 5 proxy (RFC 1928) for lanes that resolve names themselves: TLS and the browser.

It resolves, asks the policy about each address (addresses), connects to one of those that
are permitted, and passes bytes on; TLS stays between the lane and the site. Each home, a private
host and port that pages may reach, has a port of its own here, so that a connection says on whose
behalf it is made; pages of public sites share one. It listens on this machine's loopback only.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from ipaddress import IPv4Address, IPv6Address
from typing import Any, cast

from scrapy_seine.engine.download.http.happy_eyeballs import race
from scrapy_seine.engine.download.private_addresses import AddressPolicy

#: Seconds for the greeting, and for connecting to a host.
_GREETING_S, _CONNECT_S = 10.0, 30.0
_CHUNK = 1 << 16
#: Replies (RFC 1928, 6): not allowed by the rules; no connection to the host.
DENIED, UNREACHABLE = 2, 4
#: Homes that have a port at a time; the one opened first is closed first.
_MOST_HOMES = 256
#: Places whose address is remembered.
_MOST_PLACES = 10_000


class Relay:
    """The proxies of one process, by home."""

    def __init__(self, policy: AddressPolicy) -> None:
        self.policy = policy
        self.refused: dict[tuple[str, str], str] = {}
        """Addresses to which nothing was sent, by home and place, the latest last."""
        self.reached: dict[str, str] = {}
        """Address to which the latest connection to a place was made."""
        self._servers: dict[str, asyncio.Server] = {}
        self._opening = asyncio.Lock()

    async def port_of(self, home: str) -> int:
        """Port of the proxy through which pages of a *home* go out."""
        async with self._opening:
            if home not in self._servers:
                if len(self._servers) >= _MOST_HOMES:
                    self._servers.pop(next(iter(self._servers))).close()

                async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                    await self._serve(home, reader, writer)

                self._servers[home] = await asyncio.start_server(serve, "127.0.0.1", 0)
        return int(self._servers[home].sockets[0].getsockname()[1])

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
            away = await self._connect(home, host, port)
            if isinstance(away, int):
                writer.write(bytes((5, away, 0, 1, 0, 0, 0, 0, 0, 0)))
                await writer.drain()
                return
            writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
            with contextlib.closing(away[1]):
                await asyncio.gather(_pass(reader, away[1]), _pass(away[0], writer))

    async def _connect(
        self, home: str, host: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | int:
        place, loop = f"{host.rstrip('.').lower()}:{port}", asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_CONNECT_S):
                infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                found = list(dict.fromkeys(str(info[4][0]) for info in infos))
                permitted = [a for a in found if self._permits(home, place, a)]
                if not permitted:
                    _keep(self.refused, (home, place), found[0], _MOST_HOMES)
                    return DENIED
                made = await race(permitted, port)
                if isinstance(made, str):
                    away = await asyncio.open_connection(made, port)
                else:
                    away = await asyncio.open_connection(sock=made)
                _keep(self.reached, place, away[1].get_extra_info("peername")[0], _MOST_PLACES)
                return away
        except (OSError, RuntimeError, UnicodeError):
            return UNREACHABLE

    def _permits(self, home: str, place: str, address: str) -> bool:
        private = self.policy.is_private(address)
        return not private or (self.policy.mode == "seeds" and place == home)


def _keep(known: dict[Any, str], key: object, address: str, most: int) -> None:
    known.pop(key, None)
    known[key] = address
    if len(known) > most:
        del known[next(iter(known))]


async def _greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
    """Read where a client wants to go.

    Raises:
        ValueError: it does not speak SOCKS 5, or wants something else than a connection.
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


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass bytes on until one side ends."""
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
            return
    cast("asyncio.Transport", writer.transport).abort()
