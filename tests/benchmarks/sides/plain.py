"""Plain Scrapy: default settings, queue in memory, nothing stored.

usage: python -m tests.benchmarks.sides.plain BASE_URL [--own-parser] [--items FILE]
"""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response

from crawler.extract import extract, find_links, parse
from tests.benchmarks.sides import css


class PlainSpider(Spider):
    """Follows the links that the catalogue spider would follow, and yields the same products."""

    name = "plain"
    base = ""

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.base, self.parse)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        page = parse(response.body, response.url)
        product = extract(page).product()
        if product is not None:
            yield product
        for link in find_links(page, allowed=lambda url: url.startswith(self.base)):
            yield Request(link.url, self.parse, priority=link.priority)


class TutorialSpider(Spider):
    """The same fields and links with CSS selectors and LinkExtractor."""

    name = "tutorial"
    base = ""

    async def start(self) -> AsyncIterator[Any]:
        self.extractor = css.extractor(str(urlsplit(self.base).hostname))
        yield Request(self.base, self.parse)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        product = css.product(response)
        if product is not None:
            yield product
        for link in self.extractor.extract_links(response):
            yield Request(link.url, self.parse)


def crawl(base: str, settings: dict[str, Any], *, own_parser: bool = False) -> None:
    """Run a spider to its end with the given settings."""
    process = AsyncCrawlerProcess({"LOG_LEVEL": "INFO", **settings})
    process.crawl(TutorialSpider if own_parser else PlainSpider, base=base)
    process.start()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base")
    parser.add_argument("--own-parser", action="store_true", help="CSS selectors, LinkExtractor")
    parser.add_argument("--items", help="write the items there, as JSON lines")
    args = parser.parse_args()
    feeds = {args.items: {"format": "jsonlines"}} if args.items else {}
    crawl(args.base, {"FEEDS": feeds} if feeds else {}, own_parser=args.own_parser)


if __name__ == "__main__":
    main()
