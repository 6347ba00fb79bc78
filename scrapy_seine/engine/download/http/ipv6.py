"""Detects hosts with IPv6 addresses only on a machine without IPv6.

It reads the machine's routing table and sends nothing. A machine without network has no route to
IPv4 either: then it is not the host's fault.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence

#: Errors of connecting to an address without a route.
_NO_WAY = {errno.ENETUNREACH, errno.EADDRNOTAVAIL}
#: An unused public address (RFC 5737): a route to it is a default route.
_ANYWHERE = "192.0.2.1"


def lacks_ipv6(error: BaseException, addresses: Sequence[str]) -> bool:
    """Whether connecting to *addresses* failed because this machine has IPv4 only."""
    return (
        isinstance(error, OSError)
        and error.errno in _NO_WAY
        and all(":" in address for address in addresses)
        and not any(map(_leads_to, addresses))
        and _leads_to(_ANYWHERE)
    )


def _leads_to(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))  # a datagram socket only looks up the route
    except OSError:
        return False
    return True
