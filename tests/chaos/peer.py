"""A worker of plain scrapy-redis, as its README has it, that reads pages with our own parser.

usage: python -m tests.chaos.peer REDIS_URL DATABASE_URL CRAWL DELAY_S
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response
from scrapy_redis.spiders import RedisSpider

from crawler.extract import extract, find_links, parse
from tests.benchmarks.sides.scrapy_redis import OneRowACommit


class PeerSpider(RedisSpider):
    """Follows the links that the catalogue spider would follow, and yields the same products."""

    name = "peer"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        page = parse(response.body, response.url)
        product = extract(page).product()
        if product is not None:
            yield product
        host = urlsplit(response.url).netloc
        for link in find_links(page, allowed=lambda url: urlsplit(url).netloc == host):
            yield Request(link.url, self.parse, priority=link.priority)


def main() -> None:
    redis_url, database_url, name, delay_s = sys.argv[1:5]
    process = AsyncCrawlerProcess(
        {
            "LOG_LEVEL": "INFO",
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "SCHEDULER_PERSIST": True,
            "SCHEDULER_QUEUE_KEY": f"{name}:requests",
            "SCHEDULER_DUPEFILTER_KEY": f"{name}:dupefilter",
            "REDIS_START_URLS_KEY": f"{name}:start_urls",
            "REDIS_URL": redis_url,
            "DATABASE_URL": database_url,
            "ITEM_PIPELINES": {OneRowACommit: 300},
            "DOWNLOAD_DELAY": float(delay_s),
            "DOWNLOAD_DELAY_JITTER": 0,
            "CONCURRENT_REQUESTS": 32,
            "ROBOTSTXT_OBEY": True,
        }
    )
    process.crawl(PeerSpider)
    process.start()


if __name__ == "__main__":
    main()
