"""The spiders' base: a RedisSpider whose seeds come through the frontier's intake."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy_redis.spiders import RedisSpider

from scrapy_seine.engine.starting.seed_format import request_of


class FrontierSpider(RedisSpider):  # type: ignore[misc]  # the base class has no types
    """Reads no Redis by itself: the scheduler claims seeds and asks this class to read them.

    `-a url=…` (several separated by white space) seeds a crawl from the command line.

    `knows(url, job)` says that the frontier has a URL for certain: a link that every page repeats
    need not become a request each time only to be dropped. The scheduler puts it there.
    """

    def __init__(self, *args: Any, url: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seed_urls = url.split()
        self.knows: Callable[[str, str], bool] = lambda url, job: False

    def limits_of(self, url: str) -> tuple[int | None, int | None]:
        """Pause (ms) between two requests to a URL's site and number in flight; None: no wish."""
        return None, None

    def setup_redis(self, crawler: Crawler | None = None) -> None:
        """Open no connection of its own, and let no idle handler hold the spider open."""

    async def start(self) -> AsyncIterator[Any]:
        """Yield what the command line names."""
        for url in self.seed_urls:
            yield self.make_request_from_data(url.encode())

    def make_request_from_data(self, data: bytes) -> Request:
        """Read one seed: a URL, or a JSON object with `url` and what scrapy-redis knows.

        Raises:
            BadSeed: saying what is wrong with it.
        """
        return request_of(data)
