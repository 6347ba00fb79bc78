"""The demo shop behind a guard that bans visitors by their address."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import attrs

from crawler.demo.markup import BASE
from crawler.demo.pages import Site
from tests.helpers import serving


@attrs.define(eq=False)
class BanningShop:
    """A shop that answers 403 to the addresses it has banned."""

    url: str
    banned: set[str]
    visits: Counter[tuple[str, int]] = attrs.Factory(Counter)
    """Requests by address and status."""
    refused_at: dict[str, list[float]] = attrs.Factory(dict)
    """When a banned address asked, monotonic seconds."""

    def asked(self, address: str) -> int:
        """How often an address was refused."""
        return self.visits[(address, 403)]


@contextmanager
def banning_shop(products: int, banned: set[str]) -> Iterator[BanningShop]:
    """Serve *products* products to everybody who is not in *banned*."""
    site, lock = Site(products), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = self.client_address[0]
            page = site.page(self.path)
            status = 403 if address in shop.banned else page.status
            body = b"" if status == 403 else page.body.replace(BASE.encode(), shop.url.encode())
            with lock:
                shop.visits[(address, status)] += 1
                if status == 403:
                    shop.refused_at.setdefault(address, []).append(time.monotonic())
            self.send_response(status)
            if page.location and status != 403:
                self.send_header("Location", page.location)
            self.send_header("Content-Type", f"{page.content_type}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving(Handler) as base:
        shop = BanningShop(base, banned)
        yield shop
