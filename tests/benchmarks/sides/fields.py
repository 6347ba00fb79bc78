"""A spider as people write them: five fields by CSS, and all links, read from the response.

usage: python -m tests.benchmarks.sides.fields BASE_URL CONCURRENCY    (plain Scrapy)
       scrapy crawl fields -a base=BASE_URL -s SPIDER_MODULES=tests.benchmarks.sides.fields
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response

from tests.benchmarks.sides.process import crawl

FIELDS = {
    "name": "h1::text",
    "price": "span.price::text",
    "sku": "span.sku::text",
    "brand": "span.brand::text",
    "text": "p.text::text",
}


class FieldsSpider(Spider):
    """Follows every link of every page."""

    name = "fields"
    base = ""

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.base, self.parse)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield {field: response.css(css).get() for field, css in FIELDS.items()}
        for reference in response.css("a::attr(href)").getall():
            yield response.follow(reference, self.parse)


if __name__ == "__main__":
    most = {"CONCURRENT_REQUESTS": sys.argv[2], "CONCURRENT_REQUESTS_PER_DOMAIN": sys.argv[2]}
    crawl(FieldsSpider, sys.argv[1], most)
