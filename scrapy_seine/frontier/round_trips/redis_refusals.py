"""Logs and counts what Redis refuses, because waiting alone does not fix a refusal.

An outage passes by itself, so that not each loop logs it. A refusal (a key that somebody else
overwrote, a full memory, a missing right) lasts until somebody acts, so the log names what to do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import attrs
from redis.exceptions import AskError, ResponseError

from scrapy_seine.frontier.lost_state import StateError
from scrapy_seine.once_a_minute import OnceAMinute
from scrapy_seine.store_errors import first_line, with_advice

logger = logging.getLogger(__name__)
#: How `lua/_types.lua` names a key of the whole crawl that is of another type.
_KEY_ERROR = " and must be "


def is_refusal(error: Exception) -> bool:
    """Whether Redis answered with a refusal.

    >>> is_refusal(ResponseError("OOM command not allowed")), is_refusal(OSError("reset"))
    (True, False)
    >>> is_refusal(AskError("15146 127.0.0.1:6379"))  # a Cluster moves the slot
    False
    """
    return isinstance(error, ResponseError) and not isinstance(error, StateError | AskError)


def breaks_all(error: Exception | None) -> bool:
    """Whether a key that all work needs is of another type.

    >>> breaks_all(ResponseError("WRONGTYPE {c}:held is a string and must be a hash: …"))
    True
    >>> breaks_all(ResponseError("WRONGTYPE Operation against a key holding the wrong kind …"))
    False
    """
    return (
        isinstance(error, ResponseError) and "WRONGTYPE" in str(error) and _KEY_ERROR in str(error)
    )


@attrs.define(eq=False, repr=False)
class Refusals:
    """Logs each refusal of Redis once a minute."""

    count: Callable[[str, int], None]
    """Adds to a stat."""
    _log_limiter: OnceAMinute = attrs.field(factory=OnceAMinute, init=False)

    def log_refusal(self, error: Exception, meanwhile: str) -> bool:
        """Log and count an error if it is a refusal; returns whether it is.

        *meanwhile* describes what the caller does until Redis accepts.
        """
        if not is_refusal(error):
            return False
        text = with_advice(first_line(error))
        if self._log_limiter.is_due(text):
            logger.error("Redis refuses: %s. %s", text, meanwhile)
            self.count("broken_keys" if breaks_all(error) else "refused", 1)
        return True
