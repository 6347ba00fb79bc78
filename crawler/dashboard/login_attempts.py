"""Limits on wrong tokens at the dashboard's login, by address and in total."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

#: Most wrong tokens of one address within the window; a person mistypes fewer.
MAX_GUESSES_BY_ADDRESS = 10
#: Most wrong tokens of all addresses within the window; guessing 16 characters takes ages then.
MAX_GUESSES = 100
#: Seconds for which a wrong token counts.
WINDOW_S = 60.0
#: Seconds for which an address that sent the right token is exempt from the total limit.
TRUST_S = 12 * 3600.0
#: Most addresses that are stored; the one with the oldest guess is dropped first.
MAX_ADDRESSES = 10_000


class Guesses:
    """Wrong tokens of the last minute.

    A guess counts from its start, so that parallel guesses cannot exceed the limit; a right one is
    taken back. Each process has its own counts.

    An attacker with many addresses must not lock the operator out, so an address that sent the
    right token has only its own limit. A client behind the same address can still block it for a
    minute at a time; open sessions continue.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._all_times: deque[float] = deque()
        self._by_address: OrderedDict[str, deque[float]] = OrderedDict()
        self._trusted: OrderedDict[str, float] = OrderedDict()
        """Networks that sent the right token, with the time of the last one."""

    def begin(self, address: str) -> float:
        """Count a guess and return 0.0, or return the seconds for which guesses are refused."""
        now = self._clock()
        own_times = self._by_address.setdefault(_network(address), deque())
        self._by_address.move_to_end(_network(address))
        while len(self._by_address) > MAX_ADDRESSES:
            self._by_address.popitem(last=False)
        limits = [(own_times, MAX_GUESSES_BY_ADDRESS)]
        if self._trusted.get(_network(address), -TRUST_S) <= now - TRUST_S:
            limits.append((self._all_times, MAX_GUESSES))
        for times, limit in limits:
            while times and times[0] <= now - WINDOW_S:
                times.popleft()
            if len(times) >= limit:
                return times[0] + WINDOW_S - now
        own_times.append(now)
        self._all_times.append(now)
        return 0.0

    def forgive(self, address: str) -> None:
        """Take back the last guess of this address, because it was right."""
        self._trusted[_network(address)] = self._clock()
        self._trusted.move_to_end(_network(address))
        while len(self._trusted) > MAX_ADDRESSES:
            self._trusted.popitem(last=False)
        for times in (self._by_address.get(_network(address)), self._all_times):
            if times:
                times.pop()


def _network(address: str) -> str:
    """Return the network of one client: an IPv4 address, or the /64 of an IPv6 customer."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is None:
        return ip.exploded[:19]
    return str(getattr(ip, "ipv4_mapped", None) or ip)
