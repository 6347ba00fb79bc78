"""A network between a client and Redis: a proxy that passes everything on a little later."""

from __future__ import annotations

import multiprocessing
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit


@contextmanager
def distant(url: str, rtt_ms: float) -> Iterator[str]:
    """Give a URL by which the server at *url* is *rtt_ms* away, there and back."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    parts = urlsplit(url)
    args = (listener, (parts.hostname, parts.port), rtt_ms / 2000)
    proxy = multiprocessing.get_context("fork").Process(target=_serve, args=args, daemon=True)
    proxy.start()
    listener.close()
    try:
        yield f"redis://127.0.0.1:{port}"
    finally:
        proxy.kill()
        proxy.join()


def _serve(listener: socket.socket, server: Any, delay_s: float) -> None:
    while True:
        near, _ = listener.accept()
        far = socket.create_connection(server)
        for one, other in ((near, far), (far, near)):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_pass, args=(one, other, delay_s), daemon=True).start()


def _pass(one: socket.socket, other: socket.socket, delay_s: float) -> None:
    with suppress(OSError):
        while data := one.recv(1 << 18):
            time.sleep(delay_s)
            other.sendall(data)
    with suppress(OSError):
        other.shutdown(socket.SHUT_WR)
