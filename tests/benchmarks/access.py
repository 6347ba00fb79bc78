"""What the access middlewares cost a plain page: CPU of each, and of all; no proxies, no browser.

usage: python -m tests.benchmarks.access [--pages 2000] [--rounds 3] [--json]

Each page of some 25 kB goes through what settings/base.py has of them, as the downloader calls
them. Those that have nothing to do in a plain crawl are not there, and cost nothing.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from scrapy.statscollectors import StatsCollector
from scrapy.utils.misc import build_from_crawler, load_object

#: CPU of all of them together that a page may cost, ms.
LIMIT_MS = 0.25
#: Modules of the middlewares that see to access.
MODULES = (
    "decompress",
    "redirect",
    "detect",
    "ladder",
    "identities",
    "proxies",
    "render",
    "egress_pace",
)
_BODY = b"<html><head><title>Kettle</title></head><body>" + b"<p>A fine kettle.</p>" * 1200
_HEADERS = {"Content-Type": "text/html; charset=utf-8", "Server": "shop"}

Pairs = Sequence[tuple[Request, HtmlResponse]]


def crawler_of(**settings: Any) -> Crawler:
    """A crawler with the test settings and these on top; nothing runs."""
    found = Settings()
    found.setmodule("settings.test")
    found.setdict(settings, priority="cmdline")
    crawler = Crawler(Spider, found)
    crawler.stats = StatsCollector(crawler)
    return crawler


def middlewares_of(crawler: Crawler) -> dict[str, Any]:
    """The access middlewares that a crawler has, in their order; None: it has nothing to do."""
    listed = crawler.settings.getdict("DOWNLOADER_MIDDLEWARES").items()
    chosen = [(at, path) for path, at in listed if at and path.split(".")[-2] in MODULES]
    found = {}
    for _, path in sorted(chosen):
        try:
            found[path] = build_from_crawler(load_object(path), crawler)
        except NotConfigured:
            found[path] = None
    return found


def measure(pages: int, rounds: int) -> dict[str, float]:
    """CPU a page by middleware, ms: the best of some rounds."""
    pairs: list[tuple[Request, HtmlResponse]] = []
    for n in range(pages):
        request = Request(f"https://shop.example/p/{n}")
        pairs.append((request, HtmlResponse(request.url, body=_BODY, headers=_HEADERS)))
    costs = {}
    for path, middleware in middlewares_of(crawler_of()).items():
        calls = [] if middleware is None else calls_of(middleware)
        best = min(cost(calls, pairs) for _ in range(rounds)) if calls else 0.0
        costs[path] = 1000 * best / pages
    return costs


def calls_of(middleware: Any) -> list[Callable[[Request, HtmlResponse], Any]]:
    """What the downloader calls for each page."""
    calls: list[Callable[[Request, HtmlResponse], Any]] = []
    if hasattr(middleware, "process_request"):
        calls.append(lambda request, _: middleware.process_request(request))
    if hasattr(middleware, "process_response"):
        calls.append(middleware.process_response)
    return calls


def cost(calls: Sequence[Callable[[Request, HtmlResponse], Any]], pairs: Pairs) -> float:
    """CPU seconds of the calls for all pages."""
    began = time.process_time()
    for request, response in pairs:
        for call in calls:
            call(request, response)
    return time.process_time() - began


def main() -> None:
    """Print a line for each middleware, and the sum."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.access")
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one object on one line")
    args = parser.parse_args()
    costs = measure(args.pages, args.rounds)
    total = sum(costs.values())
    if args.json:
        by_name = {path: round(ms, 4) for path, ms in costs.items()}
        print(json.dumps({"ms_a_page": round(total, 4), "limit_ms": LIMIT_MS, "by": by_name}))
        return
    for path, ms in costs.items():
        print(f"{path:34} {ms:.4f} ms" + ("" if ms else "  (not there)"))
    print(
        f"{'all access middlewares':34} {total:.4f} ms CPU a page; at most {LIMIT_MS} ms promised"
    )


if __name__ == "__main__":
    main()
