"""How late this worker may send: as late as needed for most requests to keep their slot.

A request that missed its slot asks the frontier for another, which costs a round trip and often a
whole pause. A worker that is short of CPU is late with nearly all requests. It asks for wider gaps
instead, and may then be late by as much, without two requests coming too close.
"""

from __future__ import annotations

import attrs

from scrapy_seine.attrs_bases import Record

#: Growth at each miss, as a factor and in ms; decay at each request that was on time. The two
#: balance if one request of four is late. It grows slowly from nothing, because requests leased
#: together are late together, and a worker with CPU to spare should keep to the pauses regardless.
_GROWTH, _STEP_MS, _DECAY = 1.05, 0.1, 0.985
#: Gaps wider than this do not help, ms.
MAX_MS = 500.0


@attrs.define(eq=False, repr=False)
class Lateness(Record):
    """Adapts with each request that is bound by a pause."""

    ms: float = 0.0
    """Extra lateness allowed for a request, by which the next pause begins later."""

    def record_missed(self) -> None:
        """Record a request that was too late for its slot.

        >>> slack = Lateness()
        >>> for _ in range(100): slack.record_missed()
        >>> round(slack.ms)
        261
        """
        self.ms = min(self.ms * _GROWTH + _STEP_MS, MAX_MS)

    def record_on_time(self) -> None:
        """Record a request that was sent in time."""
        self.ms *= _DECAY


def late_ms(delay_ms: float, slack_ms: float = 0.0) -> float:
    """How much later than its slot a request may be sent, ms.

    The frontier spaces slots wider than the pause by this margin, which a late request uses up.

    A long pause allows more, so that a worker with many sites to ask at once is on time. An
    overloaded worker asked for *slack_ms*, of which it gets half the pause at most.

    >>> late_ms(50), late_ms(100), late_ms(400), late_ms(2000), late_ms(10_000)
    (2.5, 5.0, 8.0, 40.0, 100.0)
    >>> late_ms(400, 5.0), late_ms(400, 60.0), late_ms(400, 300.0)
    (8.0, 60.0, 200.0)
    """
    usual = min(delay_ms * 0.05, max(5.0, delay_ms * 0.02), 100.0)
    return max(usual, min(slack_ms, delay_ms * 0.5))
