"""Estimates Redis' clock (I6): never ahead of it, and hardly behind."""

from __future__ import annotations

from typing import Any

#: Two hosts' clocks drift apart by at most this much, seconds per second.
DRIFT = 1e-4
#: A reply this quick is accurate enough, s; of slower ones this many are needed.
QUICK_S, ENOUGH = 0.02, 8
#: A server's clock that is ahead of the latest time possible by this much was set forward, s.
STEP_S = 2.0


async def server_time_s(client: Any) -> float:
    """Return the time of Redis' clock, Unix seconds, as it was while the reply was made.

    Raises:
        RedisError: Redis does not answer.
    """
    seconds, micros = await client.time()
    return float(seconds + micros / 1e6)


class ServerClock:
    """Turns the server's times into local ones.

    The time in a reply is a lower bound of the server's clock, because the reply spent time in
    transit. The largest bound counts, because it comes from the quickest reply: a slow one, or one
    that had to connect first, changes nothing. Workers that use the same bound agree with each
    other better than with the server, and that keeps their requests apart.

    >>> clock = ServerClock()
    >>> clock.learn(1000.0, asked_at=10.0, got_at=10.5)
    >>> clock.learn(1001.0, asked_at=11.0, got_at=11.9)
    >>> round(clock.remote(20.5), 2), round(clock.local(1010.0), 2)
    (1010.0, 20.5)
    """

    def __init__(self) -> None:
        self._offset: float | None = None
        self._learned_at = 0.0
        self._replies = 0
        self._quickest_s = float("inf")
        self.stepped_ms = 0.0
        """The server's time when it was last seen set forward, ms; 0: not since it was set back."""

    @property
    def trusted(self) -> bool:
        """Whether a reply was quick, or there were enough to choose from.

        The first replies of a process that starts on a busy machine are read late, and its estimate
        is behind by as much: it would send late and believe to be in time.
        """
        return self._quickest_s <= QUICK_S or self._replies >= ENOUGH

    def learn(self, server: float, asked_at: float, got_at: float) -> None:
        """Learn from a reply: the server's time, when it was asked for and arrived (monotonic)."""
        low, high = server - got_at, server - asked_at
        if low > self._latest_offset(got_at) + STEP_S:
            self.stepped_ms = server * 1000
        self._replies += 1
        self._quickest_s = min(self._quickest_s, got_at - asked_at)
        offset = low if self._offset is None else self._offset - DRIFT * (got_at - self._learned_at)
        if offset > high:  # it was set back, or another server took over: its times begin anew
            self._offset, self.stepped_ms = low, 0.0
        else:
            self._offset = max(low, offset)
        self._learned_at = got_at

    def _latest_offset(self, at: float) -> float:
        """An upper bound of the offset, because no estimate errs by more than its round trip."""
        if self._offset is None:
            return float("inf")
        return self._offset + self._quickest_s + 10 * DRIFT * (at - self._learned_at)

    def remote(self, local: float) -> float:
        """Convert a local time (monotonic) to the server's, both in seconds."""
        return local + (self._offset or 0.0)

    def local(self, server: float) -> float:
        """Convert a server's time to the local one (monotonic), both in seconds."""
        return server - (self._offset or 0.0)
