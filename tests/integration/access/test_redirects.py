"""Redirects are followed as Scrapy's own middlewares do, and tell no site where one came from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from tests.helpers import serving
from tests.integration.access.conftest import Fetch


@contextmanager
def moving_site() -> Iterator[tuple[str, list[str | None]]]:
    """A site whose home has moved twice; and the Referer of each who came to its end."""
    referers: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b""
            if self.path == "/":
                self.send_response(302)
                self.send_header("Location", "/meta")
            else:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                body = b"<h1>the end</h1>"
                if self.path == "/meta":
                    body = b'<meta http-equiv="refresh" content="0;url=/end">'
                else:
                    referers.append(self.headers.get("Referer"))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving(Handler) as base:
        yield f"{base}/", referers


def test_both_kinds_of_redirect_are_followed_without_a_referer(fetch: Fetch) -> None:
    with moving_site() as (url, referers):
        answer = fetch(
            {"url": url, "headers": {"Referer": "http://secret.example/"}},
            METAREFRESH_ENABLED=True,
        ).answers[0]
    assert "the end" in answer["body"]
    assert referers == [None]
