"""Which addresses are nobody else's business: this machine's, the local network's, the cloud's.

What a site says (a link, a redirect, a sitemap, a DNS record) must not lead a worker there, where
services answer without asking who calls. An address counts by where a packet to it ends: IPv6 forms
that carry an IPv4 address (mapped, 6to4, NAT64, Teredo) count as that address.
Source: IANA's special-purpose registries (RFC 6890), RFC 6052 (NAT64), RFC 3056, RFC 4380.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

import attrs

from scrapy_seine.records import Value

Network = IPv4Network | IPv6Network

_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
#: IPv4-compatible, IPv4-translated: not routed, yet some stacks take them for the IPv4 address.
_CARRIES = (*_NAT64, IPv6Network("::/96"), IPv6Network("::ffff:0:0:0/96"))
#: Never anybody's host, though Python calls some of them global.
_NEVER = tuple(
    map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "fec0::/10", "100::/64", "5f00::/16"))
)
MODES = ("seeds", "allow", "deny")


def _inner(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address carries, else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in network for network in _CARRIES):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


@attrs.frozen(eq=False, repr=False)
class AddressPolicy(Value):
    """What counts as private, and who may go there."""

    mode: str = "seeds"
    """`seeds`: only to a seed's own host and port; `allow`: anybody; `deny`: nobody."""
    public: tuple[Network, ...] = ()
    """Networks that count as public although they are not."""

    @classmethod
    def read(cls, mode: str, public: Sequence[str] = ()) -> AddressPolicy:
        """Make a policy of settings.

        Raises:
            ValueError: saying what is no mode or no network.
        """
        if mode not in MODES:
            raise ValueError(f"{mode!r} is none of {', '.join(MODES)}")
        return cls(mode, tuple(map(ip_network, public)))

    def is_private(self, address: str) -> bool:
        """Whether an address is none of the public internet; what is no address is private.

        >>> policy = AddressPolicy()
        >>> [policy.is_private(a) for a in ("93.184.216.34", "10.0.0.1", "169.254.169.254")]
        [False, True, True]
        >>> [policy.is_private(a) for a in ("::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1%eth0")]
        [True, True, True]
        """
        return _is_private(address, self.public)


@lru_cache(maxsize=4096)
def _is_private(address: str, public: tuple[Network, ...]) -> bool:
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return True
    inner = _inner(found)
    if any(inner.version == network.version and inner in network for network in public):
        return False
    never = any(inner.version == network.version and inner in network for network in _NEVER)
    return never or inner.is_multicast or not inner.is_global
