"""How the dashboard is served."""

from __future__ import annotations

from ipaddress import ip_address

import attrs

from crawler.access.shared_state import fleet_name
from scrapy_seine.config import SettingsLike, number, secrets_of
from scrapy_seine.errors import ConfigError
from scrapy_seine.records import Value

_SHORTEST_TOKEN = 16


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@attrs.frozen(kw_only=True, eq=False, repr=False)
class DashboardConfig(Value):
    """Where it listens, and who may come in."""

    crawl: str
    partitions: int = 1
    """Hash slots of a crawl that has not begun yet; one that has says so itself."""
    host: str = "127.0.0.1"
    port: int = 8800
    token: str = attrs.field(default="", repr=False)
    """What a visitor must know; empty on a loopback address: nothing."""
    seeds_key: str = ""
    """Redis key of the seeds; empty: scrapy-redis' own name for it."""
    fleet: str = "access"
    """Name under which workers share what they know of proxies."""
    hosts: frozenset[str] = frozenset()
    """Further names under which it may be asked for."""
    images: str = ""
    """Folder of this machine where Scrapy's ImagesPipeline stores pictures; empty: none."""
    secrets: tuple[str, ...] = attrs.field(default=(), repr=False)
    """Secrets of stored requests, to sign what is replayed."""

    @property
    def seeds(self) -> str:
        """Redis key of the seeds."""
        return self.seeds_key or f"{self.crawl}:start_urls"

    @classmethod
    def from_settings(
        cls, settings: SettingsLike, crawl: str, *, host: str = "", port: str = ""
    ) -> DashboardConfig:
        """Read the SEINE_DASHBOARD_ settings; *host* and *port* of the command line win.

        Raises:
            ConfigError: the address is open to others and no good token is set.
        """
        host = host or str(settings.get("SEINE_DASHBOARD_HOST") or "127.0.0.1")
        token = str(settings.get("SEINE_DASHBOARD_TOKEN") or "")
        if not is_loopback(host) and len(token) < _SHORTEST_TOKEN:
            raise ConfigError(
                f"SEINE_DASHBOARD_HOST={host} is open to others: set SEINE_DASHBOARD_TOKEN "
                f"to at least {_SHORTEST_TOKEN} characters"
            )
        names = str(settings.get("SEINE_DASHBOARD_HOSTS") or "").replace(",", " ").split()
        given = {"SEINE_DASHBOARD_PORT": port or settings.get("SEINE_DASHBOARD_PORT") or 8800}
        if port == "0":
            given = {"SEINE_DASHBOARD_PORT": 0}
        return cls(
            crawl=crawl,
            partitions=int(number(settings, "FRONTIER_PARTITIONS", 1, low=1)),
            host=host,
            port=int(number(given, "SEINE_DASHBOARD_PORT", 8800)),
            token=token,
            fleet=fleet_name(settings),
            images=_folder(settings.get("IMAGES_STORE")),
            hosts=frozenset(name.lower() for name in names),
            secrets=secrets_of(settings),
        )


def _folder(store: object) -> str:
    """Return where pictures are stored, if that is a folder of this machine.

    >>> _folder("pictures"), _folder("s3://bucket/pictures"), _folder(None)
    ('pictures', '', '')
    """
    text = str(store or "")
    return "" if "://" in text else text
