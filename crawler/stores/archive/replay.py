"""The replay lane: pages come from the archive, and nothing is sent to any site."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.headers import Headers
from scrapy.responsetypes import responsetypes

from crawler.stores.archive.batches import Reader
from crawler.stores.archive.object_storage import open_store
from crawler.stores.archive.warc import MOST_BYTES, Page
from crawler.stores.postgres_endpoint import endpoints
from scrapy_seine.engine.lease.outcomes import Ignored
from scrapy_seine.errors import ConfigError, PageUnreadable

_THREADS = 4


class ReplayHandler:
    """Answers from the archive that SEINE_REPLAY names."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._threads = ThreadPoolExecutor(_THREADS, "seine-replay")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Open the archive.

        Raises:
            ConfigError: SEINE_REPLAY is empty, or no place of an archive.
        """
        place = str(crawler.settings.get("SEINE_REPLAY") or "")
        if not place:
            raise ConfigError("SEINE_REPLAY must say where the archive is")
        url = endpoints(crawler.settings, need=("postgres",)).database_url
        # Headers have room beside the largest page.
        most = max(MOST_BYTES, 2 * int(crawler.settings.getint("DOWNLOAD_MAXSIZE")))
        return cls(Reader(open_store(place), url, most))

    async def download_request(self, request: Request) -> Response:
        """Find the newest stored answer.

        Raises:
            Ignored: there is none.
            StoreUnreachable: the archive cannot be read.
            PageUnreadable: what is stored there is no such page.
        """
        page = None
        try:
            if request.method == "GET":
                loop = asyncio.get_running_loop()
                page = await loop.run_in_executor(self._threads, self.reader.find, request.url)
            if page is not None:
                return response_of(page, request)
        except ValueError as error:
            raise PageUnreadable(f"the archive's copy cannot be read: {error}") from None
        raise Ignored("replay", f"{request.url} is not in the archive")

    async def close(self) -> None:
        """Close threads and connections."""
        self._threads.shutdown(cancel_futures=True)
        self.reader.close()


def response_of(page: Page, request: Request) -> Response:
    """Make the response that the downloader made of this page."""
    headers = Headers()
    for name, value in page.headers:
        headers.appendlist(name, value.encode("latin-1"))
    kind = responsetypes.from_args(headers=headers, url=page.url, body=page.body)
    # Marked as cached: it is neither an attempt nor worth storing again.
    return kind(
        url=request.url,
        status=page.status,
        headers=headers,
        body=page.body,
        flags=["cached", "replayed"],
        request=request,
    )
