"""The spiders' base: a RedisSpider whose seeds come through the frontier's intake."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy_redis.spiders import RedisSpider

from scrapy_seine.engine.starting.seed_format import request_of


class FrontierSpider(RedisSpider):  # type: ignore[misc]  # the base class has no types
    """Does not read Redis itself: the scheduler claims seeds and calls this class to parse them.

    `-a url=…` (several separated by white space) seeds a crawl from the command line.

    `knows(url, job)` returns whether the frontier certainly has a URL: a link that every page
    repeats need not become a request each time only to be dropped. The scheduler sets it.
    """

    def __init__(self, *args: Any, url: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seed_urls = url.split()
        self.knows: Callable[[str, str], bool] = lambda url, job: False

    def limits_of(self, url: str) -> tuple[int | None, int | None]:
        """Pause (ms) between requests to a URL's site, and number in flight; None: no own limit."""
        return None, None

    def setup_redis(self, crawler: Crawler | None = None) -> None:
        """Open no connection, and let no idle handler keep the spider open."""

    async def start(self) -> AsyncIterator[Any]:
        """Yield requests for the URLs of the command line."""
        for url in self.seed_urls:
            yield self.make_request_from_data(url.encode())

    def make_request_from_data(self, data: bytes) -> Request:
        """Parse one seed: a URL, or a JSON object with `url` and scrapy-redis' other fields.

        Raises:
            BadSeed: describing what is wrong with it.
        """
        return request_of(data)
