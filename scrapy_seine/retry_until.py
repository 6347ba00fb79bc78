"""Waiting for a store that restarts: with jitter, one line to say so, and a limit.

A worker may start at the very moment at which a server is restarted. That is an outage like any
other, and no reason to fail: a supervisor's answer would be the same start once more.
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
    AuthenticationError,
    ClusterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)

from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.store_errors import first_line, said_by, with_advice

T = TypeVar("T")
#: What says that a store is away.
OUTAGES = (StoreUnreachable, RedisError, OSError)
#: What waiting does not mend, in the words of a server or of a client that reads an address.
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
#: What a resolver says of a name that is nowhere. In a compose file or a cluster a server that
#: starts has no name yet; one that has none after a while is misspelt, and waiting mends nothing.
_NO_SUCH_NAME = re.compile(
    "name or service not known|nodename nor servname|no address associated|name does not resolve",
    re.IGNORECASE,
)
NAME_S = 60.0
#: What Redis answers while it takes no writes: during a failover, with a full memory or disk, while
#: a script runs. It says so of every write, so that it is no refusal of this one.
_TAKES_NOTHING = (ClusterDownError, OutOfMemoryError, ReadOnlyError, TryAgainError)
_TAKES_NOTHING_CODES = re.compile(
    # Before Redis 7 what a script meets is told within another error's text.
    r"\b(?:MISCONF|NOREPLICAS|BUSY|LOADING|MASTERDOWN|READONLY|OOM) "
)


def passes(error: Exception) -> bool:
    """Whether a store may be back by itself: it is away, or takes nothing for now.

    >>> passes(StoreUnreachable("Connection refused"))
    True
    >>> passes(ReadOnlyError("You can't write against a read only replica."))
    True
    >>> passes(ResponseError("NOREPLICAS Not enough good replicas to write."))
    True
    >>> passes(ResponseError("Error running script (call to f_1): -READONLY You can't write …"))
    True
    >>> passes(StoreUnreachable('FATAL: database "shop" does not exist'))
    False
    >>> passes(StoreUnreachable('invalid sslmode value: "sure"'))
    False
    """
    if isinstance(error, AuthenticationError):
        return False
    if isinstance(error, ResponseError):
        # Any other refusal stays: a right that is missing, a key of another type.
        return isinstance(error, _TAKES_NOTHING) or bool(_TAKES_NOTHING_CODES.search(str(error)))
    if not isinstance(error, StoreUnreachable | RedisError | OSError):
        return False
    return not LASTING.search(str(error))


def tell_failure(logger: logging.Logger, what: str, error: Exception) -> None:
    """Log what was not done: in one line where a store says why, else with the traceback."""
    line = said_by(error)
    if line is None:
        logger.error("%s", what, exc_info=error)
    else:
        logger.error("%s: %s", what, line)


class RetryUntil:
    """Decides after each failure whether to wait once more, and how long."""

    def __init__(self, limit_s: float, tell: Callable[[str], None]) -> None:
        self.limit_s = limit_s
        self.tell = tell
        self._since: float | None = None
        self._named = False
        """The name of the server was there once, as far as anybody knows."""

    def wait_s(self, error: Exception) -> float:
        """Seconds to wait before the next try.

        Raises:
            Exception: *error* itself, where waiting does not mend it.
            StoreUnreachable: the limit is reached.
        """
        now = time.monotonic()
        if not passes(error):
            raise error
        line = first_line(error)
        self._named = self._named or not _NO_SUCH_NAME.search(line)
        limit_s = self.limit_s if self._named else min(self.limit_s, NAME_S)
        if self._since is None:
            self._since = now
            if limit_s > 0:
                wait = f"waiting for it up to {limit_s:g} s (SEINE_OUTAGE_LIMIT)"
                self.tell(f"{with_advice(line)}; {wait}")
        waited = now - self._since
        if waited >= limit_s:
            raise StoreUnreachable(line) from None
        # Many workers wait for the same server.
        return min(random.uniform(0.1, 0.5 + min(2.0, waited / 4)), limit_s - waited)

    def over(self) -> None:
        """The store answered; say so where it was waited for."""
        if self._since is not None:
            self.tell(f"the stores answer again after {time.monotonic() - self._since:.1f} s")
            self._since = None
        self._named = True

    def try_until(self, work: Callable[[], T]) -> T:
        """Do *work*, and do it again after each failure that passes; blocks meanwhile.

        Raises:
            StoreUnreachable: the limit is reached.
            Exception: whatever *work* raises and waiting does not mend.
        """
        while True:
            try:
                result = work()
            except (StoreUnreachable, RedisError, OSError) as error:
                time.sleep(self.wait_s(error))
            else:
                self.over()
                return result

    async def try_until_async(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do as `try_until`, without blocking the event loop."""
        while True:
            try:
                result = await work()
            except (StoreUnreachable, RedisError, OSError) as error:
                await asyncio.sleep(self.wait_s(error))
            else:
                self.over()
                return result
