"""Waits for a store that restarts: with jitter, one log line, and a limit.

A worker may start while a server is restarting. That is an outage like any other, and no reason to
fail, because a supervisor would only start the worker again.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from redis.exceptions import (
    AskError,
    AuthenticationError,
    ClusterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)

from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.store_errors import first_line, refusal_line, with_advice

T = TypeVar("T")
#: Errors that mean that a store is unreachable.
OUTAGES = (StoreUnreachable, RedisError, OSError)
#: Messages, of a server or a client, about errors that waiting does not fix.
LASTING = re.compile(
    r"authentication failed|does not exist|no pg_hba\.conf entry|does not support ssl|invalid dsn|"
    r"invalid username-password|wrongpass|noauth|noperm|permission denied for database|"
    r"not permitted to log in|no such database|no such user|unsupported startup parameter|"
    # a parameter of a URL: sslmode=sure, port=abc, options=-cfoo=1, service=none
    r"invalid (?:\w+ )?value|invalid (?:port|ssl|command-line)|unrecognized configuration|"
    r"requires a value|could not match|definition of service|service file|protocol must be|"
    # rediss:// to a server that speaks no TLS
    r"wrong.version.number|record.layer.failure",
    re.IGNORECASE,
)
#: A resolver's messages for an unknown name. In a compose file or a cluster a starting server has
#: no name yet; if it has none after a while, the name is misspelt, and waiting does not help.
_NO_SUCH_NAME = re.compile(
    "name or service not known|nodename nor servname|no address associated|name does not resolve",
    re.IGNORECASE,
)
NAME_S = 60.0
#: Redis' replies while it takes no writes: during a failover, while a Cluster moves a slot, with a
#: full memory or disk, while a script runs. They concern every write, so they are no refusal of
#: this one.
_TAKES_NOTHING = (AskError, ClusterDownError, OutOfMemoryError, ReadOnlyError, TryAgainError)
_TAKES_NOTHING_CODES = re.compile(
    # Before Redis 7 an error within a script is quoted in another error's text.
    r"\b(?:MISCONF|NOREPLICAS|BUSY|LOADING|MASTERDOWN|READONLY|OOM) "
)


def passes(error: Exception) -> bool:
    """Whether a store may recover by itself: it is unreachable, or takes no writes for now.

    >>> passes(StoreUnreachable("Connection refused"))
    True
    >>> passes(ReadOnlyError("You can't write against a read only replica."))
    True
    >>> passes(ResponseError("NOREPLICAS Not enough good replicas to write."))
    True
    >>> passes(ResponseError("Error running script (call to f_1): -READONLY You can't write …"))
    True
    >>> passes(AskError("15146 127.0.0.1:6379"))
    True
    >>> passes(StoreUnreachable('FATAL: database "shop" does not exist'))
    False
    >>> passes(StoreUnreachable('invalid sslmode value: "sure"'))
    False
    """
    if isinstance(error, AuthenticationError):
        return False
    if isinstance(error, ResponseError):
        # Any other refusal lasts: a missing right, a key of another type.
        return isinstance(error, _TAKES_NOTHING) or bool(_TAKES_NOTHING_CODES.search(str(error)))
    if not isinstance(error, StoreUnreachable | RedisError | OSError):
        return False
    return not LASTING.search(str(error))


def log_failure(logger: logging.Logger, failure: str, error: Exception) -> None:
    """Log a failure: in one line if a store reported the reason, else with the traceback."""
    line = refusal_line(error)
    if line is None:
        logger.error("%s", failure, exc_info=error)
    else:
        logger.error("%s: %s", failure, line)


class RetryUntil:
    """Decides after each failure whether to wait once more, and how long."""

    def __init__(self, limit_s: float, report: Callable[[str], None]) -> None:
        self.limit_s = limit_s
        self.report = report
        self._since: float | None = None
        self._was_resolved = False
        """Whether the server's name was resolved at least once, as far as is known."""

    def wait_s(self, error: Exception) -> float:
        """Seconds to wait before the next try.

        Raises:
            Exception: *error* itself, if waiting does not help.
            StoreUnreachable: the limit is reached.
        """
        now = time.monotonic()
        if not passes(error):
            raise error
        line = first_line(error)
        self._was_resolved = self._was_resolved or not _NO_SUCH_NAME.search(line)
        limit_s = self.limit_s if self._was_resolved else min(self.limit_s, NAME_S)
        if self._since is None:
            self._since = now
            if limit_s > 0:
                wait = f"waiting for it up to {limit_s:g} s (SEINE_OUTAGE_LIMIT)"
                self.report(f"{with_advice(line)}; {wait}")
        waited = now - self._since
        if waited >= limit_s:
            raise StoreUnreachable(line) from None
        # Random, because many workers wait for the same server.
        return min(random.uniform(0.1, 0.5 + min(2.0, waited / 4)), limit_s - waited)

    def record_answer(self) -> None:
        """Record that the store answered; log it if it was waited for."""
        if self._since is not None:
            self.report(f"the stores answer again after {time.monotonic() - self._since:.1f} s")
            self._since = None
        self._was_resolved = True

    def try_until(self, work: Callable[[], T]) -> T:
        """Run *work*, and repeat it after each temporary failure; blocks meanwhile.

        Raises:
            StoreUnreachable: the limit is reached.
            Exception: an exception of *work* that waiting does not fix.
        """
        while True:
            try:
                result = work()
            except (StoreUnreachable, RedisError, OSError) as error:
                time.sleep(self.wait_s(error))
            else:
                self.record_answer()
                return result

    async def try_until_async(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do as `try_until`, without blocking the event loop."""
        while True:
            try:
                result = await work()
            except (StoreUnreachable, RedisError, OSError) as error:
                await asyncio.sleep(self.wait_s(error))
            else:
                self.record_answer()
                return result
