"""A site that means no good: each of its paths does something else to who asks for it."""

from __future__ import annotations

import contextlib
import gzip
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

from tests.helpers import serving

#: 200 MB that travel as 200 kB.
BOMB = gzip.compress(bytes(200_000_000), 1)


class Handler(BaseHTTPRequestHandler):
    """A site that means no good."""

    def do_GET(self) -> None:
        kind = self.path.strip("/").partition("/")[0]
        with contextlib.suppress(OSError):
            getattr(self, "do_" + kind.replace(".", "_"))()

    def answer(self, status: int = 200, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def do_bomb(self) -> None:
        self.answer(length=len(BOMB), Content_Encoding="gzip")
        self.wfile.write(BOMB)

    def do_endless(self) -> None:
        self.answer()
        for _ in range(10_000):
            self.wfile.write(b"<p>and so on</p>" * 4096)

    def do_drip(self) -> None:
        self.answer()
        for _ in range(200):
            self.wfile.write(b".")
            time.sleep(0.1)

    def do_circle(self) -> None:
        number = int(self.path.rpartition("/")[2] or 0)
        self.answer(302, 0, Location=f"/circle/{number + 1}")

    def do_cut(self) -> None:
        self.answer(length=100_000)
        self.wfile.write(b"<p>half a page")

    def do_garbage(self) -> None:
        self.wfile.write(b"\x00\xffHTTP/9.9 what\r\n\r\n")

    def do_headers(self) -> None:
        self.answer(200, 2, **{f"X-{n}": "y" * 4000 for n in range(100)})
        self.wfile.write(b"ok")

    def do_robots_txt(self) -> None:
        self.answer(404, 0)

    def do_silence(self) -> None:
        time.sleep(8)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def hostile_site() -> Iterator[tuple[str, Counter[str]]]:
    """Serve it; its address, and how often each kind was asked for."""
    asked: Counter[str] = Counter()

    class Counting(Handler):
        def do_GET(self) -> None:
            asked[self.path.strip("/").partition("/")[0]] += 1
            super().do_GET()

    with serving(Counting) as base:
        yield base, asked
