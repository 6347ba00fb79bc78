"""Detects downloads that failed because of this machine or its network, not the site.

Such a failure hits every page, and is usually over after a while. If it counted as a try, a minute
without network would bury most of what a crawl had left.

A failure of one site only is that site's fault: `http.other_names` distinguishes a domain's name
servers from this machine's, `http.ipv6` a host that needs IPv6 from a lack of network.
"""

from __future__ import annotations

import errno
import logging
import random
import socket
from collections.abc import Collection

from scrapy_seine.engine.lease.error_text import describe
from scrapy_seine.once_a_minute import OnceAMinute

logger = logging.getLogger(__name__)
#: By error number: what to check.
_ADVICE = {
    errno.EMFILE: "raise the limit of open files (ulimit -n), or lower CONCURRENT_REQUESTS",
    errno.ENFILE: "raise the machine's limit of open files (fs.file-max)",
    errno.EADDRNOTAVAIL: "no local port is free, or an address to send from is not this machine's",
    errno.ENOBUFS: "the machine lacks memory for connections",
    errno.ENOMEM: "the machine lacks memory",
    errno.ENETDOWN: "is the network up?",
    errno.ENETUNREACH: "is the network up?",
    errno.EPERM: "does a firewall of this machine forbid it?",
    socket.EAI_AGAIN: "does the name server of this machine answer, and the site's own?",
}
#: Bounds of the wait before the next try, s, because many pages wait for the same network.
_MIN_WAIT_S, _MAX_WAIT_S = 2.0, 20.0

_log_limiter = OnceAMinute()


def own_fault(error: BaseException | None) -> int:
    """Return the error number of a fault of this machine or its network, 0 for another.

    >>> own_fault(OSError(errno.EMFILE, "Too many open files")) == errno.EMFILE
    True
    >>> own_fault(ConnectionRefusedError(errno.ECONNREFUSED, "refused"))
    0
    """
    while error is not None:
        number = error.errno if isinstance(error, OSError) else None
        if number is not None and number in _numbers(error):
            return number
        error = error.__cause__
    return 0


def _numbers(error: BaseException) -> Collection[int]:
    """Return the error numbers of the table that apply to an error's class.

    Resolvers, TLS and other libraries have numbers of their own, some of which equal the system's:
    every TLS error that a server causes has the number of EPERM.
    """
    if isinstance(error, socket.gaierror):
        return (socket.EAI_AGAIN,)
    if type(error).__module__ != OSError.__module__:
        return ()
    return _ADVICE.keys() - {socket.EAI_AGAIN}


def wait_s() -> float:
    """Seconds until the page is tried again."""
    return random.uniform(_MIN_WAIT_S, _MAX_WAIT_S)


def log_own_fault(error: Exception) -> str:
    """Log a fault of this machine or its network, with what to check.

    Returns the fault's text, '' if another party is to blame.
    """
    number = own_fault(error)
    if not number:
        return ""
    reason = describe(error)
    if _log_limiter.is_due(number):
        text = "this machine cannot connect: %s; %s. Its requests wait, and no try is counted"
        logger.warning(text, reason, _ADVICE[number])
    return reason
