"""Addresses of the stores, a check that they answer, and clients for Redis.

Redis is always one of them; an application adds its own to `STORES`. An address comes from the
store's setting, or from the environment variable of that name; without one, laptop mode starts or
joins an embedded server. A store that does not answer is reported in one line that names the
setting, within 10 s.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import attrs
import redis as blocking
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo
from redis.exceptions import BusyLoadingError, RedisClusterException, RedisError
from redis.maint_notifications import MaintNotificationsConfig

from scrapy_seine import embedded, redis_topology
from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike, flag
from scrapy_seine.embedded.binaries import wanted_source
from scrapy_seine.embedded.data_folder import data_folder
from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.misspelt_names import did_you_mean
from scrapy_seine.store_errors import first_line
from scrapy_seine.store_wait import passes

#: Timeout of all checks together: the process needs a second of the promised ten for itself.
CHECK_S = 8.0
#: Seconds until a peer that vanished silently is noticed, while nothing is sent.
KEEPALIVE_S = 15
#: Client information of connections. Without it redis-py reads its version from the metadata of
#: installed packages for each connection: 1 ms, with several connections per worker.
_DRIVER = DriverInfo(lib_version=blocking.__version__)

#: Environment files of Docker or systemd keep quotation marks.
_QUOTES = ("'", '"')
#: Parameters of a Redis URL that name files.
_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
#: An IPv6 address without brackets, as the place of a URL.
_BARE_IPV6 = re.compile(r"://(?:[^/@]*@)?[0-9a-f]*:[0-9a-f]*:[0-9a-f:]*(?:[/?#]|$)", re.IGNORECASE)

_verified: set[tuple[str, str]] = set()
_started_servers: dict[tuple[str, str, tuple[str, ...]], embedded.Servers] = {}


@attrs.frozen(eq=False, repr=False)
class Store(Value):
    """A kind of store that a worker needs."""

    setting: str
    """Name of the setting that holds its URL."""
    schemes: tuple[str, ...]
    """Schemes of its URL."""
    ask: Callable[[str], None]
    """Connects to the URL once, and raises if the store does not answer."""
    errors: tuple[type[Exception], ...]
    """Exceptions of *ask*."""


@attrs.frozen(eq=False, repr=False)
class Endpoints(Value):
    """Addresses of the stores."""

    redis_url: str
    database_url: str = ""
    """Empty if no application has one."""


def endpoints(settings: SettingsLike, *, need: tuple[str, ...] | None = None) -> Endpoints:
    """Return all addresses, once the stores in *need* (default: all) have answered.

    In laptop mode (SEINE_EMBEDDED) the embedded servers are started or joined if an address is
    missing. A store is checked once per process and address; the call blocks until then.

    Raises:
        ConfigError: an address is missing or wrong, or a store refuses the credentials.
        EmbeddedError: an embedded server cannot be started.
        StoreUnreachable: a store does not answer within 8 s.
    """
    store_names = tuple(STORES) if need is None else need
    urls = set_urls(settings)
    missing_names = missing_stores(settings, store_names)
    if missing_names:
        private = _private(settings, missing_names).urls
        urls |= {store: private[store] for store in missing_names}
        _verified.update((store, private[store]) for store in missing_names)
    _check({store: urls[store] for store in store_names if store not in missing_names})
    return Endpoints(urls["redis"], urls.get("postgres", ""))


async def redis_url(settings: SettingsLike) -> str:
    """Return the address of Redis, once it has answered, without blocking the event loop.

    Raises:
        SeineError: as `endpoints` does.
    """
    if missing_stores(settings, ("redis",)):  # it is started, once
        return endpoints(settings, need=("redis",)).redis_url
    return (await asyncio.to_thread(endpoints, settings, need=("redis",))).redis_url


def set_urls(settings: SettingsLike) -> dict[str, str]:
    """Return the address of each store, from the settings or else the environment; or ''.

    A pod has the addresses in its environment; a project's settings need not repeat them.
    """
    return {
        name: str(settings.get(x.setting) or os.environ.get(x.setting) or "").strip()
        for name, x in STORES.items()
    }


def missing_stores(settings: SettingsLike, need: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Return which stores of *need* (default: all) have no address set."""
    urls = set_urls(settings)
    return tuple(store for store in (STORES if need is None else need) if not urls[store])


def redis_client(url: str, *, waits_s: float = 0.0) -> Redis:
    """Open a client; it connects at its first command and tries each command once.

    The caller decides what an outage means, so nothing is retried here. *waits_s* is how long a
    command of the caller may block in the server on purpose.
    """
    options = {"retry": Retry(NoBackoff(), 0), **_redis_options(url)}
    options["socket_timeout"] += waits_s
    if topology := redis_topology.parse(url):
        return redis_topology.client(topology, options)
    client = Redis.from_url(url, **options)
    pool = client.connection_pool
    kind: Any = pool.connection_class
    pool.connection_class = redis_topology.own_connection(kind)
    return client


