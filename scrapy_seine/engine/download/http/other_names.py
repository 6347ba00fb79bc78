"""Checks whether the name server resolves other names; if so, the failing domain is to blame.

A name server returns the same error (EAI_AGAIN) when it is down itself and when a domain's own
servers fail. Another name distinguishes the two. Caches keep known names alive, so the check looks
up a random name below a known one: "no such name" is an answer, too. Without another known name the
check fails.
"""

from __future__ import annotations

import asyncio
import random
import socket
import uuid
from collections.abc import Sequence
from ipaddress import ip_address
from time import monotonic

#: Names that are remembered; the oldest is dropped first.
_MAX_NAMES = 64
#: Names looked up at once, because one of their domains may fail as well.
_SAMPLE_NAMES = 3
#: Timeout of these lookups, s.
_PATIENCE_S = 5.0
#: How long a result is reused, s, because many pages of a domain fail at the same time.
_RESULT_S = 5.0
#: Resolver errors that mean: the name server answered that the name, or its address, does not
#: exist.
_NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


class OtherNames:
    """Names that this process resolved, used to check the name server."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._asking: tuple[asyncio.Task[bool], float] | None = None

    def note(self, host: str, addresses: Sequence[str]) -> None:
        """Remember a name whose addresses are public.

        Other addresses may come from a hosts file or a local server, which proves nothing of the
        internet.
        """
        self._names.pop(host, None)
        if "." in host and all(
            ip_address(address.partition("%")[0]).is_global for address in addresses
        ):
            self._names[host] = None
            if len(self._names) > _MAX_NAMES:
                del self._names[next(iter(self._names))]

    async def resolves_other_name(self, host: str) -> bool:
        """Whether the name server answers for another name than *host* now."""
        other_names = [name for name in self._names if name != host]
        if not other_names:
            return False
        loop = asyncio.get_running_loop()
        task, valid_until = self._asking or (None, 0.0)
        if (
            task is None
            or task.get_loop() is not loop
            or (task.done() and valid_until < monotonic())
        ):
            sample = random.sample(other_names, min(_SAMPLE_NAMES, len(other_names)))
            task = loop.create_task(_any_answered(sample))
            self._asking = task, monotonic() + _RESULT_S
        await asyncio.wait([task])
        return not task.cancelled() and task.result()


async def _any_answered(names: list[str]) -> bool:
    lookups = [
        asyncio.ensure_future(_answers(f"{uuid.uuid4().hex[:12]}.{name}.")) for name in names
    ]
    try:
        for ask in asyncio.as_completed(lookups, timeout=_PATIENCE_S):
            if await ask:
                return True
    except TimeoutError:
        pass
    finally:
        for lookup in lookups:
            lookup.cancel()
    return False


async def _answers(name: str) -> bool:
    try:
        await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        return error.errno in _NO_SUCH_NAME
    except (OSError, UnicodeError):
        return False
    return True
