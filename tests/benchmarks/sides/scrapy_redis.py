"""scrapy-redis as its README has it, with the usual pipeline: one row and one commit an item.

usage: python -m tests.benchmarks.sides.scrapy_redis BASE_URL REDIS_URL DATABASE_URL CRAWL
"""

from __future__ import annotations

import json
import sys
from typing import Any, Self

import attrs
import psycopg2
from scrapy.crawler import Crawler

from tests.benchmarks.sides.plain import crawl

TABLE = "CREATE TABLE IF NOT EXISTS bench_rows (url text PRIMARY KEY, item jsonb)"
UPSERT = """INSERT INTO bench_rows VALUES (%s, %s)
ON CONFLICT (url) DO UPDATE SET item = excluded.item"""


class OneRowACommit:
    """The pipeline of the tutorials."""

    def __init__(self, database_url: str) -> None:
        self.connection = psycopg2.connect(database_url)
        self.cursor = self.connection.cursor()
        self.cursor.execute(TABLE)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(str(crawler.settings["DATABASE_URL"]))

    def process_item(self, item: Any) -> Any:
        text = json.dumps(attrs.asdict(item), default=str)
        self.cursor.execute(UPSERT, (item.url, text))
        self.connection.commit()
        return item


def main() -> None:
    base, redis_url, database_url, name = sys.argv[1:5]
    settings = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_QUEUE_KEY": f"{name}:requests",
        "SCHEDULER_DUPEFILTER_KEY": f"{name}:dupefilter",
        "REDIS_URL": redis_url,
        "DATABASE_URL": database_url,
        "ITEM_PIPELINES": {OneRowACommit: 300},
    }
    crawl(base, settings)


if __name__ == "__main__":
    main()
