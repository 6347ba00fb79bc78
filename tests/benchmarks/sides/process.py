"""Runs one spider in a process of its own, with Scrapy's defaults but for what is said."""

from __future__ import annotations

import argparse
from typing import Any

from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess


def crawl(spider: type[Spider], base: str, settings: dict[str, Any]) -> None:
    """Run a spider to its end with the given settings."""
    process = AsyncCrawlerProcess({"LOG_LEVEL": "INFO", **settings})
    process.crawl(spider, base=base)
    process.start()


def main(spider: type[Spider]) -> None:
    """Run a spider as the command line says: BASE_URL [--items FILE]."""
    parser = argparse.ArgumentParser()
    parser.add_argument("base")
    parser.add_argument("--items", help="write the items there, as JSON lines")
    args = parser.parse_args()
    settings = {"FEEDS": {args.items: {"format": "jsonlines"}}} if args.items else {}
    crawl(spider, args.base, settings)
