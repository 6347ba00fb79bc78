"""How late this worker's requests may be: as much as it takes that most of them need no new time.

A request that missed its time asks the frontier for another, which costs a round trip and often a
whole pause. A worker with more to do than its CPU allows is late with nearly all of them. It asks
for wider gaps instead, and may then be late by as much, without two requests coming too close.
"""

from __future__ import annotations

import attrs

from scrapy_seine.records import Record

#: Growth at each miss, in shares and ms; decay at each request that was on time. In balance where
#: about one of four misses its time. It grows slowly from nothing: requests that came in together
#: are late together, and a worker with CPU to spare keeps to the pauses in spite of that.
_GROWTH, _STEP_MS, _DECAY = 1.05, 0.1, 0.985
#: Wider gaps than this help nobody, ms.
MOST_MS = 500.0


@attrs.define(eq=False, repr=False)
class Lateness(Record):
    """Learned from each request that a pause binds."""

    ms: float = 0.0
    """By how much more a request may be late, and the next one's pause begins later."""

    def missed(self) -> None:
        """A request came too late for its time.

        >>> slack = Lateness()
        >>> for _ in range(100): slack.missed()
        >>> round(slack.ms)
        261
        """
        self.ms = min(self.ms * _GROWTH + _STEP_MS, MOST_MS)

    def kept(self) -> None:
        """A request was sent in time."""
        self.ms *= _DECAY


def late_ms(delay_ms: float, slack_ms: float = 0.0) -> float:
    """How much later than its slot a request may be sent, ms.

    The frontier spaces slots wider than the pause by this much: a late one uses the margin up.

    A long pause has room for more: a worker that has many sites to ask at once can be on time. One
    that has more to do than it can asked for *slack_ms*, of which it gets half the pause at most.

    >>> late_ms(50), late_ms(100), late_ms(400), late_ms(2000), late_ms(10_000)
    (2.5, 5.0, 8.0, 40.0, 100.0)
    >>> late_ms(400, 5.0), late_ms(400, 60.0), late_ms(400, 300.0)
    (8.0, 60.0, 200.0)
    """
    usual = min(delay_ms * 0.05, max(5.0, delay_ms * 0.02), 100.0)
    return max(usual, min(slack_ms, delay_ms * 0.5))
