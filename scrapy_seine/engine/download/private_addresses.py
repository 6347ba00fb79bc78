"""Decides which addresses are private, and which requests may still be sent to one.

A private address belongs to this machine, to the local network or to a cloud's own services. A
site's data (a link, a redirect, a sitemap, a DNS record) must not lead a worker there, because
services there answer without authentication. An address counts by where a packet to it ends: IPv6
forms that carry an IPv4 address (mapped, 6to4, NAT64, Teredo) count as that address.
Source: IANA's special-purpose registries (RFC 6890), RFC 6052 (NAT64), RFC 3056, RFC 4380.

By default a request may reach the private address of the seed that it comes from. The address is
known when a connection is made, so it is checked then, not for each page. A seed whose host is
private passes `home`, its host and port, to all pages it leads to. A host with a public address is
public: its private addresses are not used, and what its name resolves to later changes nothing,
because whoever owns the name decides what it resolves to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from urllib.parse import urlsplit
from urllib.request import getproxies

import attrs
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.httpobj import urlparse_cached

from scrapy_seine import meta as m
from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike
from scrapy_seine.engine.download.http.resolve import addresses_of
from scrapy_seine.engine.lease.entry import current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.errors import AddressRefused, ConfigError

Network = IPv4Network | IPv6Network

_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
#: IPv4-compatible, IPv4-translated: not routed, yet some stacks treat them as the IPv4 address.
_CARRIES = (*_NAT64, IPv6Network("::/96"), IPv6Network("::ffff:0:0:0/96"))
#: Never a host, though Python calls some of them global.
_NEVER = tuple(
    map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "fec0::/10", "100::/64", "5f00::/16"))
)
MODES = ("seeds", "allow", "deny")
#: Public hosts that a process remembers, at most.
_MOST = 100_000
_PORTS = {"http": 80, "https": 443}


def _inner(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address carries, else the address itself."""
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
    """Which addresses are private, and who may reach them."""

    mode: str = "seeds"
    """`seeds`: only a seed's own host and port; `allow`: any; `deny`: none."""
    public: tuple[Network, ...] = ()
    """Networks to treat as public."""

    @classmethod
    def parse(cls, mode: str, public: Sequence[str] = ()) -> AddressPolicy:
        """Make a policy from settings.

        Raises:
            ValueError: naming the wrong mode or network.
        """
        if mode not in MODES:
            raise ValueError(f"{mode!r} is none of {', '.join(MODES)}")
        return cls(mode, tuple(map(ip_network, public)))

    def is_private(self, address: str) -> bool:
        """Whether an address is not public; an invalid address is private.

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
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return True
    inner = _inner(parsed)
    if any(inner.version == network.version and inner in network for network in public):
        return False
    never = any(inner.version == network.version and inner in network for network in _NEVER)
    return never or inner.is_multicast or not inner.is_global


class Reach:
    """Decides for one crawler which requests may be sent to private addresses."""

    def __init__(self, policy: AddressPolicy, inflight: InFlightTable) -> None:
        self.policy = policy
        self._inflight = inflight
        #: Host and port of the operator's own proxies, which may be private.
        self.proxies = {_host_port(url) for url in getproxies().values()}
        #: Private proxies that are not listed: the spider's code named them in this process.
        self._unlisted: set[str] = set()
        self._public: dict[str, None] = {}

    def home_of(self, request: Request) -> str:
        """Host and port that a request may reach though they are private; '' for none."""
        meta = request.meta
        if m.HOME in meta:
            return str(meta[m.HOME] or "")
        page = current.get()
        if (
            page is not None
            and page.request is not request
            and not self._inflight.entry_of(request)
        ):
            return self.home_of(page.request)  # for instance an image of a page
        if meta.get(m.DEPTH):
            return ""
        redirects = meta.get("redirect_urls")
        place = place_of(Request(str(redirects[0])) if redirects else request)
        return "" if place in self._public else place

    def permits(self, request: Request, address: str) -> bool:
        """Whether a request may be sent to an address of its host."""
        return bool(self.reachable(self.home_of(request), place_of(request), [address]))

    def reachable(self, home: str, place: str, addresses: list[str]) -> list[str]:
        """Return those of a place's addresses that pages of a *home* may connect to."""
        if self.policy.mode == "allow":
            return addresses
        public = [address for address in addresses if not self.policy.is_private(address)]
        is_at_home = self.policy.mode == "seeds" and place == home and place not in self._public
        return public if public or not is_at_home else addresses

    def permitted(self, request: Request, addresses: list[str]) -> list[str]:
        """Return those of a host's addresses that a request may be sent to.

        Raises:
            AddressRefused: there is none.
        """
        reachable = self.reachable(self.home_of(request), place_of(request), addresses)
        if not reachable:
            raise self.refusal(request, addresses[0] if addresses else "")
        return reachable

    async def check_name(self, request: Request) -> None:
        """Check a host's addresses for a client, or a remote proxy, that resolves the name itself.

        A name that does not resolve here is accepted: the other side may resolve it.

        Raises:
            AddressRefused: one of its addresses is private, and the request may not be sent there.
        """
        if self.policy.mode == "allow":
            return
        try:
            addresses = await addresses_of(urlparse_cached(request).hostname or "")
        except CannotResolveHostError:
            return
        for address in addresses:
            if not self.permits(request, address):
                raise self.refusal(request, address)
        self.record_host(request, addresses[0])

    def trust(self, proxies: Iterable[str]) -> None:
        """Add proxies (URLs) to the operator's own."""
        self.proxies.update(map(_host_port, proxies))

    async def check_proxy(self, request: Request) -> None:
        """Check the proxy in the meta of a seed or a stored request, because anybody may have set
        it.

        Raises:
            AddressRefused: it has a private address, and is not one of the operator's own.
        """
        entry = self._inflight.entry_of(request.meta.get(m.INSTEAD_OF) or request)
        proxy = entry.proxy if entry is not None else None
        if not proxy or proxy != request.meta.get("proxy") or self.policy.mode == "allow":
            return
        place = _host_port(str(proxy))
        if place in self.proxies:
            return
        try:
            addresses = await addresses_of(place.rpartition(":")[0])
        except CannotResolveHostError:
            return  # it cannot be reached either
        if any(map(self.policy.is_private, addresses)):
            raise AddressRefused(
                f"its proxy {place} is at a private address, and is none of the operator's: list "
                "it in SEINE_PROXIES or http_proxy, or set SEINE_PRIVATE_ADDRESSES=allow",
                place_of(request),
            )

    def reason_to_stay(self, request: Request) -> str:
        """Return why a request of the spider must stay in this worker; '' if any worker may send
        it.

        The spider's code is the operator's, and may name any proxy. Another worker could not
        distinguish a stored request of the spider from one that somebody else wrote to Redis.
        """
        proxy = request.meta.get("proxy")
        if not proxy or self.policy.mode == "allow":
            return ""
        place = _host_port(str(proxy))
        if place in self.proxies and place not in self._unlisted:
            return ""
        self.trust([str(proxy)])
        if not self._looks_private(place.rpartition(":")[0]):
            return ""
        self._unlisted.add(place)
        return (
            f"its proxy {place} is at a private address, and no worker takes such a proxy from "
            "Redis unless it is listed in SEINE_PROXIES or http_proxy"
        )

    def _looks_private(self, host: str) -> bool:
        """Whether a proxy's host looks private; names with dots may be public."""
        try:
            ip_address(host)
        except ValueError:
            return "." not in host or host.endswith((".local", ".internal", ".localhost"))
        return self.policy.is_private(host)

    def refusal(self, request: Request, address: str = "", place: str = "") -> AddressRefused:
        """Return the error that explains why a request, or its redirect to *place*, is not sent."""
        shown_address = f" ({address})" if address else ""
        place = place or place_of(request)
        return AddressRefused(
            f"{place} is at a private address{shown_address}, which "
            f"SEINE_PRIVATE_ADDRESSES={self.policy.mode} does not allow here; =allow does",
            place,
        )

    def record_host(self, request: Request, address: str) -> None:
        """Record where a seed's host is, for all pages that the seed leads to."""
        meta = request.meta
        home = meta.get(m.HOME, "" if meta.get(m.DEPTH) else None)
        if home == "":
            return
        if not self.policy.is_private(address):
            self.record_public_home(request)
        if home is None:
            meta[m.HOME] = self.home_of(request)

    def was_public(self, request: Request) -> bool:
        """Whether a request's host is a home of pages, and was at a public address."""
        return place_of(request) in self._public

    def record_public_home(self, request: Request) -> None:
        """Record that a request's host was public, here or for another worker of the fleet."""
        self.record_public(self.home_of(request), place_of(request))

    def record_public(self, home: str, place: str) -> None:
        """Record that a place was public, if it is the *home* of pages."""
        if place != home:
            return
        self._public[place] = None
        if len(self._public) > _MOST:
            del self._public[next(iter(self._public))]


