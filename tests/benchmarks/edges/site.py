"""A web site of many hosts on loopback addresses: each page has its answer, each visit a line."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

Handler = BaseHTTPRequestHandler
Answer = Callable[[Handler], None]


@attrs.frozen
class Visit:
    """One line of the access log."""

    at: float
    """Unix time, s."""
    host: str
    """With the port."""
    path: str
    status: int
    """0: the answer was cut off or no HTTP."""

    @property
    def url(self) -> str:
        """The page's address."""
        return f"http://{self.host}{self.path}"


@attrs.frozen
class Thing:
    """A product as the site shows it."""

    sku: str
    price: str
    availability: str = "InStock"

    @property
    def html(self) -> str:
        """Its page."""
        data = {
            "@context": "https://schema.org",
            "@type": "Product",
            "name": f"Thing {self.sku}",
            "sku": self.sku,
            "offers": {
                "@type": "Offer",
                "price": self.price,
                "priceCurrency": "EUR",
                "availability": f"https://schema.org/{self.availability}",
            },
        }
        return (
            f"<!DOCTYPE html><html><head><title>Thing {self.sku}</title>"
            f'<script type="application/ld+json">{json.dumps(data)}</script></head>'
            f'<body><h1>Thing {self.sku}</h1><p class="price">{self.price} EUR</p></body></html>'
        )


def page(
    body: str | bytes = "", status: int = 200, headers: Mapping[str, str] | None = None
) -> Answer:
    """Answer with a whole page."""
    content = body.encode() if isinstance(body, str) else body
    shown = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(content))}

    def answer(handler: Handler) -> None:
        handler.send_response(status)
        for name, value in {**shown, **(headers or {})}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def raw(content: bytes) -> Answer:
    """Answer with these bytes and close; logged as status 0."""

    def answer(handler: Handler) -> None:
        handler.log_request(0)
        handler.wfile.write(content)
        handler.close_connection = True

    return answer


def slow(answer: Answer, seconds: float) -> Answer:
    """Answer late."""

    def later(handler: Handler) -> None:
        time.sleep(seconds)
        answer(handler)

    return later


def listing(paths: list[str]) -> Answer:
    """Answer with a page of links."""
    links = "".join(f'<li><a href="{path}">{path}</a></li>' for path in paths)
    return page(f"<!DOCTYPE html><html><head><title>All</title></head><body>{links}</body></html>")


class Site:
    """The hosts and their pages; `add` and `host` may be called while it serves."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.visits: list[Visit] = []
        self._servers: list[ThreadingHTTPServer] = []
        self._port = 0

    def host(self) -> str:
        """Serve one more host; returns `address:port`."""
        visits, pages = self.visits, self.pages
        address = f"127.0.0.{len(self._servers) + 2}"

        class Served(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            server: Any

            def do_GET(self) -> None:
                answer = pages.get(f"http://{self.server.name}{self.path}")
                (answer or page("nothing here", 404))(self)

            def log_request(self, code: object = "-", size: object = "-") -> None:
                status = code if isinstance(code, int) else int(getattr(code, "value", 0))
                visits.append(Visit(time.time(), self.server.name, self.path, status))

            def log_message(self, *_: object) -> None:
                """Say nothing on standard error."""

        class Server(ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """A worker that dies cuts its connections off."""

        server = Server((address, self._port), Served)
        self._port = server.server_port
        server.name = f"{address}:{self._port}"  # type: ignore[attr-defined]
        self._servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return f"{address}:{self._port}"

    def answered(self, url: str) -> bool:
        """Whether a page was ever given out whole."""
        return any(visit.status == 200 and visit.url == url for visit in list(self.visits))

    def asked(self, host: str) -> int:
        """Count the requests to a host."""
        return sum(visit.host == host for visit in list(self.visits))

    def close(self) -> None:
        """Serve no more."""
        for server in self._servers:
            server.shutdown()
            server.server_close()


@contextmanager
def site() -> Iterator[Site]:
    """Serve as long as the block."""
    made = Site()
    try:
        yield made
    finally:
        made.close()


def closed_port() -> int:
    """Find a port on which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def reset(handler: Handler) -> None:
    """Cut the connection off without a word."""
    handler.log_request(0)
    with suppress(OSError):
        handler.connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00"
        )
    handler.close_connection = True
    handler.connection.close()
