"""The site of the features: each crawl has a first part of the path of its own."""

from __future__ import annotations

import gzip
import json
import select
import threading
import time
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

#: When each crawl asked (s), for which path, and how many of its requests were there then.
ASKED: dict[str, list[tuple[float, str, int]]] = defaultdict(list)
_here: Counter[str] = Counter()
_times: Counter[str] = Counter()
_lock = threading.Lock()
PAGES = 8
#: Seconds that a slow page takes, and for which a silent one waits at most.
SLOW_S, SILENT_S = 0.1, 60.0


def links(base: str, *paths: str) -> bytes:
    """A page that leads to others."""
    found = "".join(f'<a href="{base}{path}">{path}</a>' for path in paths)
    return f"<html><head><title>{base}</title></head><body>{found}</body></html>".encode()


class Site(BaseHTTPRequestHandler):
    """`/CRAWL/KIND/…`: what KIND says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        crawl, _, rest = urlsplit(self.path).path.lstrip("/").partition("/")
        kind, _, name = rest.partition("/")
        with _lock:
            _here[crawl] += 1
            ASKED[crawl].append((time.monotonic(), rest, _here[crawl]))
            _times[self.path] += 1
        try:
            answer = getattr(self, f"at_{kind or 'root'}", self.at_nothing)
            status, body, headers = answer(f"/{crawl}", name)
        finally:
            with _lock:  # before the answer, whose reader may ask again at once
                _here[crawl] -= 1
        self.send_response(status)
        for header, value in {"Content-Type": "text/html", **headers}.items():
            self.send_header(header, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    Answer = tuple[int, bytes, dict[str, str]]

    def at_nothing(self, base: str, name: str) -> Answer:
        return 404, b"<html><body>nothing</body></html>", {}

    def at_root(self, base: str, name: str) -> Answer:
        return 200, links(base, *(f"/page/{n}" for n in range(PAGES))), {}

    def at_page(self, base: str, name: str) -> Answer:
        return 200, links(base), {}

    def at_deep(self, base: str, name: str) -> Answer:
        return 200, links(base, f"/deep/{int(name) + 1}"), {}

    def at_slow(self, base: str, name: str) -> Answer:
        time.sleep(SLOW_S)
        return 200, links(base), {}

    def at_silent(self, base: str, name: str) -> Answer:
        """No answer before the client gives up and closes the connection."""
        select.select([self.connection], [], [], SILENT_S)
        return self.at_slow(base, name)

    def at_flaky(self, base: str, name: str) -> Answer:
        """503 the first so many times."""
        return (503 if _times[self.path] <= int(name) else 200), links(base), {}

    def at_status(self, base: str, name: str) -> Answer:
        return int(name), links(base), {}

    def at_moved(self, base: str, name: str) -> Answer:
        """So many redirects on the way."""
        left = int(name)
        return 302, b"", {"Location": f"{base}/moved/{left - 1}" if left else f"{base}/page/1"}

    def at_onward(self, base: str, name: str) -> Answer:
        """A redirect to what tells its request's headers."""
        return 302, b"", {"Location": f"{base}/echo/{name}"}

    def at_meta(self, base: str, name: str) -> Answer:
        text = (
            f'<html><head><meta http-equiv="refresh" content="0;url={base}/page/1"></head></html>'
        )
        return 200, text.encode(), {}

    def at_echo(self, base: str, name: str) -> Answer:
        told = {key.lower(): value for key, value in self.headers.items()}
        return 200, json.dumps(told).encode(), {"Content-Type": "application/json"}

    def at_zipped(self, base: str, name: str) -> Answer:
        body = gzip.compress(links(base), mtime=0)
        wanted = "gzip" in (self.headers.get("Accept-Encoding") or "")
        return (200, body, {"Content-Encoding": "gzip"}) if wanted else (406, b"", {})

    def at_cookie(self, base: str, name: str) -> Answer:
        return 200, links(base, "/echo/1"), {"Set-Cookie": f"visit={base[1:]}; Path={base}"}

    def at_big(self, base: str, name: str) -> Answer:
        return 200, b"x" * 50_000, {}

    def at_busy(self, base: str, name: str) -> Answer:
        """A file, from the second time on."""
        return (503, b"", {}) if _times[self.path] == 1 else self.at_file(base, name)

    def at_file(self, base: str, name: str) -> Answer:
        return 200, f"file {name}".encode(), {"Content-Type": "application/octet-stream"}
