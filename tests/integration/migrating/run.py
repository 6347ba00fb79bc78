"""Runs the six spiders in one process, by scrapy-redis or by the add-on; prints their items.

usage: python -m tests.integration.migrating.run REDIS_URL before|after
"""

from __future__ import annotations

import json
import sys
from typing import Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess

from tests.integration.migrating.spiders import Errors, Jobs, Lists, Login, Plain, Rules

#: What the project's settings.py says.
BEFORE = {
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    "SCHEDULER_PERSIST": False,
}
#: What it says with the one line of docs/migrating.md.
AFTER = {**BEFORE, "ADDONS": {"scrapy_seine.Addon": 500}}


def main() -> None:
    """Crawl."""
    settings: dict[str, Any] = {"before": BEFORE, "after": AFTER}[sys.argv[2]]
    more = {"REDIS_URL": sys.argv[1], "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False}
    process = AsyncCrawlerProcess({**settings, **more})
    items: list[Any] = []
    for spider in (Lists, Rules, Jobs, Plain, Errors, Login):
        crawler = process.create_crawler(spider)
        crawler.signals.connect(
            lambda item: items.append(dict(item)), signals.item_scraped, weak=False
        )
        process.crawl(crawler)
    process.start()
    print(json.dumps(items))


if __name__ == "__main__":
    main()
