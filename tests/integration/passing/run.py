"""Crawls the same site on each way, each time by a crawler of its own; prints a JSON report.

usage: python -m tests.integration.passing.run
"""

from __future__ import annotations

import asyncio
import json
from http.server import BaseHTTPRequestHandler
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from tests.helpers import patient, serving
from tests.integration.passing import spider as own

WAYS = {
    "scrapy": {
        "SCHEDULER": "scrapy.core.scheduler.Scheduler",
        "DOWNLOADER": "scrapy.core.downloader.Downloader",
        "ITEM_PROCESSOR": "scrapy.pipelines.ItemPipelineManager",
        "STATS_CLASS": "scrapy.statscollectors.MemoryStatsCollector",
    },
    "short": {"SCHEDULER": own.OwnScheduler},
    "watched": {"SCHEDULER": own.WatchedScheduler, "SEINE_FASTPATH": False},
    "short, queued": {"SCHEDULER": own.OwnScheduler, "CONCURRENT_REQUESTS_PER_DOMAIN": 1},
}
#: What else differs between two crawls of each way.
KINDS: dict[str, tuple[type, dict[str, Any]]] = {
    "looks": (own.UserSpider, {}),
    "rewrites": (own.UserSpider, {own.Rewrites: 30}),
    "closes": (own.ClosingSpider, {}),
}


class Site(BaseHTTPRequestHandler):
    """Answers 302 for what moved, 404 for what is missing, else a page."""

    def do_GET(self) -> None:
        status = {"/moved": 302, "/missing": 404}.get(self.path.partition("?")[0], 200)
        self.send_response(status)
        self.send_header("Content-Length", "4")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"page")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _settings(way: dict[str, Any], middlewares: dict[Any, int]) -> Settings:
    settings = Settings()
    settings.setmodule("settings.test")
    settings.setdict(
        {
            "SPIDER_MODULES": [],
            "DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter",
            "EXTENSIONS": {own.Receivers: 1},
            "ITEM_PIPELINES": {own.Pipeline: 1, own.Second: 2},
            "SPIDER_MIDDLEWARES": {own.Looks: 40, own.Guards: 60, **middlewares},
            "DOWNLOADER_MIDDLEWARES_BASE": {},
            "DOWNLOADER_MIDDLEWARES": {own.Answers: 1},
            "DOWNLOAD_HANDLERS": {},
            "CONCURRENT_REQUESTS": 4,
            "LOG_LEVEL": "CRITICAL",
            **way,
        },
        priority="cmdline",
    )
    return settings


async def _crawl(process: Any, way: str, kind: str, base: str) -> dict[str, Any]:
    spider, middlewares = KINDS[kind]
    crawler = process.create_crawler(spider)
    crawler.settings = _settings(WAYS[way], middlewares)
    crawler.report = {}
    await asyncio.wait_for(crawler.crawl_async(base=base), patient(30))
    stats = crawler.stats.get_stats()
    kept = {k: v for k, v in stats.items() if isinstance(v, int) and "memusage" not in k}
    return {"events": crawler.report, "reason": stats["finish_reason"], "stats": kept}


async def _all(process: Any) -> dict[str, Any]:
    with serving(Site) as base:
        return {
            kind: {way: await _crawl(process, way, kind, base) for way in WAYS} for kind in KINDS
        }


def main() -> None:
    process = AsyncCrawlerProcess(_settings({}, {}))
    loop = asyncio.get_event_loop()
    task = loop.create_task(_all(process))
    from twisted.internet import reactor  # only now is it known which

    task.add_done_callback(lambda _: reactor.stop())  # type: ignore[attr-defined]
    reactor.run()  # type: ignore[attr-defined]
    print(json.dumps(task.result()))


if __name__ == "__main__":
    main()
