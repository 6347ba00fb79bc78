"""All addresses of a host from the system's resolver, kept for a minute.

Scrapy's default resolver has one IPv4 address of a host and keeps it until the process ends: each
page failed of a host whose first address is dead, or whose address changed during the crawl.
"""

from __future__ import annotations

import asyncio
import socket
from time import monotonic
from typing import Any

from scrapy.resolver import dnscache
from twisted.internet.threads import deferToThreadPool

#: How long addresses are used without another look, s: the system does not tell their lifetime.
KEPT_S = 60.0
#: The same after a failed look, so that not each connection asks the name server.
KEPT_STALE_S = 5.0
#: How long a new look is waited for where older addresses are known, s.
LOOK_S = 1.0


class SystemResolver:
    """Looks hosts up in the reactor's threads, each once at a time."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[list[str], float]] = {}
        self._lookups: dict[str, asyncio.Task[list[str]]] = {}

    async def addresses_of(self, host: str) -> list[str]:
        """Return the host's addresses, IPv6 ones included, in the order to try them.

        Raises:
            OSError: it has no address, or the name server fails.
            UnicodeError: the host is no name.
        """
        addresses, valid_until = self._known.get(host, ([], 0.0))
        if monotonic() < valid_until:
            return addresses
        loop = asyncio.get_running_loop()
        lookup = self._lookups.get(host)
        if lookup is None or lookup.get_loop() is not loop:
            lookup = self._lookups[host] = loop.create_task(self._look_up(host))
            lookup.add_done_callback(lambda done: self._ended(host, done))
        if addresses:
            await asyncio.wait([lookup], timeout=LOOK_S)
            if not lookup.done():  # the name server is silent
                return addresses
        return await asyncio.shield(lookup)

    def forget(self, host: str) -> None:
        """Look the host up at the next connection, because no address of it accepts one."""
        self._known.pop(host, None)

    def put_last(self, host: str, address: str) -> None:
        """Try the other addresses first from now on, because nothing was answered at this one."""
        addresses, valid_until = self._known.get(host, ([], 0.0))
        if address in addresses[:-1]:
            others = [other for other in addresses if other != address]
            self._known[host] = [*others, address], valid_until

    async def _look_up(self, host: str) -> list[str]:
        from twisted.internet import reactor  # not at import: that would install a default one

        threads: Any = reactor
        asked = (host, None, socket.AF_UNSPEC, socket.SOCK_STREAM)
        answer = deferToThreadPool(threads, threads.getThreadPool(), socket.getaddrinfo, *asked)
        try:
            infos = await answer.asFuture(asyncio.get_running_loop())
        except OSError:
            # As name servers do (RFC 8767): the last addresses hold while one accepts connections.
            stale = self._known.get(host)
            if stale is None:
                raise
            self._keep(host, stale[0], KEPT_STALE_S)
            return stale[0]
        addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
        self._keep(host, addresses, KEPT_S)
        return addresses

    def _keep(self, host: str, addresses: list[str], seconds: float) -> None:
        """Keep as many hosts as Scrapy's cache does (DNSCACHE_ENABLED, DNSCACHE_SIZE)."""
        self._known.pop(host, None)
        self._known[host] = addresses, monotonic() + seconds
        while dnscache.limit is not None and len(self._known) > dnscache.limit:
            del self._known[next(iter(self._known))]

    def _ended(self, host: str, lookup: asyncio.Task[list[str]]) -> None:
        if self._lookups.get(host) is lookup:
            del self._lookups[host]
        if not lookup.cancelled():
            lookup.exception()  # each request that waits for it has raised it
