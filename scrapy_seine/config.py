"""Converts settings to frozen objects; only this module does, and it refuses bad combinations."""

from __future__ import annotations

import math
import os
import re
from typing import Any, Protocol

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import ConfigError

#: Each partition is asked in each round trip, and sends links to every other one.
MOST_PARTITIONS = 64
#: Characters of a secret, at least: 32 hexadecimal digits are 128 bits.
LEAST_SECRET = 32
#: Name of the secret of a process that has none; as SEINE_SECRET_PREVIOUS it accepts unsigned
#: requests.
UNSIGNED = "nothing"


class SettingsLike(Protocol):
    """The part of Scrapy's Settings that is used; a plain dict fits as well."""

    def get(self, name: Any, default: Any = None, /) -> Any:
        """Return the setting or the default."""


def number(
    settings: SettingsLike, name: str, default: float, *, low: float = 0.0, high: float = math.inf
) -> float:
    """Read a finite number within limits.

    Raises:
        ConfigError: it is no number, infinite, below *low* or above *high*.
    """
    raw = settings.get(name, default)
    try:
        value = float(raw)
    except (TypeError, ValueError):
        raise ConfigError(f"{name}={raw!r} is not a number") from None
    if not math.isfinite(value):
        raise ConfigError(f"{name}={raw!r} is not a finite number")
    if value < low:
        raise ConfigError(f"{name}={raw!r} is below {low:g}")
    if value > high:
        raise ConfigError(f"{name}={raw!r} is above {high:g}")
    return value


def flag(settings: SettingsLike, name: str, default: bool = False) -> bool:
    """Read a yes/no setting: 1, true, yes, on against 0, false, no, off or nothing.

    Raises:
        ConfigError: it is none of these.
    """
    raw = settings.get(name, default)
    text = str(raw).strip().lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"", "0", "false", "no", "off", "none"}:
        return False
    raise ConfigError(f"{name}={raw!r} is neither yes nor no")


def secrets_of(settings: SettingsLike) -> tuple[str, ...]:
    """Read the secrets of stored requests: the signing one, then one more that is accepted.

    They stand in the settings or else in the environment, because a project that does not read its
    environment would store unsigned requests, and nothing would say so.

    Raises:
        ConfigError: only the second one is set, or one is too short.
    """
    current, previous = (
        str(settings.get(name) or os.environ.get(name) or "")
        for name in ("SEINE_SECRET", "SEINE_SECRET_PREVIOUS")
    )
    if previous and not current:
        raise ConfigError("SEINE_SECRET_PREVIOUS is set, but not SEINE_SECRET: set both, or none")
    secrets = tuple(secret for secret in (current, previous) if secret)
    named = [current, "" if previous == UNSIGNED else previous]
    if any(0 < len(secret) < LEAST_SECRET for secret in named):
        raise ConfigError(
            f"SEINE_SECRET and SEINE_SECRET_PREVIOUS need {LEAST_SECRET} characters or more; "
            "`openssl rand -hex 32` makes one"
        )
    return secrets


@attrs.frozen(kw_only=True, eq=False, repr=False)
class FrontierConfig(Value):
    """How this process uses the shared frontier."""

    crawl: str
    """Name of the crawl: the hash tag of all its keys."""
    partitions: int
    """Hash slots that the crawl is split over, by domain."""
    seeds_key: str
    """Redis key to which seeds are pushed."""
    lease_s: float
    """A lease expires this many seconds after its last renewal."""
    lanes: tuple[str, ...]
    """Lanes of the download handler that not every worker has."""
    read_ahead: int
    """Requests leased ahead of the downloader, at most."""
    window_s: float
    """For how many seconds a URL counts as seen."""
    seen: str
    """`exact` or `bloom`."""
    seen_capacity: int
    """URLs that the first layer of a Bloom filter holds."""
    max_deliveries: int
    """A request whose workers died this often is buried."""
    keep_alive: bool
    """Whether the worker stays when the crawl is complete."""
    outage_s: float
    """Seconds without Redis after which the worker gives up."""
    domain_pages: int
    """Requests of one domain that may enter the crawl; 0: any number."""
    job_pages: int
    """Requests of one job that may enter the crawl; 0: any number."""
    most_pending: int
    """Requests that may wait at one time; 0: any number."""
    project: str = ""
    """Name of the project whose spider reads the crawl's pages."""
    run: str = ""
    """Name of the run that this process begins or joins; '': it has none."""
    secrets: tuple[str, ...] = attrs.field(default=(), repr=False)
    """Secrets for stored requests, the signing one first; none: they are not signed."""

    @classmethod
    def from_settings(cls, settings: SettingsLike, spider: str = "catalog") -> FrontierConfig:
        """Read and check the SEINE_ settings of the frontier.

        Raises:
            ConfigError: naming the setting and what is wrong with it.
        """
        crawl = _crawl_name(str(settings.get("SEINE_CRAWL") or ""), spider)
        run = str(settings.get("SEINE_RUN") or "")
        if not re.fullmatch(r"[\w.:-]{0,200}", run):
            raise ConfigError(f"SEINE_RUN={run[:200]!r} may hold letters, digits and _ . : - only")
        seen = str(settings.get("SEINE_SEEN", "exact"))
        if seen not in {"exact", "bloom"}:
            raise ConfigError(f"SEINE_SEEN={seen!r} is neither exact nor bloom")
        partitions = int(number(settings, "FRONTIER_PARTITIONS", 1, low=1))
        if partitions > MOST_PARTITIONS:
            raise ConfigError(f"FRONTIER_PARTITIONS={partitions} is above {MOST_PARTITIONS}")
        key = str(settings.get("REDIS_START_URLS_KEY") or "%(name)s:start_urls")
        return cls(
            crawl=crawl,
            partitions=partitions,
            seeds_key=key.replace("%(name)s", spider).replace("%(crawl)s", crawl),
            lease_s=number(settings, "SEINE_LEASE_SECONDS", 30, low=1),
            lanes=("browser",) if flag(settings, "SEINE_BROWSER") else (),
            # Leases that wait here occupy slots of their sites that other workers could use now.
            read_ahead=min(
                int(number(settings, "SEINE_READ_AHEAD", 32, low=1)),
                int(number(settings, "CONCURRENT_REQUESTS", 16, low=1)),
            ),
            window_s=number(settings, "SEINE_SEEN_WINDOW_SECONDS", 7 * 86400, low=1),
            seen=seen,
            seen_capacity=int(number(settings, "SEINE_SEEN_CAPACITY", 10_000_000, low=1000)),
            max_deliveries=int(number(settings, "SEINE_MAX_DELIVERIES", 5, low=1)),
            keep_alive=flag(settings, "SEINE_KEEP_ALIVE"),
            outage_s=number(settings, "SEINE_OUTAGE_LIMIT", 600),
            project=str(settings.get("BOT_NAME") or ""),
            domain_pages=int(number(settings, "SEINE_DOMAIN_PAGES", 0)),
            job_pages=int(number(settings, "SEINE_JOB_PAGES", 0)),
            most_pending=int(number(settings, "SEINE_MOST_PENDING", 0)),
            run=run,
            secrets=secrets_of(settings),
        )


