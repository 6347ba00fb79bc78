"""Any number of sites: loopback addresses of their own on one port, each page the same.

usage: python -m tests.benchmarks.sides.sites LOG N    (prints the port)
"""

from __future__ import annotations

import asyncio
import resource
import signal
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any, TextIO

_BODY = b"<p>page</p>"
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(_BODY)
) + _BODY


class Visit(asyncio.Protocol):
    """One connection; when a request arrived is asked of the kernel."""

    def __init__(self, log: TextIO) -> None:
        self.log = log

    def connection_made(self, transport: Any) -> None:
        """Remember whom the connection was for."""
        self.transport = transport
        self.socket = transport.get_extra_info("socket")
        self.host = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        """Answer; a request of these crawlers comes in one piece."""
        known = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 56)
        (ago_ms,) = struct.unpack_from("=I", known, 52)
        self.log.write(f"{time.time() - ago_ms / 1000:.4f} {self.host}\n")
        self.transport.write(_ANSWER)


def hosts(n: int) -> list[str]:
    """Addresses of *n* sites of this machine."""
    return [f"127.{10 + i // 60_000}.{i // 250 % 240}.{1 + i % 250}" for i in range(n)]


async def serve(log: TextIO, n: int) -> None:
    """Serve until SIGTERM."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    first, *others = hosts(n)
    servers = [await loop.create_server(lambda: Visit(log), first, 0, backlog=64)]
    port = servers[0].sockets[0].getsockname()[1]
    servers += [
        await loop.create_server(lambda: Visit(log), host, port, backlog=64) for host in others
    ]
    print(port, flush=True)
    await over.wait()
    for server in servers:
        server.close()


def main() -> None:
    """Serve, with as many sockets as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with Path(sys.argv[1]).open("w", buffering=1) as log:
        asyncio.run(serve(log, int(sys.argv[2])))


if __name__ == "__main__":
    main()
