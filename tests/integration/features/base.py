"""What the features' spiders have in common."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response

#: What a spider yields.
Yields = Iterator[Any]


class Base(Spider):
    """Asks for some paths of its part of the site, and yields each page's path and status."""

    base = ""
    notes: list[Any]
    folder = ""
    paths: tuple[str, ...] = ("/",)

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        cls.name = cls.__name__.lower()  # of a crawl of its own
        return super().from_crawler(crawler, *args, **kwargs)

    async def start(self) -> AsyncIterator[Any]:
        for path in self.paths:
            yield self.ask(path)

    def ask(self, path: str, **kwargs: Any) -> Request:
        """A request for a path."""
        return Request(f"{self.base}{path}", errback=self.failed, **kwargs)

    def path_of(self, url: str) -> str:
        """The path below this crawl's part of the site."""
        return url.partition(self.base.rpartition("/")[2])[2] or url

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield self.page(response)

    def page(self, response: Response, **more: Any) -> dict[str, Any]:
        """A page's item."""
        return {"path": self.path_of(response.url), "status": response.status, **more}

    def failed(self, failure: Any) -> Yields:
        yield {"path": self.path_of(failure.request.url), "failed": failure.type.__name__}


class Shop(Base):
    """Follows the links of the first page, and of each further one."""

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield self.page(response)
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse, errback=self.failed)