def _crawl_name(name: str, spider: str) -> str:
    """Return the name of the crawl: the setting, or else the spider's name.

    Raises:
        ConfigError: it cannot be part of the keys in Redis.

    >>> _crawl_name("", "quotes"), _crawl_name("news", "my quotes")
    ('quotes', 'news')
    >>> _crawl_name("", "my quotes")
    Traceback (most recent call last):
    scrapy_seine.errors.ConfigError: the name of spider 'my quotes' names its crawl, too, and may \
hold letters, digits and _ . : - only: set SEINE_CRAWL to such a name
    """
    crawl, allowed = name or spider, "may hold letters, digits and _ . : - only"
    if re.fullmatch(r"[\w.:-]+", crawl):
        return crawl
    if name:
        raise ConfigError(f"SEINE_CRAWL={name!r} {allowed}")
    raise ConfigError(
        f"the name of spider {spider!r} names its crawl, too, and {allowed}: "
        "set SEINE_CRAWL to such a name"
    )


@attrs.frozen(kw_only=True, eq=False, repr=False)
class StoreConfig(Value):
    """How this process writes to PostgreSQL."""

    fresh_s: float
    """An unchanged product is not written again within this many seconds."""
    batch_rows: int
    """Rows in a batch, at most."""
    batch_bytes: int
    """Bytes at which a batch is written."""
    batch_s: float
    """A row waits this many seconds for others, at most."""
    buffer_bytes: int
    """Bytes waiting to be written, after which the worker takes no new request."""
    attempts: bool
    """Whether the log of attempts is kept."""
    attempts_days: int
    """Days for which the log of attempts is kept."""
    archive: str
    """Where raw pages are kept: a folder or s3://bucket/prefix; '': nowhere."""
    archive_bytes: int
    """Bytes of pages in one object, approximately."""
    archive_s: float
    """A page waits this many seconds for others, at most."""

    @classmethod
    def from_settings(cls, settings: SettingsLike) -> StoreConfig:
        """Read and check the SEINE_ settings of the store.

        Raises:
            ConfigError: naming the setting and what is wrong with it.
        """
        return cls(
            fresh_s=number(settings, "SEINE_FRESH_SECONDS", 3600),
            batch_rows=int(number(settings, "SEINE_BATCH_ROWS", 500, low=1)),
            batch_bytes=int(number(settings, "SEINE_BATCH_BYTES", 4 << 20, low=1)),
            batch_s=number(settings, "SEINE_BATCH_SECONDS", 0.3),
            buffer_bytes=int(number(settings, "SEINE_BUFFER_BYTES", 16 << 20, low=1)),
            attempts=flag(settings, "SEINE_ATTEMPTS", True),
            attempts_days=int(number(settings, "SEINE_ATTEMPTS_DAYS", 30, low=1)),
            archive=str(settings.get("SEINE_ARCHIVE") or ""),
            archive_bytes=int(number(settings, "SEINE_ARCHIVE_BYTES", 8 << 20, low=1)),
            archive_s=number(settings, "SEINE_ARCHIVE_SECONDS", 10),
        )
