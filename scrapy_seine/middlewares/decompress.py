"""Answers as text can be read: unpacked, within the limits, under a charset that there is.

One that grows beyond all bounds, takes too long or cannot be unpacked is set aside, not forgotten.
"""

from __future__ import annotations

import logging
import re
from functools import lru_cache
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

from scrapy_seine.charsets import encoding_of
from scrapy_seine.engine.headers import has_header, header
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.reading.reading_limit import ReadingLimit, Unreadable
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.middlewares.packed_formats import UNPACKERS, Damaged, TooLarge, unpack

logger = logging.getLogger(__name__)

#: What browsers take a page for that names no charset (WHATWG, "Encoding sniffing algorithm").
_USUAL = "cp1252"
#: Where w3lib looks for a page's own word on its charset, and how far. Patterns of small letters
#: that begin with a word are a hundred times as quick as one for both words in any letters.
_NAME = rb"\s*+=[\s\"']*+([^\s\"'>;]{0,40}+)"
_META, _XML = re.compile(b"charset" + _NAME), re.compile(b"encoding" + _NAME)
_SNIFFED = 4096


class Unusable(IgnoreRequest):
    """A body that cannot be unpacked, and has no try left."""


class Decompress(HttpCompressionMiddleware):
    """In the place of Scrapy's own, which lets pass what it could unpack of a body."""

    inflight: InFlightTable
    limit: ReadingLimit
    most: int
    """Bytes of a body, at most; 0: no limit."""
    large: int
    """Bytes of a body from which on the log has a line; 0: none has."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read Scrapy's own settings.

        Raises:
            NotConfigured: COMPRESSION_ENABLED is off.
        """
        middleware = super().from_crawler(crawler)
        worker = worker_of(crawler)
        middleware.inflight, middleware.limit = worker.inflight, worker.limit
        middleware.most = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        middleware.large = crawler.settings.getint("DOWNLOAD_WARNSIZE")
        return middleware

    def open_spider(self, spider: Spider) -> None:
        """Take the limit that a spider names by an attribute of its own, as Scrapy does."""
        super().open_spider(spider)
        self.most = getattr(spider, "download_maxsize", self.most)
        self.large = getattr(spider, "download_warnsize", self.large)

    def process_response(  # type: ignore[override]  # Scrapy's third argument is on its way out
        self, request: Request, response: Response
    ) -> Request | Response:
        """Unpack the body within SEINE_READ_SECONDS.

        Raises:
            Unusable: it is too large, or cannot be unpacked and has no try left.
        """
        if not has_header(response, "Content-Encoding") or request.method == "HEAD":
            return _readable(response)
        named = b",".join(response.headers.getlist("Content-Encoding")).decode("latin-1")
        packed = f"its body is packed ({named[:60]})"
        most = request.meta.get("download_maxsize", self.most)
        try:
            unpacked = self.limit.call(_unpacked, response, named, most)
        except TooLarge as error:
            reason = f"{packed} and makes {error} bytes or more, DOWNLOAD_MAXSIZE is {most}"
            self.inflight.retry(request, kind="size", reason=reason)
            raise Unusable(reason) from None
        except Unreadable as error:
            entry = self.inflight.entry_of(request)
            if entry is not None:
                self.inflight.overran(entry)
            return self._again(request, "unreadable", f"unpacking: {error}")
        except ImportError as error:
            why = f"cannot be unpacked: this worker has no module for that ({error})"
            return self._again(request, "broken", f"{packed} and {why}")
        except Damaged as error:
            return self._again(request, "broken", f"{packed} and {error}")
        if self.stats and unpacked.body is not response.body:
            self.stats.inc_value("httpcompression/response_bytes", len(unpacked.body))
            self.stats.inc_value("httpcompression/response_count")
        large = request.meta.get("download_warnsize", self.large)
        if len(response.body) < large <= len(unpacked.body):
            logger.warning("%s: %s and makes %d bytes", response, packed, len(unpacked.body))
        return _readable(unpacked)

    def _again(self, request: Request, kind: str, reason: str) -> Request:
        back = self.inflight.retry(request, kind=kind, reason=reason)
        if back is None:
            raise Unusable(reason)
        return back


def _unpacked(response: Response, named: str, most: int) -> Response:
    """Unpack a body by what Content-Encoding names, the last first.

    A name that is no packing (`identity`, `none`, `UTF-8`) is passed over, as in browsers; in
    Scrapy a page that has one is no text, and cannot be read.

    Raises:
        Damaged: it is not whole, or a text was packed in a way that nobody here knows.
        TooLarge: it makes more bytes than *most*.
        ImportError: a module lacks.
    """
    kinds, body = [kind.strip().lower() for kind in named.split(",")], response.body
    for kind in reversed(kinds):
        if kind in UNPACKERS:
            body = unpack(body, kind, most)
    others = [kind for kind in kinds if kind not in UNPACKERS]
    headers = response.headers.copy()
    del headers["Content-Encoding"]
    form = responsetypes.from_args(headers=headers, url=response.url, body=body)
    is_text = issubclass(form, TextResponse)
    if others and is_text and not binary_is_text(body[:_SNIFFED]):
        raise Damaged("no decoder for that is installed")
    if others:
        headers["Content-Encoding"] = others
    anew: dict[str, Any] = {"encoding": None} if is_text else {}
    return response.replace(cls=form, headers=headers, body=body, **anew)


def _readable(response: Response) -> Response:
    """Take a text for what browsers do where it names a charset that is none."""
    if not isinstance(response, TextResponse):
        return response
    told = header(response, "Content-Type")
    has_header, is_known = _charset(told) if told else (False, True)
    if is_known and (has_header or _declares_known(response.body)):
        return response
    try:
        response.body.decode("utf-8")
    except UnicodeDecodeError:
        return response.replace(encoding=_USUAL)
    return response.replace(encoding="utf-8")


@lru_cache(maxsize=256)
def _charset(content_type: str) -> tuple[bool, bool]:
    """Whether a Content-Type names a charset, and whether what it names is one that text can have.

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
    """Whether what a page says of its charset, if anything, is one that text can have."""
    head = body[:_SNIFFED].lower()
    names = _META.findall(head)
    if b"encoding" in head:
        names += _XML.findall(head)
    if all(encoding_of(name.decode("latin-1")) for name in names):
        return True
    name = html_body_declared_encoding(body)
    return name is None or encoding_of(name) is not None
