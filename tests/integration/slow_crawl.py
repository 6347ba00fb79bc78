"""A worker with slow pages: python -m tests.integration.slow_crawl REDIS_URL CRAWL BASE DRAIN_S"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings


class SlowSpider(Spider):
    name = "slow"
    base = ""

    async def start(self) -> AsyncIterator[Any]:
        for i in range(4 if self.base else 0):
            yield Request(f"{self.base}/nothing/{i}", self.parse)

    def parse(self, response: Any) -> Any:
        return None


def main() -> None:
    redis_url, crawl, base, drain_s = sys.argv[1:5]
    settings = Settings()
    settings.setmodule("settings.test")
    settings.setdict(
        {
            "REDIS_URL": redis_url,
            "DATABASE_URL": "postgresql://unused.invalid/",
            "SEINE_CRAWL": crawl,
            "SEINE_DRAIN_SECONDS": drain_s,
            "SEINE_LEASE_SECONDS": 60,
            "SEINE_DOMAIN_CONCURRENCY": 2,
            "ITEM_PIPELINES": {},
            "SPIDER_MODULES": [],
            "HTTPERROR_ALLOW_ALL": True,
            "ROBOTSTXT_OBEY": False,
        },
        priority="cmdline",
    )
    process = AsyncCrawlerProcess(settings)
    process.crawl(SlowSpider, base=base)
    process.start()


if __name__ == "__main__":
    main()
