"""Downloads that failed by this machine's fault or its network's: no site could have answered.

Such a failure is the same for each page, and as a rule over after a while. Counted as a try of the
page, a minute without network buried most of what a crawl had left.

What only one site suffers from is that site's fault: `http.other_names` tells a domain's own
name servers from this machine's, `http.ipv6` a host that needs IPv6 from a lack of network.
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
#: By error number: what to look at.
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
#: A page is tried again after a time from here to there, s: many wait for the same network.
_FROM_S, _TO_S = 2.0, 20.0

_said = OnceAMinute()


def own_fault(error: BaseException | None) -> int:
    """Return the error number of a fault that is this machine's or its network's, 0 for another.

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
    """The numbers of the table that an error's number is one of.

    A resolver, TLS and other libraries have numbers of their own, some of which equal the system's:
    each TLS error that a server causes has that of EPERM.
    """
    if isinstance(error, socket.gaierror):
        return (socket.EAI_AGAIN,)
    if type(error).__module__ != OSError.__module__:
        return ()
    return _ADVICE.keys() - {socket.EAI_AGAIN}


def wait_s() -> float:
    """Seconds until a page is tried again."""
    return random.uniform(_FROM_S, _TO_S)


def told(error: Exception) -> str:
    """Log a fault that is this machine's or its network's, with what to look at.

    Returns the fault in words, '' where another is to blame.
    """
    number = own_fault(error)
    if not number:
        return ""
    reason = describe(error)
    if _said.is_due(number):
        text = "this machine cannot connect: %s; %s. Its requests wait, and no try is counted"
        logger.warning(text, reason, _ADVICE[number])
    return reason
