"""Addresses of a host, by the reactor's resolver: Scrapy's DNS settings and its cache apply."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address
from typing import Any

from scrapy.exceptions import CannotResolveHostError

from scrapy_seine.engine.download.http.other_names import OtherNames

#: A resolver that says nothing for so long is asked why, s.
SILENCE_S = 20.0

_others = OtherNames()


class _Receiver:
    """What Twisted calls an IResolutionReceiver."""

    def __init__(self, done: asyncio.Future[list[str]]) -> None:
        self.done = done
        self.found: list[str] = []

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802
        """It cannot be ended early."""

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        self.found.append(address.host)

    def resolutionComplete(self) -> None:  # noqa: N802
        if not self.done.done():
            self.done.set_result(self.found)


async def addresses_of(host: str) -> list[str]:
    """Return the host's addresses, the first to be tried first.

    Raises:
        CannotResolveHostError: it has none.
    """
    try:
        return [str(ip_address(host))]
    except ValueError:
        pass
    from twisted.internet import reactor  # not at import: that would install a default one

    done: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
    reactor.nameResolver.resolveHostName(_Receiver(done), host)
    try:
        async with asyncio.timeout(SILENCE_S):
            found = await done
    except TimeoutError:  # it failed without a word, or the name server is slow
        found = []
    if found:
        _others.note(host, found)
        return found
    reason = await _reason(host)
    text = f"no address of {host} is known"
    if (
        isinstance(reason, socket.gaierror)
        and reason.errno == socket.EAI_AGAIN
        and await _others.answered(host)
    ):  # this machine's name server answers, so that the domain's own are to blame
        raise CannotResolveHostError(f"{text}: its own name servers fail, others answer")
    raise CannotResolveHostError(text) from reason


async def _reason(host: str) -> Exception | None:
    """Ask the system why a host has no address; None where it has one by now.

    Twisted's resolver keeps that to itself, and a name server that is away is not the host's fault.
    What is found is not used: a project's own resolver may have refused the host on purpose.
    """
    try:
        await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return error
    return None
