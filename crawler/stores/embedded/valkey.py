"""The private Valkey or Redis server."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

from crawler.errors import EmbeddedError
from crawler.stores.embedded import process
from crawler.stores.embedded.account import myself, own_folder
from crawler.stores.embedded.binaries import Redis, redis_servers
from crawler.stores.embedded.places import Places

NAME = "the private Redis server"


def running(place: Places) -> bool:
    """Say whether the server answers.

    Raises:
        EmbeddedError: it runs but is silent.
    """
    reply = _ask(place.redis_socket, b"PING\r\n")
    if reply.startswith(b"+PONG"):
        return True
    found = process.recall(_pid_file(place))
    if found and reply == b"silent":
        raise EmbeddedError(f"{NAME} (pid {found.pid}) runs but does not answer; end it")
    return False


def start(place: Places, binaries: str, *, durable: bool = True) -> None:
    """Start the server and wait until it answers; called under the lock.

    Raises:
        ConfigError: *binaries* is wrong.
        EmbeddedError: it cannot be started.
    """
    _clear(place)
    folder = own_folder(place.data / "valkey")
    chosen = _choose(redis_servers(binaries), folder / "made-by")
    log = place.data / "valkey.log"
    started = process.spawn(_command(chosen, place, folder, durable), account=myself(), log=log)
    process.remember(started, _pid_file(place))
    ask = place.redis_socket
    process.wait_ready(NAME, started, log, lambda: _ask(ask, b"PING\r\n").startswith(b"+PONG"))
    (folder / "made-by").write_text(chosen.source)


def stop(place: Places) -> bool:
    """Stop the server; returns whether it ran.

    Raises:
        EmbeddedError: it does not end.
    """
    found = process.recall(_pid_file(place))
    if found is None:
        return False
    if not (found.stop(signal.SIGTERM, 15) or found.stop(signal.SIGKILL, 5)):
        raise EmbeddedError(f"{NAME} (pid {found.pid}) does not end")
    _pid_file(place).unlink(missing_ok=True)
    return True


def _pid_file(place: Places) -> Path:
    return place.data / "valkey.pid"


def _clear(place: Places) -> None:
    """Make way: a server whose socket somebody deleted can be reached by nobody."""
    if not place.redis_socket.is_socket():
        stop(place)
    place.redis_socket.unlink(missing_ok=True)


def _choose(candidates: list[Redis], note: Path) -> Redis:
    """Prefer what wrote the data: an older server cannot read a newer one's files."""
    try:
        before = note.read_text()
    except OSError:
        return candidates[0]
    return next((c for c in candidates if c.source == before), candidates[0])


def _command(chosen: Redis, place: Places, folder: Path, durable: bool) -> list[str | Path]:
    options = {
        "port": "0",
        "unixsocket": str(place.redis_socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "daemonize": "no",
        "logfile": "",
        "save": "",
        "appendonly": "yes" if durable else "no",
        "appendfsync": "everysec",
        # A queue that drops what it holds when memory is short would lose requests.
        "maxmemory-policy": "noeviction",
    }
    return [chosen.server, *(text for k, v in options.items() for text in (f"--{k}", v))]


def _ask(address: Path, question: bytes) -> bytes:
    """Send one inline command; `silent` where the server accepts but says nothing."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        try:
            client.connect(str(address))
            client.sendall(question)
            return client.recv(64)
        except TimeoutError:
            return b"silent"
        except OSError:
            return b""
