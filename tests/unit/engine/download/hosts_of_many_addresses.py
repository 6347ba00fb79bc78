"""Connect to hosts whose addresses are dead or move, by Scrapy's default resolver settings.

Runs in a network of its own, where it is the name server. Prints what came of it as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from urllib.parse import urlparse

from tests.unit.engine.download.one_sites_fault import ADDRESSES, SERVER, own_network

PORT = 8080
DEAD, ALIVE, LATER, SILENT = "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\npage"


def answer_all(address: str, answer: bytes) -> None:
    """Send each visitor an answer, and hang up."""
    server = socket.create_server((address, PORT))

    def serve_all() -> None:
        while True:
            visitor, _ = server.accept()
            with visitor, suppress(OSError):
                visitor.recv(4096)
                visitor.sendall(answer)

    threading.Thread(target=serve_all, daemon=True).start()


def fetched(host: str) -> str:
    """Return the page that a process of its own gets at its second try."""
    command = [sys.executable, "-m", "tests.integration.access.fetch"]
    tries = [{"url": f"http://{host}:{PORT}/"}] * 2
    task = json.dumps({"settings": {"CONCURRENT_REQUESTS": 1}, "requests": tries})
    done = subprocess.run(command, input=task, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout.splitlines()[-1])
    return str(answer.get("body") or answer["error"])


async def main() -> dict[str, str]:
    from scrapy.resolver import CachingThreadedResolver
    from twisted.internet import reactor

    from scrapy_seine.engine.download.http import resolve, system_resolver
    from scrapy_seine.engine.download.http.pool import Pool

    CachingThreadedResolver(reactor, 10_000, 60).install_on_reactor()  # type: ignore[arg-type]
    pool = Pool(1, lambda: None)  # type: ignore[arg-type,return-value]

    async def connected(host: str) -> str:
        try:
            made = await pool.connect(urlparse(f"http://{host}:{PORT}/"), 5, list)
        except Exception as error:
            return type(error).__name__
        made.abort()
        return str(made.address)

    server = socket.create_server((ALIVE, PORT))
    ADDRESSES["two.example", 1] = [DEAD, ALIVE]
    ADDRESSES["moves.example", 1] = [ALIVE]
    told = {"its first address is dead": await connected("two.example")}
    told["before it moves"] = await connected("moves.example")
    server.close()
    ADDRESSES["moves.example", 1] = [LATER]
    told["it moved"] = await connected("moves.example")
    system_resolver.KEPT_S = system_resolver.KEPT_STALE_S = 0.0  # now each connection asks
    with socket.create_server((LATER, PORT)):
        told["it moved, the next try"] = await connected("moves.example")
        SERVER["answers"] = False
        told["the name server fails"] = await connected("moves.example")
        SERVER["answers"], SERVER["silent"] = True, True
        system_resolver.LOOK_S, resolve.NAME_SERVER_TIMEOUT_S = 0.2, 0.5
        told["the name server is silent"] = await connected("moves.example")
        SERVER["silent"] = False
        system_resolver.LOOK_S = resolve.NAME_SERVER_TIMEOUT_S = 20.0
        del ADDRESSES["moves.example", 1]
        told["its name is gone"] = await connected("moves.example")
    told["its server is gone"] = await connected("moves.example")
    told["both are gone"] = await connected("moves.example")
    pool.close()
    answer_all(SILENT, b"")
    answer_all(ALIVE, PAGE)
    for order in ([SILENT, ALIVE], [ALIVE, SILENT]):  # the system may sort them
        ADDRESSES["closes.example", 1] = order
        told[f"it hangs up at {order.index(SILENT) + 1} of 2"] = await asyncio.to_thread(
            fetched, "closes.example"
        )
    return told


if __name__ == "__main__":
    print(json.dumps(own_network().run_until_complete(main())), flush=True)
    os._exit(0)  # the reactor's threads would be waited for
