"""Connections by site: kept idle for the next request, or newly made."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from functools import partial
from time import monotonic
from urllib.parse import ParseResult

from scrapy.exceptions import (
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)

from scrapy_seine.engine.download.http.connection import Connection, Unanswered
from scrapy_seine.engine.download.http.happy_eyeballs import race
from scrapy_seine.engine.download.http.ipv6 import lacks_ipv6
from scrapy_seine.engine.download.http.resolve import all_addresses_of, system_resolver
from scrapy_seine.engine.download.http.tls import SecureConnection

#: Seconds that a connection is kept unused: servers close theirs after 5 to 75.
IDLE_S = 60.0
#: Connections kept in all: half of the files that a process may usually have open.
MAX_IDLE = 512


#: Hosts whose TLS session is kept; the oldest is dropped first.
MAX_SESSIONS = 1000

Key = tuple[str, str]


class Pool:
    """Keeps up to *each* idle connections per site; *context* makes TLS contexts on first use."""

    def __init__(self, max_per_site: int, context: Callable[[], ssl.SSLContext]) -> None:
        self.max_per_site = max_per_site
        self._context = context
        self._tls_context: ssl.SSLContext | None = None
        self._idle: dict[Key, list[Connection]] = {}
        self._sessions: dict[tuple[str, int], ssl.SSLSession] = {}
        self._count = 0
        self._sweep: asyncio.TimerHandle | None = None

    def take_idle(self, parts: ParseResult) -> Connection | None:
        """Take the most recently used open connection to a URL's site."""
        key = parts.scheme, parts.netloc
        idle = self._idle.get(key)
        while idle:
            connection = idle.pop()
            self._count -= 1
            if not idle:
                del self._idle[key]
            if connection.closed:
                continue
            if not connection.has_unread_input():
                return connection
            connection.abort()
        return None

    def keep(self, parts: ParseResult, connection: Connection) -> None:
        """Keep a connection for the next request."""
        if connection.closed:
            return
        idle = self._idle.setdefault((parts.scheme, parts.netloc), [])
        idle.append(connection)
        self._count += 1
        connection.kept_at = monotonic()
        if len(idle) > self.max_per_site:
            self._drop((parts.scheme, parts.netloc))
        elif self._count > MAX_IDLE:
            self._drop(next(iter(self._idle)))
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(IDLE_S / 4, self._close_old)

    def _drop(self, key: Key) -> None:
        self._idle[key].pop(0).abort()
        self._count -= 1
        if not self._idle[key]:
            del self._idle[key]

    def _close_old(self) -> None:
        since = monotonic() - IDLE_S
        for idle in list(self._idle.values()):
            for connection in idle:
                if connection.kept_at < since:
                    connection.abort()
        self._idle = {
            key: still_open
            for key, idle in self._idle.items()
            if (still_open := [kept for kept in idle if not kept.closed])
        }
        self._count = sum(map(len, self._idle.values()))
        self._sweep = None
        if self._count:
            self._sweep = asyncio.get_running_loop().call_later(IDLE_S / 4, self._close_old)

    async def connect(
        self, parts: ParseResult, timeout_s: float, permitted: Callable[[list[str]], list[str]]
    ) -> Connection:
        """Connect to one of a host's *permitted* addresses (RFC 8305).

        An attempt begins 0.25 s after the one before, or when that one failed, alternating IPv6 and
        IPv4; the first that accepts is used. If TLS fails there, the other addresses are tried.

        Raises:
            AddressRefused: none of the addresses is permitted.
            CannotResolveHostError: the host has no address.
            DownloadConnectionRefusedError: nothing listens there.
            DownloadTimeoutError: it takes too long.
            DownloadFailedError: connecting failed for another reason.
        """
        host = parts.hostname or ""
        port = parts.port
        if port is None:
            port = 443 if parts.scheme == "https" else 80
        error: Exception | None = None
        addresses = all_addresses = permitted(await all_addresses_of(host))
        while addresses:
            try:
                async with asyncio.timeout(timeout_s):
                    peer = await race(addresses, port)
            except (OSError, RuntimeError, ValueError) as failed:
                error = error or failed
                break
            address = peer if isinstance(peer, str) else peer.getpeername()[0]
            try:
                async with asyncio.timeout(timeout_s / len(addresses)):
                    return await self._connect(parts.scheme, host, address, peer, port)
            except (OSError, Unanswered, ValueError) as failed:
                error = error or failed
                addresses = [candidate for candidate in addresses if candidate != address]
        assert error is not None
        system_resolver.forget(host)
        if lacks_ipv6(error, all_addresses):  # without the cause, which would blame this machine
            text = f"no connection to {host}:{port}: it has IPv6 addresses only, this machine IPv4"
            raise DownloadFailedError(text) from None
        raise _as_scrapys(error, f"{host}:{port}") from error

    async def _connect(
        self, scheme: str, host: str, address: str, peer: socket.socket | str, port: int
    ) -> Connection:
        make: Callable[[], Connection] = partial(Connection, address)
        if scheme == "https":
            if self._tls_context is None:
                self._tls_context = self._context()
            place = host, port
            make = partial(
                SecureConnection,
                *(address, self._tls_context, host),
                session=self._sessions.get(place),
                learned=partial(self._learn, place),
            )
        loop = asyncio.get_running_loop()
        if isinstance(peer, str):
            _, connection = await loop.create_connection(make, peer, port)
        else:
            _, connection = await loop.create_connection(make, sock=peer)
        try:
            await connection.wait_ready()
        except BaseException:
            connection.abort()
            raise
        return connection

    def _learn(self, place: tuple[str, int], session: ssl.SSLSession) -> None:
        """Keep a session for the next connection to a host: resuming saves both sides CPU."""
        self._sessions.pop(place, None)
        self._sessions[place] = session
        if len(self._sessions) > MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]

    def close(self) -> None:
        """Close the idle connections."""
        if self._sweep is not None:
            self._sweep.cancel()
        for idle in self._idle.values():
            for connection in idle:
                connection.abort()
        self._idle.clear()


def _as_scrapys(error: Exception, address: str) -> Exception:
    """Translate to Scrapy's exception; the kind of retry depends on it."""
    if isinstance(error, ConnectionRefusedError):
        return DownloadConnectionRefusedError(f"{address} refuses connections")
    if isinstance(error, TimeoutError):
        return DownloadTimeoutError(f"connecting to {address} took too long")
    return DownloadFailedError(f"no connection to {address}: {error}")
