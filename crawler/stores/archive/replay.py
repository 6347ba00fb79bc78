"""The replay lane: pages come from the archive, and nothing is sent to any site."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import psycopg2
from psycopg2 import extensions
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.headers import Headers
from scrapy.responsetypes import responsetypes

from crawler.stores.archive.object_storage import ObjectStore, open_store
from crawler.stores.archive.warc import MOST_BYTES, Page, unpack
from crawler.stores.postgres_endpoint import endpoints
from crawler.stores.queries import query
from scrapy_seine.engine.lease.outcomes import Ignored
from scrapy_seine.errors import ConfigError, PageUnreadable, StoreUnreachable
from scrapy_seine.sinks.postgres.database import connect

_THREADS = 4


class Reader:
    """Finds stored pages again; each thread has a connection of its own."""

    def __init__(self, store: ObjectStore, database_url: str, most: int = MOST_BYTES) -> None:
        self.store = store
        self.most = most
        """Bytes that a record may have, packed or not."""
        self._url = database_url
        self._local = threading.local()
        self._all: list[extensions.connection] = []

    def find(self, url: str) -> Page | None:
        """Return the newest stored answer of a URL, or None. Waits.

        Raises:
            StoreUnreachable: the index or the object cannot be read.
            ValueError: the object holds no page of that URL there.
        """
        place = self._place(url)
        if place is None:
            return None
        key, start, length = place
        if start < 0 or not 0 < length <= self.most:
            raise ValueError(f"the index names {length} bytes from {start} on")
        page = unpack(self.store.get(key, start, length), self.most)
        if page.url != url:
            raise ValueError(f"the record is of another address: {str(page.url)[:200]}")
        return page

    def _place(self, url: str) -> tuple[str, int, int] | None:
        try:
            connection = getattr(self._local, "connection", None)
            if connection is None or connection.closed:
                connection = self._local.connection = connect(self._url)
                connection.autocommit = True
                self._all.append(connection)
            with connection.cursor() as cursor:
                cursor.execute(query("find_page"), {"url": url})
                row: tuple[str, int, int] | None = cursor.fetchone()
                return row
        except psycopg2.Error as error:
            raise StoreUnreachable(f"DATABASE_URL: {' '.join(str(error).split())}") from None

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._all:
            connection.close()
        self._all.clear()


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