def blocking_client(url: str) -> blocking.Redis:
    """Open a client for a command that has nothing else to do while it waits."""
    if topology := redis_topology.parse(url):
        return redis_topology.blocking_client(topology, _redis_options(url))
    return blocking.Redis.from_url(url, **_redis_options(url))


def _private(settings: SettingsLike, missing_names: tuple[str, ...]) -> embedded.Servers:
    if not flag(settings, "SEINE_EMBEDDED"):
        names = " and ".join(STORES[store].setting for store in missing_names)
        raise ConfigError(
            f"{names} must be set, in the settings or in the environment, because servers are "
            f"started only where the setting SEINE_EMBEDDED is on"
        )
    key = (str(data_folder(settings)), wanted_source(settings), missing_names)
    if key not in _started_servers:
        _started_servers[key] = embedded.start(Path(key[0]), binaries=key[1], which=missing_names)
    return _started_servers[key]


def _check(urls: dict[str, str]) -> None:
    """Check all stores at once, so that two dead ones take no longer than one."""
    checks = [_Check(store, url) for store, url in urls.items() if (store, url) not in _verified]
    until = time.monotonic() + CHECK_S
    for check in checks:
        check.start()
    problems = [f"{check.setting_text} {p}" for check in checks if (p := check.problem(until))]
    if any(check.is_lasting for check in checks):
        raise ConfigError("; ".join(problems))
    if problems:
        raise StoreUnreachable("; ".join(problems))
    _verified.update((check.store, check.url) for check in checks)


class _Check(threading.Thread):
    """Checks one store; a daemon, because resolving a host name cannot be interrupted."""

    def __init__(self, store: str, url: str) -> None:
        super().__init__(daemon=True)
        self.store, self.url = store, url
        self.setting_text = f"{STORES[store].setting}={_without_secrets(store, url)}"
        self.is_lasting = False
        """Whether waiting does not help: a wrong address, or credentials that are refused."""
        silence = f"does not answer within {CHECK_S:.0f} s"
        self._problem: str | None = f"{silence}{_other_scheme(url, silence)}"

    def run(self) -> None:
        store = STORES[self.store]
        expected: tuple[type[Exception], ...] = (OSError, *store.errors)
        try:
            store.ask(self.url)
        except expected as error:
            line = first_line(error)
            is_known = isinstance(error, RedisError | OSError)
            self.is_lasting = not passes(error if is_known else StoreUnreachable(line))
            self._problem = (
                _refused(line) or f"does not answer: {line}{_other_scheme(self.url, line)}"
            )
        except (ConfigError, TypeError, ValueError) as error:  # an address that cannot be parsed
            self.is_lasting = True
            self._problem = f"cannot be used: {_unusable(error)}"
        except Exception as error:  # unknown, so it may be temporary
            self._problem = f"does not answer: {type(error).__name__}: {first_line(error)}"
        else:
            self._problem = None

    def problem(self, until: float) -> str | None:
        """Return the problem, if any, at *until* (monotonic s) at the latest."""
        self.join(max(0.0, until - time.monotonic()))
        return self._problem


def _ask_redis(url: str) -> None:
    until = time.monotonic() + CHECK_S
    with blocking_client(url) as client:
        while True:
            try:
                client.ping()
            except BusyLoadingError:  # a restarted server loads its data for a while
                if time.monotonic() > until - 1:
                    raise
                time.sleep(0.2)
            else:
                return


#: Stores by name. An application adds its own when it is imported.
STORES: dict[str, Store] = {
    "redis": Store(
        "REDIS_URL",
        ("redis", "rediss", "unix", *redis_topology.SCHEMES),
        _ask_redis,
        (RedisError, RedisClusterException),
    ),
}


def _without_secrets(store: str, url: str) -> str:
    """Return a URL without its secret parts.

    Raises:
        ConfigError: it is no URL for this store; it is not repeated, because a password may be
        anywhere in it.
    """
    name, schemes = STORES[store].setting, STORES[store].schemes
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, "," in parts.netloc or parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in schemes or url[len(parts.scheme) :][:3] != "://":
        raise ConfigError(f"{name} {_malformed(url, schemes)}")
    if parts.scheme != "unix" and "@" in parts.path + parts.fragment:
        raise ConfigError(f"{name}: write / and # in user names and passwords as %2F and %23")
    if store == "redis":
        redis_topology.parse(url)
    if store == "redis" and "decode_responses" in parse_qs(parts.query):
        raise ConfigError(f"{name}: leave out decode_responses, because requests are bytes")
    if store == "redis":
        _check_files(name, parse_qs(parts.query))
    if parts.scheme in {"redis", "rediss"} and not re.fullmatch(r"/?\d*", parts.path):
        raise ConfigError(f"{name}: the path is no database's number; write …:6379/0, for instance")
    socket_folder = parse_qs(parts.query).get("host", [""])[0]
    hidden = "***@" if "@" in parts.netloc else ""
    place = parts.netloc.rpartition("@")[2] or (host or socket_folder)
    return f"{parts.scheme}://{hidden}{place}{parts.path}"


