"""An outage of Redis while a worker runs: how long it is waited out (SEINE_OUTAGE_LIMIT)."""

from __future__ import annotations

import logging
import random
from time import monotonic

import attrs

from scrapy_seine.frontier.round_trips.redis_refusals import Refusals
from scrapy_seine.store_errors import first_line, with_advice

logger = logging.getLogger(__name__)
#: The longest pause between two tries, s; tries early in an outage are closer.
_MAX_WAIT_S = 2.0


@attrs.define(eq=False, repr=False)
class Outage:
    """Waits for a Redis that does not answer, or that refuses all work, up to a limit."""

    limit_s: float
    refusals: Refusals
    _since: float | None = attrs.field(default=None, init=False)

    def next_try(self, error: Exception) -> float:
        """Record a failed round trip; returns after how many seconds to try again.

        Raises:
            Exception: *error*, once Redis has not answered for the limit.
        """
        now = monotonic()
        # An error reply is an answer: a full disk or memory, a replica, a key of another type.
        refused = self.refusals.log_refusal(
            error, "This worker goes on with what it holds, and waits"
        )
        if self._since is None:
            self._since = now
            if not refused:
                reason = with_advice(first_line(error))
                logger.warning("Redis does not answer: %s; working from the buffers", reason)
        away_s = now - self._since
        if away_s > self.limit_s:
            raise error
        return random.uniform(0.1, 0.5 + min(_MAX_WAIT_S, away_s / 4))

    def record_answer(self) -> None:
        """Record that Redis has answered."""
        self._since = None
