"""CPU a page of Scrapy's tutorial spider with the add-on, beside the same spider in plain Scrapy.

usage: python -m tests.benchmarks.addon_cpu [--rounds 3] [--pages 600] [--json]

Both sides run one after the other in processes of their own, in turn, so that they share the
machine's moods. CPU is the whole process', as the kernel counts it. A short crawl is subtracted
from a long one, so that the start of a process does not count: `cpu_ratio` is of the rest.
The spider is the tutorial's: ten quotes a page, one link to the next page; `wide` is the same with
links to ten pages at once. `feed`: each side writes its items by -O.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

from crawler.stores import embedded
from tests.helpers import server_folder

ROOT = Path(__file__).parents[2]
SHORT = 20
SPIDER = """
import scrapy


class QuotesSpider(scrapy.Spider):
    name = "quotes"

    async def start(self):
        yield scrapy.Request(self.base + "/page/1/", self.parse)

    def parse(self, response):
        for quote in response.css("div.quote"):
            yield {
                "text": quote.css("span.text::text").get(),
                "author": quote.css("small.author::text").get(),
                "tags": quote.css("div.tags a.tag::text").getall(),
            }
        yield from response.follow_all(css="li.next a", callback=self.parse)
"""
QUOTE = (
    '<div class="quote"><span class="text">“%d.%d The world as we have created it is a process of '
    'our thinking.”</span><span>by <small class="author">A. Einstein</small></span>'
    '<div class="tags">Tags: <a class="tag" href="/t/change">change</a>'
    '<a class="tag" href="/t/deep">deep-thoughts</a></div></div>'
)


def page(number: int, pages: int, wide: bool) -> bytes:
    """A page of quotes with its links."""
    following = [number * 10 - 8 + n for n in range(10)] if wide else [number + 1]
    links = "".join(
        f'<li class="next"><a href="/page/{n}/">Next</a></li>' for n in following if n <= pages
    )
    quotes = "".join(QUOTE % (number, n) for n in range(10))
    return f"<html><body>{quotes}<ul class=pager>{links}</ul></body></html>".encode()


def serve(port: Any) -> None:
    """Serve `/<pages>/<chain or wide>/page/<n>/` until the process is ended."""

    class Quotes(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            known = self.path.split("/")
            body = b""
            if len(known) == 6 and known[4].isdigit():
                body = page(int(known[4]), int(known[1]), known[2] == "wide")
                body = body.replace(b'href="/page', f'href="/{known[1]}/{known[2]}/page'.encode())
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Quotes)
    server.daemon_threads = True
    port.send(server.server_port)
    server.serve_forever()


@contextmanager
def site() -> Iterator[str]:
    """Run the site in a process of its own, whose CPU does not count."""
    mine, its = multiprocessing.Pipe()
    process = multiprocessing.Process(target=serve, args=(its,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{mine.recv()}"
    finally:
        process.terminate()
        process.join()


def crawl(folder: Path, base: str, pages: int, *, redis_url: str, feed: bool) -> float:
    """Crawl all pages; returns the process' CPU seconds. An empty *redis_url* is plain Scrapy."""
    out = folder / f"{uuid.uuid4().hex}.jl"
    given = {"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": "0"}
    if redis_url:
        given |= {
            "ADDONS": '{"scrapy_seine.Addon": 500}',
            "REDIS_URL": redis_url,
            "SEINE_CRAWL": uuid.uuid4().hex,
        }
    options = [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "runspider", "quotes.py", "-a", f"base={base}"]
    process = subprocess.Popen(
        [*command, *options, *(["-O", str(out)] if feed else [])],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"the crawl ended with {process.returncode}"
    if feed:
        assert len(out.read_text("utf-8").splitlines()) == pages * 10, "items are missing"
        out.unlink()
    return used.ru_utime + used.ru_stime


def measure(redis_url: str, base: str, folder: Path, *, pages: int, rounds: int) -> dict[str, Any]:
    """Measure both sides in turn, each kind of crawl by itself."""
    (folder / "quotes.py").write_text(SPIDER, "utf-8")
    figures: dict[str, Any] = {}
    for shape in ("chain", "wide"):
        for feed in (False, True):
            costs: dict[str, list[float]] = {"plain": [], "addon": []}
            for _ in range(rounds):
                for side, url in (("plain", ""), ("addon", redis_url)):
                    used = [
                        crawl(folder, f"{base}/{n}/{shape}", n, redis_url=url, feed=feed)
                        for n in (SHORT, pages)
                    ]
                    costs[side].append(1000 * (used[1] - used[0]) / (pages - SHORT))
            name = f"{shape}_feed" if feed else shape
            plain, addon = median(costs["plain"]), median(costs["addon"])
            figures |= {
                f"cpu_ms_plain_{name}": round(plain, 3),
                f"cpu_ms_addon_{name}": round(addon, 3),
                f"cpu_ratio_{name}": round(addon / plain, 3),
            }
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--json", action="store_true", help="print the last line alone")
    opts = parser.parse_args()
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="seine-cpu-") as name,
        server_folder() as servers,
        site() as base,
    ):
        redis_url = embedded.start(servers, durable=False).redis_url
        found = measure(redis_url, base, Path(name), pages=opts.pages, rounds=opts.rounds)
    if not opts.json:
        for figure, value in found.items():
            print(f"{figure:28} {value}")
    print(json.dumps({**found, "seconds": round(time.monotonic() - began)}))


if __name__ == "__main__":
    main()
