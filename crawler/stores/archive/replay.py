"""The replay lane: pages come from the archive, and nothing is sent to any site."""

from __future__ import annotations

import asyncio
import logging
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
from crawler.stores.archive.spellings import spellings
from crawler.stores.archive.warc import MAX_RECORD_BYTES, Page, unpack
from crawler.stores.queries import query
from crawler.stores.store_endpoints import endpoints
from scrapy_seine.engine.lease.outcomes import Ignored
from scrapy_seine.errors import ConfigError, PageUnreadable, StoreUnreachable
from scrapy_seine.once_a_minute import OnceAMinute
from scrapy_seine.sinks.postgres.database import connect

logger = logging.getLogger(__name__)
_THREADS = 4


class Reader:
    """Finds stored pages by their URL; each thread has its own connection."""

    def __init__(
        self, store: ObjectStore, database_url: str, max_bytes: int = MAX_RECORD_BYTES
    ) -> None:
        self.store = store
        self.max_bytes = max_bytes
        """Largest record in bytes, compressed or not."""
        self._url = database_url
        self._local = threading.local()
        self._connections: list[extensions.connection] = []

    def find(self, url: str) -> Page | None:
        """Return the newest stored response of a URL, or None. Blocks the calling thread.

        Where this spelling was never requested, the page's response to another one is returned.

        Raises:
            StoreUnreachable: the index or the object cannot be read.
            ValueError: the object has no page of that URL at that position.
        """
        place = next(filter(None, map(self._place, spellings(url))), None)
        if place is None:
            return None
        key, start, length = place
        if start < 0 or not 0 < length <= self.max_bytes:
            raise ValueError(f"the index names {length} bytes from {start} on")
        page = unpack(self.store.get(key, start, length), self.max_bytes)
        if spellings(page.url)[-1] != spellings(url)[-1]:
            raise ValueError(f"the record is of another address: {str(page.url)[:200]}")
        return page

    def _place(self, url: str) -> tuple[str, int, int] | None:
        try:
            connection = getattr(self._local, "connection", None)
            if connection is None or connection.closed:
                connection = self._local.connection = connect(self._url)
                connection.autocommit = True
                self._connections.append(connection)
            with connection.cursor() as cursor:
                cursor.execute(query("find_page"), {"url": url})
                row: tuple[str, int, int] | None = cursor.fetchone()
                return row
        except psycopg2.Error as error:
            raise StoreUnreachable(f"DATABASE_URL: {' '.join(str(error).split())}") from None

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()


class ReplayHandler:
    """A download handler that answers from the archive in SEINE_REPLAY."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._threads = ThreadPoolExecutor(_THREADS, "seine-replay")
        self._log_limiter = OnceAMinute()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Open the archive.

        Raises:
            ConfigError: SEINE_REPLAY is empty or names no archive.
        """
        place = str(crawler.settings.get("SEINE_REPLAY") or "")
        if not place:
            raise ConfigError("SEINE_REPLAY must say where the archive is")
        url = endpoints(crawler.settings, need=("postgres",)).database_url
        # Twice the largest page leaves room for headers.
        max_bytes = max(MAX_RECORD_BYTES, 2 * int(crawler.settings.getint("DOWNLOAD_MAXSIZE")))
        return cls(Reader(open_store(place), url, max_bytes))

    async def download_request(self, request: Request) -> Response:
        """Return the newest stored response of the request's URL.

        Raises:
            Ignored: the archive has none.
            StoreUnreachable: the archive cannot be read.
            PageUnreadable: the stored record is no page of that URL.
        """
        page = None
        try:
            if request.method == "GET":
                loop = asyncio.get_running_loop()
                page = await loop.run_in_executor(self._threads, self.reader.find, request.url)
            if page is not None:
                return response_of(page, request)
        except StoreUnreachable as error:
            if self._log_limiter.is_due("unreachable"):
                logger.warning("%s; pages of it are tried again later", error)
            raise
        except ValueError as error:
            raise PageUnreadable(f"the archive's copy cannot be read: {error}") from None
        raise Ignored("replay", f"{request.url} is not in the archive")

    async def close(self) -> None:
        """Stop the threads and close the connections."""
        self._threads.shutdown(cancel_futures=True)
        self.reader.close()


def response_of(page: Page, request: Request) -> Response:
    """Build the response that the downloader returned for this page."""
    headers = Headers()
    for name, value in page.headers:
        headers.appendlist(name, value.encode("latin-1"))
    kind = responsetypes.from_args(headers=headers, url=page.url, body=page.body)
    # Flagged as cached, so that it is neither logged as an attempt nor archived again.
    return kind(
        url=request.url,
        status=page.status,
        headers=headers,
        body=page.body,
        flags=["cached", "replayed"],
        request=request,
    )
