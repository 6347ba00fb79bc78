"""Resolves hosts: all addresses for the own client, those of Scrapy's resolver for the others.

The other clients look the name up again, in Scrapy's cache, after its addresses were checked.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import Any

from scrapy.exceptions import CannotResolveHostError
from scrapy.resolver import CachingThreadedResolver

from scrapy_seine.engine.download.http.other_names import OtherNames
from scrapy_seine.engine.download.http.system_resolver import SystemResolver

#: Timeout of the resolver, s; after it the system is asked for the reason.
NAME_SERVER_TIMEOUT_S = 20.0

_other_names = OtherNames()
system_resolver = SystemResolver()


class _Receiver:
    """An IResolutionReceiver of Twisted."""

    def __init__(self, resolved: asyncio.Future[list[str]]) -> None:
        self.resolved = resolved
        self.addresses: list[str] = []

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802
        """Ignore it: a resolution cannot be cancelled early."""

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        self.addresses.append(address.host)

    def resolutionComplete(self) -> None:  # noqa: N802
        if not self.resolved.done():
            self.resolved.set_result(self.addresses)


async def addresses_of(host: str) -> list[str]:
    """Return the host's addresses that Scrapy's resolver has, by default one.

    Raises:
        CannotResolveHostError: it has no address.
    """
    return await _resolve(host, _by_reactor)


async def all_addresses_of(host: str) -> list[str]:
    """Return all addresses of the host, in the order to try them.

    A resolver of the project's own (DNS_RESOLVER) is asked instead of the system.

    Raises:
        CannotResolveHostError: it has no address.
    """
    from twisted.internet import reactor  # not at import: that would install a default one

    installed = getattr(reactor, "resolver", None)
    is_default = type(installed) is CachingThreadedResolver
    return await _resolve(host, system_resolver.addresses_of if is_default else _by_reactor)


async def _by_reactor(host: str) -> list[str]:
    from twisted.internet import reactor

    resolved: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
    reactor.nameResolver.resolveHostName(_Receiver(resolved), host)
    return await resolved


async def _resolve(host: str, look_up: Callable[[str], Awaitable[list[str]]]) -> list[str]:
    try:
        return [str(ip_address(host))]
    except ValueError:
        pass
    reason: Exception | None = None
    try:
        async with asyncio.timeout(NAME_SERVER_TIMEOUT_S):
            addresses = await look_up(host)
    except (OSError, UnicodeError) as error:
        # A timeout: it failed silently, or the name server is slow.
        reason, addresses = (None if isinstance(error, TimeoutError) else error), []
    if addresses:
        _other_names.note(host, addresses)
        return addresses
    reason = reason or await _reason(host)
    text = f"no address of {host} is known"
    if (
        isinstance(reason, socket.gaierror)
        and reason.errno == socket.EAI_AGAIN
        and await _other_names.resolves_other_name(host)
    ):  # this machine's name server answers, so the domain's own are to blame
        raise CannotResolveHostError(f"{text}: its own name servers fail, others answer")
    raise CannotResolveHostError(text) from reason


async def _reason(host: str) -> Exception | None:
    """Ask the system why a host has no address; None if it has one by now.

    Twisted's resolver does not report the reason, and an unreachable name server is not the host's
    fault. Addresses found here are not used: a project's own resolver may have refused the host on
    purpose.
    """
    try:
        await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return error
    return None
