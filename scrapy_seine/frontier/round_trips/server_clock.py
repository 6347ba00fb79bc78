"""Redis' clock as this process knows it (I6): never ahead of it, and hardly behind."""

from __future__ import annotations

#: Two hosts' clocks part by at most this much, seconds per second.
DRIFT = 1e-4
#: An answer this quick tells the time well enough, s; of slower ones so many are needed.
QUICK_S, ENOUGH = 0.02, 8


class ServerClock:
    """Turns the server's times into local ones.

    The time in a reply is a lower bound of the server's clock, because the reply spent time in
    transit. The largest bound counts, because it comes from the quickest reply: a slow one, or one
    that had to connect first, changes nothing. Workers that use the same bound agree with each
    other better than with the server, and that keeps their requests apart.

    >>> clock = ServerClock()
    >>> clock.learn(1000.0, asked=10.0, got=10.5)
    >>> clock.learn(1001.0, asked=11.0, got=11.9)
    >>> round(clock.remote(20.5), 2), round(clock.local(1010.0), 2)
    (1010.0, 20.5)
    """

    def __init__(self) -> None:
        self._offset: float | None = None
        self._at = 0.0
        self._heard = 0
        self._best = float("inf")

    @property
    def trusted(self) -> bool:
        """Whether an answer was quick, or there were enough to choose from.

        The first answers of a process that starts on a busy machine are slow to be read, and its
        clock is behind by as much: what it believes to be in time would be late.
        """
        return self._best <= QUICK_S or self._heard >= ENOUGH

    def learn(self, server: float, asked: float, got: float) -> None:
        """Take in an answer: the server's time, and when it was asked and got here (monotonic)."""
        low, high = server - got, server - asked
        self._heard += 1
        self._best = min(self._best, got - asked)
        offset = low if self._offset is None else self._offset - DRIFT * (got - self._at)
        # Above the upper bound: the clock was set back, or another server took over.
        self._offset = low if offset > high else max(low, offset)
        self._at = got

    def remote(self, local: float) -> float:
        """The server's time at a local one (monotonic), both in seconds."""
        return local + (self._offset or 0.0)

    def local(self, server: float) -> float:
        """The local time (monotonic) at one of the server's, both in seconds."""
        return server - (self._offset or 0.0)
