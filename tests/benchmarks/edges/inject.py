"""Components that fail on purpose, by the path of a page, and the log of callbacks that ended."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

from scrapy import Request
from scrapy.exceptions import DropItem
from scrapy.http import Response

from scrapy_seine.engine.lease import stated_outcomes

# How long a request waits for a lane or a pool that nobody has: nobody waits so long for a test.
stated_outcomes.LACKING_S = 6.0


class Surprise(Exception):
    """No part of the crawler knows this exception."""


def _wanted(url: str, where: str) -> bool:
    return f"/raise/{where}/" in url


class Raiser:
    """A downloader middleware that raises where a page's path says so."""

    place = "outer"

    def process_request(self, request: Request) -> None:
        """Raise on the way out."""
        if _wanted(request.url, f"{self.place}-request"):
            raise Surprise("process_request")

    def process_response(self, request: Request, response: Response) -> Response:
        """Raise on the way in."""
        if _wanted(request.url, f"{self.place}-response"):
            raise Surprise("process_response")
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Raise while a failure is handled."""
        if _wanted(request.url, f"{self.place}-exception"):
            raise Surprise("process_exception")


class InnerRaiser(Raiser):
    """The same, next to the network."""

    place = "inner"


class Callbacks:
    """A spider middleware: raises where the path says so, and logs each callback that ended."""

    def __init__(self) -> None:
        self.log = Path(os.environ["EDGES_CALLBACKS"])

    def process_spider_input(self, response: Response) -> None:
        """Raise before the callback."""
        if _wanted(response.url, "spider-input"):
            raise Surprise("process_spider_input")

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        """Pass all on, or raise where the path says so; then log the page."""
        for one in result:
            if _wanted(response.url, "spider-output"):
                raise Surprise("process_spider_output")
            yield one
        self._note(response)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Do the same for a callback that is a coroutine."""
        async for one in result:
            if _wanted(response.url, "spider-output"):
                raise Surprise("process_spider_output")
            yield one
        self._note(response)

    def _note(self, response: Response) -> None:
        with self.log.open("a") as log:
            log.write(f"{response.url}\n")


class Pipeline:
    """An item pipeline that raises, or drops, where the page's path says so."""

    def process_item(self, item: Any) -> Any:
        """Raise, drop, or pass on."""
        if _wanted(item.url, "pipeline"):
            raise Surprise("process_item")
        if _wanted(item.url, "drop"):
            raise DropItem("dropped on purpose")
        return item
