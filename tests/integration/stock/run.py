"""One crawl: links, items, a redirect, an errback, errors, a cookie, and pages through a proxy.

usage: python -m tests.integration.stock.run REDIS_URL CRAWL BASE SETTINGS NAME …

SETTINGS is a JSON object. Private names to be renamed in Scrapy and Twisted follow. Prints the
stats of the crawl as JSON, and the log to stderr.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from tempfile import TemporaryDirectory
from typing import Any

from tests.integration.stock.renamed import rename

rename(sys.argv[5:])

from scrapy import Request, Spider  # noqa: E402  # after its names are changed
from scrapy.crawler import AsyncCrawlerProcess  # noqa: E402
from scrapy.settings import Settings  # noqa: E402


class Pipeline:
    """Takes items as a project's pipeline does."""

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        return item


class StockSpider(Spider):
    name = "stock"
    base = ""

    async def start(self) -> AsyncIterator[Any]:
        for n in range(6):
            yield Request(f"{self.base}/p/{n}", self.page)
        yield Request(f"{self.base}/red", self.page)
        yield Request(f"{self.base}/missing", self.page, errback=self.failed)
        yield Request(f"{self.base}/p/error", self.raises)
        yield Request(f"{self.base}/p/proxied", self.page, meta={"proxy": self.base})

    def page(self, response: Any) -> Any:
        yield {"url": response.url}
        for n in range(2):
            if response.url.count("x") < 2 and "/p/" in response.url:
                yield Request(f"{response.url}x{n}", self.leaf)

    def leaf(self, response: Any) -> Any:
        return [{"url": response.url}]

    def failed(self, failure: Any) -> Any:
        yield {"url": failure.request.url}

    def raises(self, response: Any) -> Any:
        raise ValueError("on purpose")


def main() -> None:
    with TemporaryDirectory() as folder:
        run(folder, *sys.argv[1:5])


def run(folder: str, redis_url: str, crawl: str, base: str, more: str) -> None:
    settings = Settings()
    settings.setmodule("settings.test")
    settings.setdict(
        {
            "REDIS_URL": redis_url,
            "DATABASE_URL": "postgresql://unused.invalid/",
            "SEINE_CRAWL": crawl,
            "SEINE_INTAKE": False,
            "SPIDER_MODULES": [],
            "COMMANDS_MODULE": "",
            "ITEM_PIPELINES": {Pipeline: 1},
            # What a project has by default, and the catalogue crawler has not.
            "SPIDER_MIDDLEWARES": {},
            "EXTENSIONS": {"scrapy_seine.sinks.feeds.exporter.FeedExporter": 0},
            "FEEDS": {f"{folder}/items.jsonl": {"format": "jsonlines"}},
            "ROBOTSTXT_OBEY": False,
            "COOKIES_ENABLED": True,
            "LOG_LEVEL": "WARNING",
            **json.loads(more),
        },
        priority="cmdline",
    )
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(StockSpider)
    process.crawl(crawler, base=base)
    process.start()
    stats: Any = crawler.stats
    print(json.dumps(stats.get_stats(), default=str))


if __name__ == "__main__":
    main()
