"""A site of numbered pages that weigh what is asked: size, links, and a large page now and then.

usage: python -m tests.benchmarks.sides.linked --pages 10000 --page-kb 20 --links 100
       --large-every 200 --latency-ms 0    (prints the port; ends with its standard input)
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator

import attrs
import uvloop

from crawler.demo.pages import Page
from tests.benchmarks.target import Connection, Seen, Target, wire

#: A large page's bytes and links.
LARGE_KB, LARGE_LINKS = 2000, 5000
#: Distances between a page and those that it links to; the first reaches every page.
_STEPS = (1, 97, 31)


@attrs.frozen(kw_only=True)
class Shape:
    """What the site is made of."""

    pages: int
    page_kb: float = 20
    links: int = 100
    large_every: int = 0
    """Each so manieth page is large; 0: none."""

    def body(self, number: int) -> bytes:
        """Return a page's HTML."""
        large = bool(self.large_every) and number % self.large_every == self.large_every // 2
        links, size = (LARGE_LINKS, LARGE_KB) if large else (self.links, self.page_kb)
        first, stride, step = _STEPS
        goals = [first, *(stride + step * i for i in range(links - 1))]
        anchors = "".join(
            f'<li><a href="/p/{(number + goal) % self.pages}">Page {goal}</a></li>'
            for goal in goals
        )
        head = (
            f"<html><head><title>Thing {number}</title></head><body><h1>Thing {number}</h1>"
            f'<span class="price">{number % 977}.50</span><span class="sku">S{number}</span>'
            f'<span class="brand">B{number % 31}</span><p class="text">All of it.</p><ul>{anchors}'
        )
        row = f"<tr><td class='x'><b>word</b></td><td>{'another word or two ' * 10}</td></tr>\n"
        missing = max(0, int(size * 1000) - len(head))
        return f"{head}</ul><table>{row * (missing // len(row))}</table></body></html>".encode()


class Linked:
    """Answers of the site; whatever has no number is missing."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def answer(self, target: bytes, host: bytes) -> bytes:
        """Return head and body as they go over the wire."""
        number = target.rpartition(b"/")[2]
        if target.startswith(b"/p/") and number.isdigit():
            return wire(Page(b"", content_type="text/html"), self.shape.body(int(number)))
        if target == b"/":
            return wire(Page(b"", content_type="text/html"), self.shape.body(0))
        return wire(Page(b"", status=404, content_type="text/plain"), b"")


async def serve(shape: Shape, latency_ms: float) -> None:
    """Listen until standard input closes."""
    answers, seen, over = Linked(shape), Seen(), asyncio.Event()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(answers, seen, latency_ms / 1000), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    loop.add_reader(sys.stdin.fileno(), over.set)
    await over.wait()


@contextlib.contextmanager
def linked(shape: Shape, latency_ms: float = 0) -> Iterator[Target]:
    """Run one as long as the block; it ends with this process, too."""
    options = {**attrs.asdict(shape), "latency_ms": latency_ms}
    command = [sys.executable, "-m", "tests.benchmarks.sides.linked"]
    command += [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield Target(int(process.stdout.readline()), 1)
        finally:
            process.stdin.close()
            process.wait(10)


def main() -> None:
    """Serve; prints the port."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--page-kb", type=float, default=20)
    parser.add_argument("--links", type=int, default=100)
    parser.add_argument("--large-every", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0)
    args = vars(parser.parse_args())
    latency_ms = args.pop("latency_ms")
    uvloop.run(serve(Shape(**args), latency_ms))


if __name__ == "__main__":
    main()
