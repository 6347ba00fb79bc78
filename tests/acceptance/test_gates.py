"""A shop behind a gate of one button, of which two pages are seeds: no link leads to the second."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest

from tests.helpers import patient, serving

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
BUTTON = "<input type=hidden name=ok value=1><button>Enter</button>"
GATE = f'<html lang=en><h1>Welcome</h1><form method=post action="/enter">{BUTTON}</form>'


class Shop(BaseHTTPRequestHandler):
    """The button's answer waits until both seeds were gates, as with a slow server."""

    gates: ClassVar[threading.Semaphore]

    def do_GET(self) -> None:
        place = self.path.strip("/").partition("/")[2]
        if "age=18" not in (self.headers.get("Cookie") or ""):
            self.send(GATE)
            self.gates.release()
        elif self.path.startswith("/c/"):
            tiles = "".join(f'<li><a href="/product/{place}-{n}">{place} {n}</a>' for n in range(5))
            self.send(f"<html lang=en><h1>{place}</h1><ul>{tiles}</ul>")
        else:
            button = "<button>Add to basket</button>"
            self.send(f"<html lang=en><h1>{place}</h1><p class=price>£9.50</p>{button}")

    def do_POST(self) -> None:
        for _ in range(2):
            self.gates.acquire(timeout=patient(10))
        self.gates.release(2)
        self.send("", 303, {"Set-Cookie": "age=18; Path=/", "Location": "/"})

    def send(self, body: str, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize("workers", [1, 2])
def test_each_seed_that_was_a_gate_is_asked_for_again(crawl, workers) -> None:
    Shop.gates = threading.Semaphore(0)
    with serving(Shop) as base:
        crawl.seed(f"{base}/c/lamps", f"{base}/c/chairs")
        for _ in range(workers):
            crawl.start()
        crawl.wait_for_end(60)
    assert crawl.query("SELECT count(*) FROM products") == [(10,)]