def _host_port(proxy: str) -> str:
    """Return host and port of a proxy's URL.

    >>> _host_port("http://me:word@Proxy.example:3128/"), _host_port("socks5://[::1]:9050")
    ('proxy.example:3128', '::1:9050')
    """
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        port = parts.port
    except ValueError:  # it cannot be reached either
        return ":0"
    return f"{parts.hostname or ''}:{port or _PORTS.get(parts.scheme, 1080)}"


def place_of(request: Request) -> str:
    """Return host and port of a request's URL, with the default port filled in.

    >>> place_of(Request("https://Shop.Example./x"))
    'shop.example:443'
    """
    parts = urlparse_cached(request)
    host = (parts.hostname or "").rstrip(".")
    return f"{host}:{parts.port or _PORTS.get(parts.scheme, 0)}"


def policy_from(settings: SettingsLike) -> AddressPolicy:
    """Read SEINE_PRIVATE_ADDRESSES and SEINE_PUBLIC_NETWORKS.

    Raises:
        ConfigError: naming the wrong value.
    """
    mode = str(settings.get("SEINE_PRIVATE_ADDRESSES") or "seeds").lower()
    networks = str(settings.get("SEINE_PUBLIC_NETWORKS") or "").replace(",", " ").split()
    try:
        return AddressPolicy.parse(mode, networks)
    except ValueError as error:
        raise ConfigError(f"SEINE_PRIVATE_ADDRESSES, SEINE_PUBLIC_NETWORKS: {error}") from None
