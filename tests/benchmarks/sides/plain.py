"""Plain Scrapy: default settings, queue in memory, nothing stored.

usage: python -m tests.benchmarks.sides.plain BASE_URL [--items FILE]
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response

from crawler.extract import extract, find_links, parse
from tests.benchmarks.sides.process import main


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


if __name__ == "__main__":
    main(PlainSpider)
