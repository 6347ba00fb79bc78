"""The embedded Valkey or Redis server."""

from __future__ import annotations

import re
import signal
import socket
from pathlib import Path
from urllib.parse import quote

from scrapy_seine.embedded import process
from scrapy_seine.embedded.account import myself, own_folder
from scrapy_seine.embedded.binaries import Redis, redis_servers
from scrapy_seine.embedded.data_folder import Places
from scrapy_seine.errors import EmbeddedError

NAME = "the embedded Redis server"
_SILENT = b"silent"


def url(place: Places) -> str:
    """Return the address of the server."""
    return f"unix://{quote(str(place.redis_socket))}?db=0"


def running(place: Places) -> bool:
    """Whether the server answers.

    Raises:
        EmbeddedError: it runs but is silent.
    """
    reply = _ask(place.redis_socket, b"PING\r\n")
    silent_process = _process(place) if reply == _SILENT else None
    if silent_process:
        raise EmbeddedError(f"{NAME} (pid {silent_process.pid}) runs but does not answer; end it")
    return reply.startswith(b"+PONG")


def start(place: Places, binaries: str, *, durable: bool = True) -> None:
    """Start the server and wait until it answers; called under the lock.

    Raises:
        ConfigError: *binaries* is wrong.
        EmbeddedError: it cannot be started.
    """
    _server(place, binaries, durable).start()


def stop(place: Places) -> bool:
    """Stop the server; returns whether it ran.

    Raises:
        EmbeddedError: it does not end.
    """
    return _server(place).stop()


def _server(place: Places, binaries: str = "auto", durable: bool = True) -> process.Server:
    log = place.data / "valkey.log"
    return process.Server(
        name=NAME,
        log=log,
        pid_file=_pid_file(place),
        socket=place.redis_socket,
        found=lambda: _process(place),
        ready=lambda: running(place),
        spawn=lambda: _spawn(place, binaries, log, durable),
        ends=((signal.SIGTERM, 15), (signal.SIGKILL, 5)),
    )


def _spawn(place: Places, binaries: str, log: Path, durable: bool) -> process.Process:
    place.redis_socket.unlink(missing_ok=True)
    folder = own_folder(place.data / "valkey")
    binary = _choose(redis_servers(binaries), folder / "made-by")
    command = _command(binary, place, folder, durable)
    with process.held(folder / "in-use") as lock:
        server = process.spawn(command, account=myself(), log=log, lock=lock)
    process.remember(server, _pid_file(place))
    (folder / "made-by").write_text(binary.source)
    return server


def _pid_file(place: Places) -> Path:
    return place.data / "valkey.pid"


def _process(place: Places) -> process.Process | None:
    """Return the running server: by its file, or by its own reply if the file is lost."""
    match = re.search(rb"process_id:(\d+)", _ask(place.redis_socket, b"INFO server\r\n"))
    return process.recall(_pid_file(place)) or (
        process.find(int(match.group(1))) if match else None
    )


def _choose(candidates: list[Redis], note: Path) -> Redis:
    """Prefer the program that wrote the data: an older server cannot read a newer one's files."""
    try:
        before = note.read_text()
    except OSError:
        return candidates[0]
    return next((c for c in candidates if c.source == before), candidates[0])


def _command(binary: Redis, place: Places, folder: Path, durable: bool) -> list[str | Path]:
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
        # A server that evicts keys when memory is short would lose requests.
        "maxmemory-policy": "noeviction",
    }
    return [binary.server, *(text for k, v in options.items() for text in (f"--{k}", v))]


def _ask(address: Path, question: bytes) -> bytes:
    """Send one inline command; distinguishes a silent server from a missing one."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        try:
            client.connect(str(address))
            client.sendall(question)
            return client.recv(8192)
        except TimeoutError:
            return _SILENT
        except OSError:
            return b""
