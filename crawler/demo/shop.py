"""The demo shop as a server: `python -m crawler.demo.shop --port 0` prints its URL.

Faster than any crawler that visits it: pages are rendered once, the log is one write a line, and
there is no router.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import socket
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, TextIO, get_args

from aiohttp import web

from crawler.demo.guards import GUARDS, QUOTA, Guards, Visitor, guards_of
from crawler.demo.markup import BASE
from crawler.demo.pages import OPENED, Beyond, Page, Site
from crawler.demo.traps import Traps

_BASE = BASE.encode()
#: linux/tcp.h, struct tcp_info: its size up to tcpi_last_data_recv (ms), and that field's offset.
_TCP_INFO_SIZE, _LAST_DATA_RECEIVED = 56, 52


class Shop:
    """Answers requests for one site, whatever their Host."""

    def __init__(
        self,
        site: Site,
        *,
        latency_s: float = 0.0,
        log: TextIO | None = None,
        guards: Guards | None = None,
        traps: bool = False,
    ) -> None:
        self.page = Traps(site.page).answer if traps else site.page
        self.latency_s = latency_s
        self.log = log
        self.guards = guards

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request and log it."""
        arrived = arrival(request)
        host = request.headers.get("Host", "")
        page = self._guard_page(request, host) or self.page(request.path_qs)
        response = _answer(page, host, request.headers)
        if self.log is not None:
            line = {
                "time": arrived,
                "method": request.method,
                "path": request.path_qs,
                "status": response.status,
                "host": host,
                "client": request.remote,
                "bytes": len(response.body) if isinstance(response.body, bytes) else 0,
            }
            self.log.write(json.dumps(line) + "\n")
        wait_s = self.latency_s + page.wait_s
        if wait_s:
            await asyncio.sleep(wait_s)
        return response

    def _guard_page(self, request: web.BaseRequest, host: str) -> Page | None:
        if self.guards is None:
            return None
        name, client = host.partition(":")[0], request.remote or ""
        return self.guards.stop(Visitor(name, client, request.path, request.headers))


def arrival(request: web.BaseRequest) -> float:
    """Return when a request reached this machine (Unix s), by the kernel's timestamp if it has one.

    On a busy machine this process may run much later, so its own clock would log the load.
    """
    now_s = time.time()
    connection: Any = request.transport and request.transport.get_extra_info("socket")
    try:
        tcp_info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_SIZE)
        (age_ms,) = struct.unpack_from("=I", tcp_info, _LAST_DATA_RECEIVED)
    except (AttributeError, OSError, struct.error):  # not Linux, or closed by now
        return now_s
    return now_s - float(age_ms) / 1000


def _answer(page: Page, host: str, headers: Mapping[str, str]) -> web.Response:
    if page.location:
        return web.Response(status=page.status, headers={"Location": page.location})
    if _is_current(page, headers):
        return web.Response(status=304, headers=page.headers)
    return web.Response(
        body=page.body.replace(_BASE, b"http://" + host.encode("latin-1", "replace")),
        status=page.status,
        headers=page.headers,
        content_type=page.content_type,
        charset="utf-8",
    )


def _is_current(page: Page, headers: Mapping[str, str]) -> bool:
    """Whether the client has this state of the page; If-None-Match overrides the date."""
    tag, since = headers.get("If-None-Match"), headers.get("If-Modified-Since")
    if tag is not None:
        return tag.removeprefix("W/") == page.headers.get("ETag", "-")
    return since is not None and since == page.headers.get("Last-Modified")


async def listen(shop: Shop, *, port: int = 0, hosts: int = 1) -> tuple[web.ServerRunner, int]:
    """Listen on one port of 127.0.0.1 to 127.0.0.<hosts>; return the runner and the port.

    Raises:
        OSError: the port is in use on one of the addresses.
    """
    runner = web.ServerRunner(web.Server(shop.handle, access_log=None))
    await runner.setup()
    for number in range(1, hosts + 1):
        site = web.TCPSite(runner, f"127.0.0.{number}", port, backlog=1024)
        await site.start()
        port = port or runner.addresses[0][1]
    return runner, port


async def serve(args: argparse.Namespace) -> None:
    """Run the shop until a signal, or until the parent closes standard input."""
    site = Site(
        args.products,
        seed=args.seed,
        page_kb=args.page_kb,
        day=args.day,
        opened=args.opened,
        beyond=args.beyond,
    )
    guards = guards_of(args.guard, args.quota) if args.guard else None
    with contextlib.ExitStack() as stack:
        log = None
        if args.log is not None:
            log = stack.enter_context(args.log.open("a", buffering=1, encoding="utf-8"))
        wait_s = args.latency_ms / 1000
        shop = Shop(site, latency_s=wait_s, log=log, guards=guards, traps=args.traps)
        runner, port = await listen(shop, port=args.port, hosts=args.hosts)
        print(f"http://127.0.0.1:{port}/", flush=True)
        await _until_stopped(with_parent=args.with_parent)
        await runner.cleanup()


async def _until_stopped(*, with_parent: bool) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if with_parent:
        loop.add_reader(sys.stdin.fileno(), stop.set)
    await stop.wait()


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m crawler.demo.shop", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one (default)")
    parser.add_argument("--products", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="another seed is another catalogue")
    parser.add_argument("--page-kb", type=float, default=0, help="least size of a page")
    parser.add_argument("--latency-ms", type=float, default=0, help="wait before each answer")
    parser.add_argument("--hosts", type=int, default=1, help="listen on 127.0.0.1 to 127.0.0.N")
    parser.add_argument("--day", type=int, choices=range(1, 29), default=1, help="2: a day later …")
    parser.add_argument(
        "--opened",
        type=date.fromisoformat,
        default=OPENED,
        help="date of day 1 (default 2026-01-01)",
    )
    parser.add_argument(
        "--beyond",
        choices=get_args(Beyond),
        default="",
        help="listings hide how long they are, and answer so beyond their end",
    )
    parser.add_argument("--traps", action="store_true", help="facets, calendar and session ids")
    parser.add_argument(
        "--guard",
        action="append",
        default=[],
        metavar="[ADDRESS=]KIND",
        help=f"defend an address, or all of them: {', '.join(GUARDS)}",
    )
    parser.add_argument("--quota", type=int, default=QUOTA, help="of the guard with that name")
    parser.add_argument("--log", type=Path, help="access log, one JSON object a line")
    parser.add_argument("--with-parent", action="store_true", help="stop when stdin closes")
    return parser.parse_args(argv)


if __name__ == "__main__":
    asyncio.run(serve(arguments()))
