"""scrapy-redis as its README has it, with the usual pipeline: one row and one commit an item.

usage: python -m tests.benchmarks.sides.scrapy_redis BASE_URL REDIS_URL DATABASE_URL CRAWL
       [CONCURRENT_REQUESTS]
"""

from __future__ import annotations

import sys
from typing import Any, Self

import attrs
from scrapy.crawler import Crawler

from tests.benchmarks.sides.plain import PlainSpider
from tests.benchmarks.sides.process import crawl
from tests.benchmarks.sides.rows import Rows


class OneRowACommit:
    """The pipeline of the tutorials."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        return cls(Rows(str(settings["DATABASE_URL"]), str(settings["BENCH_RUN"])))

    def process_item(self, item: Any) -> Any:
        self.rows.store(attrs.asdict(item))
        return item


def main() -> None:
    base, redis_url, database_url, name = sys.argv[1:5]
    settings: dict[str, Any] = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_QUEUE_KEY": f"{name}:requests",
        "SCHEDULER_DUPEFILTER_KEY": f"{name}:dupefilter",
        "REDIS_URL": redis_url,
        "DATABASE_URL": database_url,
        "BENCH_RUN": name,
        "ITEM_PIPELINES": {OneRowACommit: 300},
    }
    if len(sys.argv) > 5:
        settings["CONCURRENT_REQUESTS"] = int(sys.argv[5])
        settings["CONCURRENT_REQUESTS_PER_DOMAIN"] = int(sys.argv[5])
    crawl(PlainSpider, base, settings)


if __name__ == "__main__":
    main()
