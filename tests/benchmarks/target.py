"""The shop behind a server that costs next to nothing: what is measured is who visits it.

The pages are the demo shop's own. Each is rendered once, a request is one look-up and one write,
latency is a timer. `/-/stats` tells how many pages went out, when, and what CPU they took.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any
from urllib.request import HTTPSHandler, ProxyHandler, build_opener

import attrs
import uvloop

from crawler.demo.markup import BASE
from crawler.demo.pages import Page, Site
from tests.benchmarks.site_connection import server_context, trusting_context

_BASE = BASE.encode()
_FOUND = b"HTTP/1.1 200"
_CLOSES = b"\r\nConnection: close"
_LAST = b"\r\nConnection: close\r\n\r\n"
STATS = b"/-/stats"


@attrs.define
class Seen:
    """What went out since the statistics were read last."""

    pages: int = 0
    """With something on them: redirects and what is missing cost little, and do not count."""
    answers: int = 0
    first_s: float = 0.0
    last_s: float = 0.0
    """Monotonic clock; when the last page went out."""
    waiting: int = 0
    """Requests that have no answer yet."""
    most_waiting: int = 0
    cpu_s: float = attrs.Factory(time.process_time)

    def read(self, *, reset: bool) -> bytes:
        """Tell, and start anew if asked to."""
        span, cpu = self.last_s - self.first_s, time.process_time() - self.cpu_s
        told = {"pages": self.pages, "answers": self.answers, "seconds": span, "cpu_s": cpu}
        text = json.dumps({**told, "at_once": self.most_waiting}).encode()
        if reset:
            self.most_waiting = self.waiting
            self.pages, self.answers, self.cpu_s = 0, 0, time.process_time()
        return text


class Answers:
    """Whole HTTP responses by host and target."""

    def __init__(self, site: Site, hosts: int, scheme: bytes = b"http") -> None:
        self._site, self._scheme = site, scheme
        self._kept: dict[tuple[bytes, bytes], bytes] | None = {} if hosts == 1 else None

    def answer(self, target: bytes, host: bytes) -> bytes:
        """Return head and body as they go over the wire."""
        if self._kept is None:
            return self._render(target, host)
        found = self._kept.get((target, host))
        if found is None:
            found = self._kept[target, host] = self._render(target, host)
        return found

    def _render(self, target: bytes, host: bytes) -> bytes:
        page = self._site.page(target.decode("latin-1"))
        return wire(page, page.body.replace(_BASE, self._scheme + b"://" + host))


def wire(page: Page, body: bytes) -> bytes:
    """Put status line and headers before the body."""
    headers = {
        "Content-Type": f"{page.content_type}; charset=utf-8",
        "Content-Length": str(len(body)),
        **page.headers,
    }
    if page.location:
        headers["Location"] = page.location
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {page.status} {HTTPStatus(page.status).phrase}\r\n{lines}\r\n"
    return head.encode() + body


class Connection(asyncio.Protocol):
    """One visitor's connection; kept until the visitor closes it, or for *most* answers."""

    def __init__(self, answers: Answers, seen: Seen, latency_s: float, most: int = 0) -> None:
        self._answers, self._seen, self._latency_s = answers, seen, latency_s
        self._left = most
        self._rest = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._rest += data
        while (end := self._rest.find(b"\r\n\r\n")) >= 0:
            head, self._rest = self._rest[:end], self._rest[end + 4 :]
            self._asked(head)

    def _asked(self, head: bytes) -> None:
        target = head.split(b" ", 2)[1]
        if target.startswith(STATS):
            body = self._seen.read(reset=target == STATS)
            page = Page(body, content_type="application/json")
            self._transport.write(wire(page, body))
            return
        if _CLOSES in head:  # a proxy, which is told of no other end of an answer
            self._left = 1
        answer = self._answers.answer(target, _host(head))
        self._seen.waiting += 1
        self._seen.most_waiting = max(self._seen.most_waiting, self._seen.waiting)
        if self._latency_s:
            asyncio.get_running_loop().call_later(self._latency_s, self._send, answer)
        else:
            self._send(answer)

    def _send(self, answer: bytes) -> None:
        now = time.monotonic()
        if not self._seen.answers:
            self._seen.first_s = now
        self._seen.waiting -= 1
        self._seen.answers += 1
        self._seen.pages += answer.startswith(_FOUND)
        self._seen.last_s = now
        if self._transport.is_closing():
            return
        self._left -= 1
        if self._left:
            self._transport.write(answer)
        else:
            self._transport.write(answer.replace(b"\r\n\r\n", _LAST, 1))
            self._transport.close()


