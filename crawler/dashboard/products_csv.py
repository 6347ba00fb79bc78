"""The list of products as a CSV file, streamed from the database's cursor in constant memory.

A visitor who reads slowly holds a thread and a connection of the database. So few files are sent at
a time, by threads of their own, and who reads nothing for a while is cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import BinaryIO, cast

from aiohttp import web

from crawler.dashboard.context import context_of
from crawler.dashboard.security import harden
from crawler.stores.export import Selection, stream
from crawler.stores.export_formats import write_csv
from scrapy_seine.errors import ConfigError, StoreError

#: Most pieces that are queued for a slow visitor; after that the database's thread waits.
_QUEUE_SIZE = 4
#: A visitor who reads nothing for so long is cut off, s.
WRITE_TIMEOUT_S = 60.0
#: Files that are sent at a time.
MOST_FILES = 4
THREADS = web.AppKey("csv_threads", ThreadPoolExecutor)


class _Pipe(io.RawIOBase):
    """A file that a thread writes and the event loop reads."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.pieces: asyncio.Queue[bytes | None] = asyncio.Queue(_QUEUE_SIZE)
        self.is_closed = False
        """The visitor has disconnected."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(cast("bytes", data))
        self._put_chunk(piece)
        return len(piece)

    def finish(self) -> None:
        """Mark the end of the data."""
        with contextlib.suppress(BrokenPipeError):
            self._put_chunk(None)

    def _put_chunk(self, piece: bytes | None) -> None:
        if self.is_closed:
            raise BrokenPipeError
        future = asyncio.run_coroutine_threadsafe(self.pieces.put(piece), self._loop)
        try:
            future.result(WRITE_TIMEOUT_S)
        except TimeoutError:
            future.cancel()
            raise BrokenPipeError from None

    def disconnect(self) -> None:
        """Stop the writer, also while it waits for space in the queue."""
        self.is_closed = True
        while not self.pieces.empty():
            self.pieces.get_nowait()


_SENT = web.AppKey("csv_files_sent", set[_Pipe])


async def csv_threads(app: web.Application) -> AsyncIterator[None]:
    """Keep threads for the files while the dashboard runs."""
    app[_SENT], app[THREADS] = set(), ThreadPoolExecutor(MOST_FILES, "csv")
    yield
    app[THREADS].shutdown(wait=False, cancel_futures=True)


async def products_csv(request: web.Request) -> web.StreamResponse:
    """Send all products of a site and stock, or all of them."""
    sent = request.config_dict[_SENT]
    if len(sent) >= MOST_FILES:
        text = f"{MOST_FILES} files are being sent; try again when one is complete.\n"
        raise web.HTTPServiceUnavailable(text=text, headers={"Retry-After": "60"})
    pipe = _Pipe()
    sent.add(pipe)
    try:
        return await _from_database(request, pipe)
    finally:
        sent.discard(pipe)


async def _from_database(request: web.Request, pipe: _Pipe) -> web.StreamResponse:
    fields = (("site_id", "site"), ("availability", "stock"))
    conditions = [
        f"{field}={value}" for field, name in fields if (value := request.query.get(name))
    ]
    url = context_of(request).database.url
    writing = asyncio.get_running_loop().run_in_executor(
        request.config_dict[THREADS], partial(_write, url, conditions, pipe)
    )
    try:
        piece = await pipe.pieces.get()
        if piece is None:
            await writing  # an early error is shown as a page
        return await _send(request, pipe, piece, writing)
    finally:
        pipe.disconnect()
        await asyncio.gather(writing, return_exceptions=True)


async def _send(
    request: web.Request, pipe: _Pipe, piece: bytes | None, writing: asyncio.Future[None]
) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={
            "Content-Type": "text/csv; charset=utf-8",
            "Content-Disposition": 'attachment; filename="products.csv"',
        }
    )
    harden(response)
    await response.prepare(request)
    while piece is not None:
        try:
            async with asyncio.timeout(WRITE_TIMEOUT_S):
                await response.write(piece)
        except TimeoutError:  # the file stays incomplete, which the cut connection says
            if request.transport is not None:
                request.transport.abort()
            return response
        piece = await pipe.pieces.get()
    await writing  # a late error cuts the connection, so that no partial file looks complete
    await response.write_eof()
    return response


def _write(url: str, conditions: list[str], pipe: _Pipe) -> None:
    try:
        selection = Selection.parse("products", "", conditions)
        with stream(url, selection) as (columns, chunks):
            write_csv(columns, chunks, cast("BinaryIO", pipe))
    except ConfigError as error:
        raise StoreError(str(error)) from None
    finally:
        pipe.finish()
