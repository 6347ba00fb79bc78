"""Unpacks responses within the limits, and gives texts a charset that exists.

A response that is only a part of its page, too large, too slow to unpack or damaged is buried, not
forgotten.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.response.text import TextResponse
from scrapy.responsetypes import responsetypes
from scrapy.utils.python import binary_is_text
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from scrapy_seine import meta as m
from scrapy_seine.charsets import encoding_of
from scrapy_seine.engine.headers import has_header, header
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.reading.reading_limit import ReadingLimit, Unreadable
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.middlewares.packed_formats import UNPACKERS, Damaged, TooLarge, unpack

logger = logging.getLogger(__name__)

#: Charset that browsers assume if a page names none (WHATWG, "Encoding sniffing algorithm").
_USUAL = "cp1252"
#: Patterns by which w3lib finds a page's declared charset, and how far it searches. Lower-case
#: patterns that begin with a word are a hundred times as quick as one case-insensitive for both.
_NAME = rb"\s*+=[\s\"']*+([^\s\"'>;]{0,40}+)"
_META, _XML = re.compile(b"charset" + _NAME), re.compile(b"encoding" + _NAME)
_SNIFFED = 4096
_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)", re.ASCII)


class Unusable(IgnoreRequest):
    """A body that cannot be unpacked, and has no try left."""


class Decompress(HttpCompressionMiddleware):
    """Replaces Scrapy's own, which accepts partly unpacked bodies."""

    inflight: InFlightTable
    limit: ReadingLimit
    max_bytes: int
    """Bytes of a body, at most; 0: no limit."""
    warn_bytes: int
    """Bytes of a body from which on a line is logged; 0: never."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read Scrapy's own settings.

        Raises:
            NotConfigured: COMPRESSION_ENABLED is off.
        """
        middleware = super().from_crawler(crawler)
        worker = worker_of(crawler)
        middleware.inflight, middleware.limit = worker.inflight, worker.limit
        middleware.max_bytes = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        middleware.warn_bytes = crawler.settings.getint("DOWNLOAD_WARNSIZE")
        return middleware

    def open_spider(self, spider: Spider) -> None:
        """Take the limit from a spider's own attribute, as Scrapy does."""
        super().open_spider(spider)
        self.max_bytes = getattr(spider, "download_maxsize", self.max_bytes)
        self.warn_bytes = getattr(spider, "download_warnsize", self.warn_bytes)

    def process_response(  # type: ignore[override]  # Scrapy's third argument is on its way out
        self, request: Request, response: Response
    ) -> Request | Response | Awaitable[Request | Response]:
        """Unpack the body within SEINE_READ_SECONDS, and later where the process is busy.

        Raises:
            Unusable: it is too large, or cannot be unpacked and has no try left.
        """
        if response.status == HTTPStatus.PARTIAL_CONTENT and (reason := _lacks(request, response)):
            return self._retry_or_fail(request, "broken", reason)
        if not has_header(response, "Content-Encoding") or request.method == "HEAD":
            return _readable(response)
        in_turn = self._unpack_in_turn if self.limit.queue.is_busy else self._unpack
        return in_turn(request, response)

    async def _unpack_in_turn(self, request: Request, response: Response) -> Request | Response:
        await self.limit.queue.wait()
        return self._unpack(request, response)

    def _unpack(self, request: Request, response: Response) -> Request | Response:
        encodings = b",".join(response.headers.getlist("Content-Encoding")).decode("latin-1")
        description = f"its body is packed ({encodings[:60]})"
        limit = request.meta.get("download_maxsize", self.max_bytes)
        try:
            first = request.meta.get(m.FIRST_BYTES, 0)
            unpacked = self.limit.call(_unpacked, response, encodings, limit, first)
        except TooLarge as error:
            reason = f"{description} and makes {error} bytes or more, DOWNLOAD_MAXSIZE is {limit}"
            self.inflight.retry(request, kind="size", reason=reason)
            raise Unusable(reason) from None
        except Unreadable as error:
            entry = self.inflight.entry_of(request)
            if entry is not None:
                self.inflight.on_overrun(entry)
            return self._retry_or_fail(request, "unreadable", f"unpacking: {error}")
        except ImportError as error:
            failure = f"cannot be unpacked: this worker has no module for that ({error})"
            return self._retry_or_fail(request, "broken", f"{description} and {failure}")
        except Damaged as error:
            return self._retry_or_fail(request, "broken", f"{description} and {error}")
        if self.stats and unpacked.body is not response.body:
            self.stats.inc_value("httpcompression/response_bytes", len(unpacked.body))
            self.stats.inc_value("httpcompression/response_count")
        warn_bytes = request.meta.get("download_warnsize", self.warn_bytes)
        if len(response.body) < warn_bytes <= len(unpacked.body):
            logger.warning("%s: %s and makes %d bytes", response, description, len(unpacked.body))
        return _readable(unpacked)

    def _retry_or_fail(self, request: Request, kind: str, reason: str) -> Request:
        copy = self.inflight.retry(request, kind=kind, reason=reason)
        if copy is None:
            raise Unusable(reason)
        return copy