def _host(head: bytes) -> bytes:
    at = head.lower().find(b"\r\nhost:")
    return head[at + 7 :].split(b"\r\n", 1)[0].strip()


def address(number: int) -> str:
    """The loopback address of the domain of that number, from 0.

    >>> address(0), address(299)
    ('127.0.0.1', '127.1.1.43')
    """
    return f"127.1.{number >> 8}.{number & 255}" if number else "127.0.0.1"


async def serve(args: argparse.Namespace) -> None:
    """Listen until standard input closes."""
    scheme = b"https" if args.https else b"http"
    answers, seen = Answers(Site(args.products, page_kb=args.page_kb), args.hosts, scheme), Seen()
    loop, port, over = asyncio.get_running_loop(), 0, asyncio.Event()
    for number in range(args.hosts):
        server = await loop.create_server(
            lambda: Connection(answers, seen, args.latency_ms / 1000, args.per_connection),
            address(number),
            port,
            backlog=1024,
            ssl=server_context() if args.https else None,
        )
        port = server.sockets[0].getsockname()[1]
    print(port, flush=True)
    loop.add_reader(sys.stdin.fileno(), over.set)
    await over.wait()


@attrs.frozen
class Target:
    """A running target."""

    port: int
    hosts: int
    scheme: str = "http"

    @property
    def url(self) -> str:
        """The home page on the first of its domains."""
        return self.urls[0]

    @property
    def urls(self) -> list[str]:
        """The home page on each of its domains."""
        return [f"{self.scheme}://{address(number)}:{self.port}/" for number in range(self.hosts)]

    def stats(self, *, reset: bool = True) -> dict[str, float]:
        """Pages, answers, seconds from the first to the last, CPU seconds, and the most requests
        that were under way at a time; since the last reset.
        """
        query = "" if reset else "?keep"
        direct = build_opener(ProxyHandler({}), HTTPSHandler(context=trusting_context()))
        with direct.open(f"{self.url[:-1]}{STATS.decode()}{query}") as answer:
            return dict(json.load(answer))


@contextlib.contextmanager
def target(
    *,
    products: int,
    page_kb: float = 20,
    latency_ms: float = 0,
    hosts: int = 1,
    https: bool = False,
    per_connection: int = 0,
) -> Iterator[Target]:
    """Run one as long as the block; it ends with this process, too."""
    options = {"products": products, "page-kb": page_kb, "latency-ms": latency_ms, "hosts": hosts}
    command = [sys.executable, "-m", "tests.benchmarks.target"]
    options["per-connection"] = per_connection
    command += [f"--{name}={value}" for name, value in options.items()]
    command += ["--https"] if https else []
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ}, text=True
    )
    assert process.stdin
    assert process.stdout
    try:
        yield Target(int(process.stdout.readline()), hosts, "https" if https else "http")
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def most_pages_per_s(site: Target, seconds: float = 2.0, connections: int = 32) -> float:
    """Pages a second that a visitor gets who does nothing with them; the target's own limit.

    Visitor and target share the machine, so the limit is not lower than this.
    """
    return uvloop.run(_flood(site, seconds, connections))


async def _flood(site: Target, seconds: float, connections: int) -> float:
    until = time.monotonic() + seconds
    request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n\r\n".encode()
    counts = await asyncio.gather(
        *(_visitor(site.port, request, until) for _ in range(connections))
    )
    return sum(counts) / seconds


async def _visitor(port: int, request: bytes, until: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    count = 0
    while time.monotonic() < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(size)
        count += 1
    writer.close()
    return count


def main(argv: Sequence[str] | None = None) -> None:
    """Serve; prints the port."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, default=1000)
    parser.add_argument("--page-kb", type=float, default=20)
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--hosts", type=int, default=1)
    parser.add_argument("--https", action="store_true")
    parser.add_argument("--per-connection", type=int, default=0, help="answers; 0: any number")
    uvloop.run(serve(parser.parse_args(argv)))


if __name__ == "__main__":
    main()
