"""Plain Scrapy as a tutorial writes it: CSS selectors, json.loads of the JSON-LD, LinkExtractor.

usage: python -m tests.benchmarks.sides.tutorial BASE_URL [--items FILE]
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.http import Response

from tests.benchmarks.sides import css
from tests.benchmarks.sides.process import main


class TutorialSpider(Spider):
    """Finds the same fields and follows the same links, by its own means."""

    name = "tutorial"
    base = ""

    async def start(self) -> AsyncIterator[Any]:
        self.extractor = css.extractor(urlsplit(self.base).netloc)
        yield Request(self.base, self.parse)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        product = css.product(response)
        if product is not None:
            yield product
        for link in self.extractor.extract_links(response):
            yield Request(link.url, self.parse)


if __name__ == "__main__":
    main(TutorialSpider)