def _lacks(request: Request, response: Response) -> str:
    """Say of which bytes a page consists that nobody asked a part of; '' if nothing is missing."""
    sent = _RANGE.match(header(response, "Content-Range"))
    if sent is None or has_header(request, "Range"):
        return ""
    first, last, size = sent.groups()
    is_whole = int(first) == 0 and size in {"*", str(int(last) + 1)}
    return "" if is_whole else f"HTTP 206, and no range was asked for: bytes {first}-{last}/{size}"


def _unpacked(response: Response, encodings: str, limit: int, first: int) -> Response:
    """Unpack a body by its Content-Encoding, the last encoding first.

    A name that is no encoding (`identity`, `none`, `UTF-8`) is skipped, as in browsers; Scrapy does
    not treat such a page as text.

    Raises:
        Damaged: it is incomplete, or a text was packed in an unknown way.
        TooLarge: it makes more bytes than *limit*.
        ImportError: a module is missing.
    """
    kinds, body = [kind.strip().lower() for kind in encodings.split(",")], response.body
    for kind in reversed(kinds):
        if kind in UNPACKERS:
            body = unpack(body, kind, limit, first=first)
    other_kinds = [kind for kind in kinds if kind not in UNPACKERS]
    headers = response.headers.copy()
    del headers["Content-Encoding"]
    form = responsetypes.from_args(headers=headers, url=response.url, body=body)
    is_text = issubclass(form, TextResponse)
    if other_kinds and is_text and not binary_is_text(body[:_SNIFFED]):
        raise Damaged("no decoder for that is installed")
    if other_kinds:
        headers["Content-Encoding"] = other_kinds
    reset: dict[str, Any] = {"encoding": None} if is_text else {}
    return response.replace(cls=form, headers=headers, body=body, **reset)


def _readable(response: Response) -> Response:
    """Decode a text as browsers do if it names a charset that does not exist."""
    if not isinstance(response, TextResponse):
        return response
    content_type = header(response, "Content-Type")
    has_header, is_known = _charset(content_type) if content_type else (False, True)
    if is_known and (has_header or _declares_known(response.body)):
        return response
    try:
        response.body.decode("utf-8")
    except UnicodeDecodeError:
        return response.replace(encoding=_USUAL)
    return response.replace(encoding="utf-8")


@lru_cache(maxsize=256)
def _charset(content_type: str) -> tuple[bool, bool]:
    """Whether a Content-Type names a charset, and whether that charset exists for text.

    >>> [_charset(f"text/html; charset={name}") for name in ("utf-8", "rot13", "klingon")]
    [(True, True), (True, False), (True, False)]
    >>> _charset("text/html")
    (False, True)
    """
    if "charset" not in content_type.lower():
        return False, True
    name = http_content_type_encoding(content_type)
    return True, name is not None and encoding_of(name) is not None


def _declares_known(body: bytes) -> bool:
    """Whether the charset that a page declares, if any, exists for text."""
    head = body[:_SNIFFED].lower()
    names = _META.findall(head)
    if b"encoding" in head:
        names += _XML.findall(head)
    if all(encoding_of(name.decode("latin-1")) for name in names):
        return True
    name = html_body_declared_encoding(body)
    return name is None or encoding_of(name) is not None
