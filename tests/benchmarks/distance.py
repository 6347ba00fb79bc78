"""A network between a client and a store: a proxy that passes everything on a little later."""

from __future__ import annotations

import multiprocessing
import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, unquote, urlsplit

Address = str | tuple[str, int]
"""A unix socket's path, or host and port."""


@contextmanager
def distant(url: str, rtt_ms: float) -> Iterator[str]:
    """Give a URL by which the server at *url* (Redis, PostgreSQL) is *rtt_ms* away, both ways."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    proxy = multiprocessing.get_context("fork").Process(
        target=_serve, args=(listener, address(url), rtt_ms / 2000), daemon=True
    )
    proxy.start()
    listener.close()
    try:
        yield moved(url, port)
    finally:
        proxy.kill()
        proxy.join()


def address(url: str) -> Address:
    """Where the server of a URL listens.

    >>> address("redis://localhost:6379/0"), address("unix:///run/r.sock?db=0")
    (('localhost', 6379), '/run/r.sock')
    >>> address("postgresql://me@/db?host=/run/pg")
    '/run/pg/.s.PGSQL.5432'
    """
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return unquote(parts.path)
    if parts.scheme.startswith("postgres"):
        port = parts.port or 5432
        host = parts.hostname or parse_qs(parts.query)["host"][0]
        return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)
    return (str(parts.hostname), parts.port or 6379)


def moved(url: str, port: int) -> str:
    """The URL of the same server by way of a port of this machine.

    >>> moved("unix:///run/r.sock?db=0", 7000), moved("postgresql://me@/db?host=/run/pg", 7000)
    ('redis://127.0.0.1:7000', 'postgresql://me@127.0.0.1:7000/db')
    """
    parts = urlsplit(url)
    if parts.scheme.startswith("postgres"):
        user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
        return f"{parts.scheme}://{user}127.0.0.1:{port}{parts.path}"
    return f"redis://127.0.0.1:{port}"


def _serve(listener: socket.socket, server: Address, delay_s: float) -> None:
    while True:
        near, _ = listener.accept()
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        far = _connect(server)
        for one, other in ((near, far), (far, near)):
            line: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
            threading.Thread(target=_take, args=(one, line, delay_s), daemon=True).start()
            threading.Thread(target=_hand_on, args=(other, line), daemon=True).start()


def _connect(server: Address) -> socket.socket:
    if isinstance(server, str):
        far = socket.socket(socket.AF_UNIX)
        far.connect(server)
        return far
    far = socket.create_connection(server)
    far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return far


def _take(one: socket.socket, line: queue.SimpleQueue[tuple[float, bytes]], delay_s: float) -> None:
    data = b"-"
    with suppress(OSError):
        while data:
            data = one.recv(1 << 18)
            line.put((time.monotonic() + delay_s, data))
    line.put((0.0, b""))


def _hand_on(other: socket.socket, line: queue.SimpleQueue[tuple[float, bytes]]) -> None:
    """Chunks are late, and not kept from travelling side by side."""
    with suppress(OSError):
        while (chunk := line.get())[1]:
            wait_s = chunk[0] - time.monotonic()
            if wait_s > 0:
                time.sleep(wait_s)
            other.sendall(chunk[1])
    with suppress(OSError):
        other.shutdown(socket.SHUT_WR)