def _check_files(setting: str, parameters: dict[str, list[str]]) -> None:
    """Read the files that a Redis URL names, because the client's error names none of them.

    Raises:
        ConfigError: one cannot be read, or has no certificate or key that TLS can use.
    """
    paths = {name: parameters[name][-1] for name in _FILES if name in parameters}
    for name, path in paths.items():
        try:
            Path(path).open("rb").close()
        except OSError as error:
            text = f"{setting}: {name}={path} cannot be read: {error.strerror}"
            raise ConfigError(text) from None
    if paths:
        _check_certificates(setting, paths, parameters.get("ssl_password", [""])[-1])


def _check_certificates(setting: str, paths: dict[str, str], password: str) -> None:
    """Load certificates as the client will.

    The client's error is one of the connection, which would be waited for as an outage.
    """
    import ssl  # only for addresses with certificates

    given = {name: f"{name}={path}" for name, path in paths.items()}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    files = given.pop("ssl_ca_certs", "")
    try:
        if files:
            context.load_verify_locations(paths["ssl_ca_certs"])
        files = " and ".join(given.values())
        if "ssl_certfile" in paths:
            context.load_cert_chain(paths["ssl_certfile"], paths.get("ssl_keyfile"), password)
    except (ssl.SSLError, ValueError) as error:
        reason = (getattr(error, "reason", None) or str(error)).replace("_", " ").lower()
        raise ConfigError(f"{setting}: {files} cannot be used: {reason}") from None


def _refused(message: str) -> str:
    """Explain that a Redis requires a password or refuses it; '' for other errors.

    >>> _refused("Authentication required.")
    'asks for a password: write :PASSWORD@ in front of the host'
    """
    if message.startswith(
        ("Authentication required", "HELLO must be called with the client already")
    ):
        return "asks for a password: write :PASSWORD@ in front of the host"
    if message.startswith("invalid username-password pair"):
        return "refuses the user name or the password"
    return ""


def _other_scheme(url: str, message: str) -> str:
    """Suggest another scheme if a Redis accepts a connection and then fails: with or without TLS.

    >>> _other_scheme("redis://h:1", "Connection closed by server.")
    ' (if that port speaks TLS, write rediss://)'
    >>> _other_scheme("redis://h:1", "Error while reading: (104, 'Connection reset by peer')")
    ' (if that port speaks TLS, write rediss://)'
    >>> _other_scheme("redis://h:1", "Error 111 connecting to h:1. Connection refused.")
    ''
    """
    scheme = url.partition("://")[0]
    if scheme.startswith("rediss") and re.search("Timeout|answer within", message):
        return f" (if that port speaks no TLS, write {scheme.replace('rediss', 'redis', 1)}://)"
    if scheme.startswith("redis") and re.search("closed by server|reset by peer", message):
        return f" (if that port speaks TLS, write {scheme.replace('redis', 'rediss', 1)}://)"
    return ""


def _unusable(error: Exception) -> str:
    """Explain why a client refuses an address.

    >>> _unusable(TypeError("Connection.__init__() got an unexpected keyword argument 'tls'"))
    "there is no parameter 'tls'"
    """
    line = first_line(error)
    _, unknown, name = line.partition("unexpected keyword argument ")
    return f"there is no parameter {name}" if unknown else line


def _malformed(url: str, schemes: tuple[str, ...]) -> str:
    """Explain why a store's URL is invalid, without a part that may hold a password.

    >>> _malformed("localhost:6379", ("redis",))
    'is no URL that starts with redis://; write redis:// in front'
    >>> _malformed("redsi://localhost", ("redis",))
    'is no URL that starts with redis://; did you mean redis://?'
    >>> _malformed("redis://:secret@::1:6379/0", ("redis",))
    'has an IPv6 address without brackets: write redis://[::1], for instance'
    """
    starts = f"is no URL that starts with {'://, '.join(schemes)}://"
    scheme, colon, _ = url.partition("://")
    if url[:1] in _QUOTES or url[-1:] in _QUOTES:
        return f"{starts}: leave out the quotation marks, which only a shell takes away"
    if colon and scheme.lower() in schemes:
        if _BARE_IPV6.search(url):
            return f"has an IPv6 address without brackets: write {scheme}://[::1], for instance"
        return (
            "has a port that is no number from 0 to 65535; write / and # in user names and "
            "passwords as %2F and %23"
        )
    if colon or not url[:1].isalnum():
        return f"{starts}{did_you_mean(f'{scheme}://', [f'{name}://' for name in schemes])}"
    return f"{starts}; write {schemes[0]}:// in front"


def _redis_options(url: str) -> dict[str, Any]:
    options: dict[str, Any] = {
        "socket_connect_timeout": 5,
        "socket_timeout": 10,
        # A server without these notifications would make each connection log a failure.
        "maint_notifications_config": MaintNotificationsConfig(enabled=False),
        "driver_info": _DRIVER,
    }
    if not url.startswith("unix:"):
        options["socket_keepalive"] = True
        options["socket_keepalive_options"] = _keepalive()
    return options


def _keepalive() -> dict[int, int]:
    options = {"TCP_KEEPIDLE": KEEPALIVE_S, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
    return {getattr(socket, k): v for k, v in options.items() if hasattr(socket, k)}
