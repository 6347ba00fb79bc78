"""The configuration of the dashboard."""

from __future__ import annotations

from ipaddress import ip_address

import attrs

from crawler.access.shared_state import fleet_name
from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike, number, secrets_of
from scrapy_seine.errors import ConfigError

_MIN_TOKEN = 16


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
    """The dashboard's address, access rules and stores."""

    crawl: str
    partitions: int = 1
    """Partitions of a crawl that has not begun yet; those of others are read from Redis."""
    host: str = "127.0.0.1"
    port: int = 8800
    token: str = attrs.field(default="", repr=False)
    """The token of the login; empty on a loopback address: no login."""
    seeds_key: str = ""
    """Redis key of the seeds; empty: scrapy-redis' default."""
    fleet: str = "access"
    """Name under which workers share the state of proxies."""
    hosts: frozenset[str] = frozenset()
    """Further names that are allowed in the Host header."""
    images: str = ""
    """Local folder where Scrapy's ImagesPipeline stores pictures; empty: none."""
    secrets: tuple[str, ...] = attrs.field(default=(), repr=False)
    """Secrets of stored requests, to sign replayed ones."""

    @property
    def seeds(self) -> str:
        """Redis key of the seeds."""
        return self.seeds_key or f"{self.crawl}:start_urls"

    @classmethod
    def from_settings(
        cls, settings: SettingsLike, crawl: str, *, host: str = "", port: str = ""
    ) -> DashboardConfig:
        """Read the SEINE_DASHBOARD_ settings; *host* and *port* of the command line override them.

        Raises:
            ConfigError: the address is no loopback address and no sufficient token is set.
        """
        host = host or str(settings.get("SEINE_DASHBOARD_HOST") or "127.0.0.1")
        token = str(settings.get("SEINE_DASHBOARD_TOKEN") or "")
        if not is_loopback(host) and len(token) < _MIN_TOKEN:
            raise ConfigError(
                f"SEINE_DASHBOARD_HOST={host} is open to others: set SEINE_DASHBOARD_TOKEN "
                f"to at least {_MIN_TOKEN} characters"
            )
        names = str(settings.get("SEINE_DASHBOARD_HOSTS") or "").replace(",", " ").split()
        port_setting = {
            "SEINE_DASHBOARD_PORT": port or settings.get("SEINE_DASHBOARD_PORT") or 8800
        }
        if port == "0":
            port_setting = {"SEINE_DASHBOARD_PORT": 0}
        return cls(
            crawl=crawl,
            partitions=int(number(settings, "FRONTIER_PARTITIONS", 1, low=1)),
            host=host,
            port=int(number(port_setting, "SEINE_DASHBOARD_PORT", 8800)),
            token=token,
            fleet=fleet_name(settings),
            images=_folder(settings.get("IMAGES_STORE")),
            hosts=frozenset(name.lower() for name in names),
            secrets=secrets_of(settings),
        )


def _folder(store: object) -> str:
    """Return the folder of the pictures, if it is a local one.

    >>> _folder("pictures"), _folder("s3://bucket/pictures"), _folder(None)
    ('pictures', '', '')
    """
    text = str(store or "")
    return "" if "://" in text else text
