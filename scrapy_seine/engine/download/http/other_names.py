"""Whether a name server answers for other names while it fails for one: then the one is to blame.

A name server says the same (EAI_AGAIN) when it is away itself and when a domain's own servers
fail. What tells the two apart is another name. Caches on the way keep known names alive, so what
is asked for is a name below a known one that nobody can have asked for before: "there is none" is
an answer, too. Where this process knows no other name, nothing is told.
"""

from __future__ import annotations

import asyncio
import random
import socket
import uuid
from collections.abc import Sequence
from ipaddress import ip_address
from time import monotonic

#: Names that are remembered; the one that was resolved first goes first.
_MOST = 64
#: Names that are asked for at once, because one of their domains may fail as well.
_ASKED = 3
#: How long they are waited for, s.
_PATIENCE_S = 5.0
#: How long what was asked counts, s, because many pages of a domain fail at a time.
_COUNTS_S = 5.0
#: What a resolver says when a name server answered that there is no such name, or no address.
_NONE = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


class OtherNames:
    """The names that this process resolved, and whether a name server answers for them."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}
        self._asking: tuple[asyncio.Task[bool], float] | None = None

    def note(self, host: str, addresses: Sequence[str]) -> None:
        """Remember a name that has addresses, if those are public.

        Others may come from a hosts file or a network's own server: they say nothing of the rest.
        """
        self._known.pop(host, None)
        if "." in host and all(ip_address(one.partition("%")[0]).is_global for one in addresses):
            self._known[host] = None
            if len(self._known) > _MOST:
                del self._known[next(iter(self._known))]

    async def answered(self, host: str) -> bool:
        """Whether a name server answers for another name than *host* now."""
        others = [name for name in self._known if name != host]
        if not others:
            return False
        loop = asyncio.get_running_loop()
        task, until = self._asking or (None, 0.0)
        if task is None or task.get_loop() is not loop or (task.done() and until < monotonic()):
            asked = random.sample(others, min(_ASKED, len(others)))
            task = loop.create_task(_any_answered(asked))
            self._asking = task, monotonic() + _COUNTS_S
        await asyncio.wait([task])
        return not task.cancelled() and task.result()


async def _any_answered(names: list[str]) -> bool:
    asks = [asyncio.ensure_future(_answers(f"{uuid.uuid4().hex[:12]}.{name}.")) for name in names]
    try:
        for ask in asyncio.as_completed(asks, timeout=_PATIENCE_S):
            if await ask:
                return True
    except TimeoutError:
        pass
    finally:
        for one in asks:
            one.cancel()
    return False


async def _answers(name: str) -> bool:
    try:
        await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        return error.errno in _NONE
    except (OSError, UnicodeError):
        return False
    return True
