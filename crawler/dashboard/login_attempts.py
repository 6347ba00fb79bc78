"""Logins to the dashboard: how often one address, and all of them, may guess the token."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

#: Wrong tokens of one address within the window; a person mistypes fewer.
MOST_BY_ADDRESS = 10
#: Wrong tokens of all addresses within the window: a token of 16 characters outlasts the sun.
MOST_IN_ALL = 100
#: Seconds that a wrong token counts.
WINDOW_S = 60.0
#: Seconds for which an address that gave the right token does not wait for wrong ones of others.
KNOWN_S = 12 * 3600.0
#: Addresses remembered; the one that guessed longest ago is forgotten first.
MOST_ADDRESSES = 10_000


class Guesses:
    """Wrong tokens of the last minute.

    A guess counts from its beginning on, so that guesses in parallel are no way around; one that
    turns out right is taken back. Each process counts its own.

    Who guesses from everywhere must not lock the owner out: an address that gave the right token
    has a limit of its own alone. Whoever shares it can still hold it up, for a minute each time;
    sessions that have begun go on.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._all: deque[float] = deque()
        self._by_address: OrderedDict[str, deque[float]] = OrderedDict()
        self._known: OrderedDict[str, float] = OrderedDict()
        """Networks that gave the right token, and when they did last."""

    def begin(self, address: str) -> float:
        """Count a guess and return 0.0, or return for how many seconds guesses are refused."""
        now = self._clock()
        own = self._by_address.setdefault(_network(address), deque())
        self._by_address.move_to_end(_network(address))
        while len(self._by_address) > MOST_ADDRESSES:
            self._by_address.popitem(last=False)
        limits = [(own, MOST_BY_ADDRESS)]
        if self._known.get(_network(address), -KNOWN_S) <= now - KNOWN_S:
            limits.append((self._all, MOST_IN_ALL))
        for times, most in limits:
            while times and times[0] <= now - WINDOW_S:
                times.popleft()
            if len(times) >= most:
                return times[0] + WINDOW_S - now
        own.append(now)
        self._all.append(now)
        return 0.0

    def forgive(self, address: str) -> None:
        """Do not count the last guess of this address, because it was right."""
        self._known[_network(address)] = self._clock()
        self._known.move_to_end(_network(address))
        while len(self._known) > MOST_ADDRESSES:
            self._known.popitem(last=False)
        for times in (self._by_address.get(_network(address)), self._all):
            if times:
                times.pop()


def _network(address: str) -> str:
    """What one guesser has: an IPv4 address, or the /64 that an IPv6 customer is given."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return found.exploded[:19]
    return str(getattr(found, "ipv4_mapped", None) or found)
