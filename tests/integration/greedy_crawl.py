"""A worker whose spider holds the loop: greedy_crawl REDIS_URL CRAWL LIMIT_S URL …

A page whose URL says `burn` computes without end, one that says `block` waits in C, one that says
`await` waits for what never comes, and one that says `closed` raises GeneratorExit. In place of a
URL, `Cancelled` and `Exit` are what the spider's start raises then.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from tests.integration.ends.faults import ERRORS, fail


class GreedySpider(Spider):
    name = "greedy"
    urls: tuple[str, ...] = ()

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            if url in ERRORS:
                fail(url)
            awaits = "await" in url or "closed" in url
            yield Request(url, self.parse_awaiting if awaits else self.parse)

    async def parse_awaiting(self, response: Any) -> None:
        if "closed" in response.url:
            raise GeneratorExit
        await asyncio.Event().wait()

    def parse(self, response: Any) -> Any:
        while "burn" in response.url:
            sum(range(10_000))
        if "block" in response.url:
            time.sleep(600)
        yield {"url": response.url}


def main() -> None:
    redis_url, crawl, limit_s, *urls = sys.argv[1:]
    settings = Settings()
    settings.setmodule("settings.test")
    settings.setdict(
        {
            "REDIS_URL": redis_url,
            "DATABASE_URL": "postgresql://unused.invalid/",
            "SEINE_CRAWL": crawl,
            "SEINE_READ_SECONDS": limit_s,
            "SEINE_LEASE_SECONDS": 2,
            "SEINE_MAX_DELIVERIES": 2,
            "SEINE_DRAIN_SECONDS": 1,
            "ITEM_PIPELINES": {},
            "SPIDER_MODULES": [],
            "HTTPERROR_ALLOW_ALL": True,
            "ROBOTSTXT_OBEY": False,
        },
        priority="cmdline",
    )
    process = AsyncCrawlerProcess(settings)
    process.crawl(GreedySpider, urls=tuple(urls))
    process.start()


if __name__ == "__main__":
    main()
