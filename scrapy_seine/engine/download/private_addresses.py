"""Which private addresses a request may reach: those of the seed that it comes from, by default.

The address is known when a connection is made, so it is asked then, not for each page. A seed whose
host turned out to be private hands `home`, its host and port, down to all that it leads to; one
whose host was public hands down nothing, and what its name resolves to later changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy import Request
from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.httpobj import urlparse_cached

from scrapy_seine import meta as m
from scrapy_seine.config import SettingsLike
from scrapy_seine.engine.download.http.resolve import addresses_of
from scrapy_seine.engine.lease.entry import current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.errors import AddressRefused, ConfigError
from scrapy_seine.private_addresses import AddressPolicy

#: Hosts known to be public that a process remembers.
_MOST = 100_000
_PORTS = {"http": 80, "https": 443}


class Reach:
    """The policy of one crawler, and what its seeds turned out to be."""

    def __init__(self, policy: AddressPolicy, inflight: InFlightTable) -> None:
        self.policy = policy
        self._inflight = inflight
        #: Host and port of the operator's own proxies, which may be private.
        self.proxies = {_way_of(url) for url in getproxies().values()}
        #: Private ones that are not listed: the spider's code named them in this process.
        self._named: set[str] = set()
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
            return self.home_of(page.request)  # an image of a page, say
        if meta.get(m.DEPTH):
            return ""
        way = meta.get("redirect_urls")
        return place_of(Request(str(way[0])) if way else request)

    def permits(self, request: Request, address: str) -> bool:
        """Whether a request may be sent to an address that its host resolves to."""
        if self.policy.mode == "allow" or not self.policy.is_private(address):
            return True
        if self.policy.mode == "deny":
            return False
        place = place_of(request)
        return place not in self._public and place == self.home_of(request)

    def permitted(self, request: Request, addresses: list[str]) -> list[str]:
        """Those of a host's addresses that a request may be sent to.

        Raises:
            AddressRefused: none of them is.
        """
        found = [address for address in addresses if self.permits(request, address)]
        if not found:
            raise self.refusal(request, addresses[0] if addresses else "")
        return found

    async def check_name(self, request: Request) -> None:
        """Check where a host is for a client, or a remote proxy, that looks it up once more.

        What does not resolve here is let pass: the other side may know it.

        Raises:
            AddressRefused: one of its addresses is private, and the request may not be sent there.
        """
        if self.policy.mode == "allow":
            return
        try:
            found = await addresses_of(urlparse_cached(request).hostname or "")
        except CannotResolveHostError:
            return
        for address in found:
            if not self.permits(request, address):
                raise self.refusal(request, address)
        self.reached(request, found[0])

    def trust(self, proxies: Iterable[str]) -> None:
        """Take proxies (URLs) for the operator's own."""
        self.proxies.update(map(_way_of, proxies))

    async def check_proxy(self, request: Request) -> None:
        """Check where the proxy is that a seed or a stored request names: anybody may have.

        Raises:
            AddressRefused: it is at a private address, and none of the operator's own.
        """
        entry = self._inflight.entry_of(request.meta.get(m.INSTEAD_OF) or request)
        named = entry.proxy if entry is not None else None
        if not named or named != request.meta.get("proxy") or self.policy.mode == "allow":
            return
        way = _way_of(str(named))
        if way in self.proxies:
            return
        try:
            found = await addresses_of(way.rpartition(":")[0])
        except CannotResolveHostError:
            return  # it cannot be asked either
        if any(map(self.policy.is_private, found)):
            raise AddressRefused(
                f"its proxy {way} is at a private address, and is none of the operator's: list it "
                "in SEINE_PROXIES or http_proxy, or set SEINE_PRIVATE_ADDRESSES=allow",
                place_of(request),
            )

    def keeps(self, request: Request) -> str:
        """Why a request of the spider must stay in this worker; '' where any worker may send it.

        The spider's code is the operator's, and may name any proxy. Another worker could not tell a
        stored request of the spider from one that somebody else put into Redis.
        """
        proxy = request.meta.get("proxy")
        if not proxy or self.policy.mode == "allow":
            return ""
        way = _way_of(str(proxy))
        if way in self.proxies and way not in self._named:
            return ""
        self.trust([str(proxy)])
        if not self._looks_private(way.rpartition(":")[0]):
            return ""
        self._named.add(way)
        return (
            f"its proxy {way} is at a private address, and no worker takes such a proxy from "
            "Redis unless it is listed in SEINE_PROXIES or http_proxy"
        )

    def _looks_private(self, host: str) -> bool:
        """Whether a proxy's host is private as it is written; names with dots may be public."""
        try:
            ip_address(host)
        except ValueError:
            return "." not in host or host.endswith((".local", ".internal", ".localhost"))
        return self.policy.is_private(host)

    def refusal(self, request: Request, address: str = "") -> AddressRefused:
        """Say why a request is not sent."""
        where = f" ({address})" if address else ""
        place = place_of(request)
        return AddressRefused(
            f"{place} is at a private address{where}, which "
            f"SEINE_PRIVATE_ADDRESSES={self.policy.mode} does not allow here",
            place,
        )

    def reached(self, request: Request, address: str) -> None:
        """Note where a seed's host is, for all that the seed leads to."""
        meta = request.meta
        if m.HOME in meta or meta.get(m.DEPTH):
            return
        if self.policy.is_private(address):
            meta[m.HOME] = self.home_of(request)
            return
        meta[m.HOME] = ""
        self._public[place_of(request)] = None
        if len(self._public) > _MOST:
            del self._public[next(iter(self._public))]


def _way_of(proxy: str) -> str:
    """Host and port of a proxy's URL.

    >>> _way_of("http://me:word@Proxy.example:3128/"), _way_of("socks5://[::1]:9050")
    ('proxy.example:3128', '::1:9050')
    """
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        port = parts.port
    except ValueError:  # it cannot be asked either
        return ":0"
    return f"{parts.hostname or ''}:{port or _PORTS.get(parts.scheme, 1080)}"


def place_of(request: Request) -> str:
    """Host and port of a request's URL, the port written out.

    >>> place_of(Request("https://Shop.Example./x"))
    'shop.example:443'
    """
    parts = urlparse_cached(request)
    host = (parts.hostname or "").rstrip(".")
    return f"{host}:{parts.port or _PORTS.get(parts.scheme, 0)}"


def policy_from(settings: SettingsLike) -> AddressPolicy:
    """Read SEINE_PRIVATE_ADDRESSES and SEINE_PUBLIC_NETWORKS.

    Raises:
        ConfigError: saying which is wrong.
    """
    mode = str(settings.get("SEINE_PRIVATE_ADDRESSES") or "seeds").lower()
    networks = str(settings.get("SEINE_PUBLIC_NETWORKS") or "").replace(",", " ").split()
    try:
        return AddressPolicy.read(mode, networks)
    except ValueError as error:
        raise ConfigError(f"SEINE_PRIVATE_ADDRESSES, SEINE_PUBLIC_NETWORKS: {error}") from None
