"""A worker with slow pages.

usage: python -m tests.integration.slow_crawl REDIS_URL CRAWL BASE DRAIN_S [JOINS]

JOINS: `and ends` sends the worker a SIGTERM when it has joined and its engine has not begun; as
`never` it finds no store to join.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import Settings

from scrapy_seine.engine.member import Member
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.worker import Worker

_join = Worker.join


async def _join_and_end(worker: Worker, *how: Any) -> Member:
    member = await _join(worker, *how)
    os.kill(os.getpid(), signal.SIGTERM)
    return member


async def _never_join(worker: Worker, *how: Any) -> Member:
    raise ConnectionError("no store is there")


class SlowSpider(FrontierSpider):
    name = "slow"
    base = ""

    async def start(self) -> AsyncIterator[Any]:
        for i in range(4 if self.base else 0):
            yield Request(f"{self.base}/nothing/{i}", self.parse)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> SlowSpider:
        """Have the worker join as was asked for."""
        if len(sys.argv) > 5:
            Worker.join = {"and ends": _join_and_end, "never": _never_join}[sys.argv[5]]  # type: ignore[method-assign]
        return super().from_crawler(crawler, *args, **kwargs)

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
