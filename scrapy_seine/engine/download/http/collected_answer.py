"""One download: collects the answer within its limits, and makes Scrapy's response."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic

from scrapy import Request, signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import DownloadCancelledError, StopDownload
from scrapy.http import Headers, Response

from scrapy_seine.engine.download.http.connection import Connection
from scrapy_seine.engine.download.http.head import Head
from scrapy_seine.engine.fastpath import scrapy_internals

check_stop_download, _, get_maxsize_msg, get_warnsize_msg, make_response, *_ = (
    scrapy_internals.imported("client")
)

logger = logging.getLogger(__name__)


class Stopped(Exception):
    """A receiver of a signal stopped the download."""


class Download:
    """Collects the answer to one request; the Sink of its connection."""

    __slots__ = (
        "_began",
        "_chunks",
        "_head",
        "_headers",
        "_maxsize",
        "_size",
        "_stop",
        "_streamed",
        "_warnsize",
        "handler",
        "has_receivers",
        "request",
    )

    def __init__(
        self,
        request: Request,
        handler: BaseDownloadHandler,
        has_receivers: Callable[[object], bool],
        limits: tuple[int, int],
    ) -> None:
        meta = request.meta
        self.request = request
        self.handler = handler
        self.has_receivers = has_receivers
        """Whether a signal may have receivers."""
        self._maxsize = meta.get("download_maxsize", limits[0])
        self._warnsize = meta.get("download_warnsize", limits[1])
        self._began = monotonic()
        self._chunks: list[bytes] = []
        self._size = 0
        self._stop: StopDownload | None = None

    def head(self, head: Head) -> None:
        """Take the head of the answer.

        Raises:
            Stopped: a receiver of headers_received stops the download.
            DownloadCancelledError: the body is announced as larger than allowed.
        """
        self.request.meta["download_latency"] = monotonic() - self._began
        self._head = head
        self._headers = Headers(head.fields)
        self._notify(signals.headers_received, headers=self._headers, body_length=head.length)
        self._streamed = self.has_receivers(signals.bytes_received)
        self._weigh(head.length or 0, expected=True)

    def body(self, data: bytes) -> None:
        """Take a part of the body.

        Raises:
            Stopped: a receiver of bytes_received stops the download.
            DownloadCancelledError: the body is larger than allowed.
        """
        self._chunks.append(data)
        self._size += len(data)
        if self._streamed:
            self._notify(signals.bytes_received, data=data)
        self._weigh(self._size, expected=False)

    def _notify(self, signal: object, **arguments: object) -> None:
        if not self.has_receivers(signal):
            return
        stop = check_stop_download(signal, self.handler.crawler, self.request, **arguments)
        if stop is not None:
            self._stop = stop
            raise Stopped

    def _weigh(self, size: int, *, expected: bool) -> None:
        if self._maxsize and size > self._maxsize:
            self._chunks.clear()
            message = get_maxsize_msg(size, self._maxsize, self.request, expected=expected)
            logger.warning(message)
            raise DownloadCancelledError(message)
        if self._warnsize and size > self._warnsize:
            message = get_warnsize_msg(size, self._warnsize, self.request, expected=expected)
            logger.warning(message)
            self._warnsize = 0  # once is enough

    def response(self, connection: Connection, flags: list[str]) -> Response:
        """Make Scrapy's response.

        Raises:
            StopDownload: a receiver stopped it, and wants it to count as a failure.
        """
        response: Response = make_response(
            url=self.request.url.partition("#")[0],
            status=self._head.status,
            headers=self._headers,
            body=self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks),
            flags=flags,
            certificate=connection.certificate,
            ip_address=connection.address,
            protocol=self._head.protocol,
            stop_download=self._stop,
        )
        return response
