"""Whether a host is out of reach because it has IPv6 addresses only, and this machine has none.

The machine's table of routes is asked, and nothing is sent. A machine without network has no way
to IPv4 either: no host is to blame then.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence

#: What connecting fails with where no way leads to an address.
_NO_WAY = {errno.ENETUNREACH, errno.EADDRNOTAVAIL}
#: An address of the public internet that nobody has (RFC 5737): what leads there is a default way.
_ANYWHERE = "192.0.2.1"


def lacks_ipv6(error: BaseException, addresses: Sequence[str]) -> bool:
    """Whether connecting to *addresses* failed because this machine has IPv4 alone."""
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
            probe.connect((address, 9))  # of a datagram: only the route is looked up
    except OSError:
        return False
    return True
