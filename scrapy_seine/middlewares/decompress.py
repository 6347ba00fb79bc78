"""Answers as text can be read: unpacked, within the limits, under a charset that there is.

One that grows beyond all bounds, takes too long or cannot be unpacked is set aside, not forgotten.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.response.text import TextResponse
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from scrapy_seine.charsets import encoding_of
from scrapy_seine.engine.headers import has_header, header
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.reading.reading_limit import ReadingLimit, Unreadable
from scrapy_seine.engine.worker import worker_of

#: What browsers take a page for that names no charset (WHATWG, "Encoding sniffing algorithm").
_USUAL = "cp1252"
#: Where w3lib looks for a page's own word on its charset, and how far. Patterns of small letters
#: that begin with a word are a hundred times as quick as one for both words in any letters.
_NAME = rb"\s*+=[\s\"']*+([^\s\"'>;]{0,40}+)"
_META, _XML = re.compile(b"charset" + _NAME), re.compile(b"encoding" + _NAME)
_SNIFFED = 4096


class Decompress(HttpCompressionMiddleware):
    """Scrapy's own, which raises where DOWNLOAD_MAXSIZE is passed: the page would count as done."""

    inflight: InFlightTable
    limit: ReadingLimit

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read Scrapy's own settings.

        Raises:
            NotConfigured: COMPRESSION_ENABLED is off.
        """
        middleware = super().from_crawler(crawler)
        worker = worker_of(crawler)
        middleware.inflight, middleware.limit = worker.inflight, worker.limit
        return middleware

    def process_response(  # type: ignore[override]  # Scrapy's third argument is on its way out
        self, request: Request, response: Response
    ) -> Request | Response:
        """Unpack the body within SEINE_READ_SECONDS.

        Raises:
            IgnoreRequest: it is too large, or cannot be unpacked and has no try left.
        """
        found = has_header(response, "Content-Encoding")
        packed = response.headers.getlist("Content-Encoding") if found else []
        if not packed:
            return _readable(response)
        try:
            unpacked = self.limit.call(super().process_response, request, response)
        except IgnoreRequest as error:
            self.inflight.retry(request, kind="size", reason=str(error))
            raise
        except Unreadable as error:
            entry = self.inflight.entry_of(request)
            if entry is not None:
                self.inflight.overran(entry)
            return self._again(request, "unreadable", f"unpacking: {error}")
        except Exception as error:  # whatever zlib, brotli and the like raise
            name = b", ".join(packed).decode("latin-1")[:60]
            why = f"{type(error).__name__}: {error}"
            if isinstance(error, ImportError):
                why = f"this worker has no module for that ({error})"
            reason = f"its body is packed ({name}) and cannot be unpacked: {why}"
            return self._again(request, "broken", reason)
        if isinstance(unpacked, Response) and is_cut_off(packed, response.body, unpacked.body):
            name = packed[0].decode("latin-1")[:60]
            return self._again(request, "broken", f"its body is packed ({name}) and is cut off")
        return _readable(unpacked) if isinstance(unpacked, Response) else unpacked

    def _again(self, request: Request, kind: str, reason: str) -> Request:
        back = self.inflight.retry(request, kind=kind, reason=reason)
        if back is None:
            raise IgnoreRequest(reason)
        return back


def is_cut_off(packed: Sequence[bytes], body: bytes, text: bytes) -> bool:
    """Whether a packed body ends before its end: what could be unpacked lacks the rest.

    Browsers show such a page as far as it goes; its links would be lost. One that closes what it
    opened is whole, though its packing lacks a checksum.

    >>> from gzip import compress
    >>> whole = compress(b"<ul><li>a<li>b")
    >>> [is_cut_off([b"gzip"], whole[:n], b"<ul>") for n in (len(whole), -12)]
    [False, True]
    """
    kind = packed[0].strip().lower().removeprefix(b"x-") if len(packed) == 1 else b""
    if kind not in _ENDS_EARLY or not text:
        return False
    if kind == b"gzip" and int.from_bytes(body[-4:], "little") == len(text) & 0xFFFFFFFF:
        return False
    tail = text[-_TAIL:].lower()
    if b"</html" in tail or b"</body" in tail:
        return False
    try:
        return _ENDS_EARLY[kind](body)
    except Exception:  # whatever zlib and brotli raise: what was unpacked is no less for it
        return False


def _gzip_ends_early(body: bytes) -> bool:
    for _ in range(_MOST_MEMBERS):
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
        unpacker.decompress(body)
        if not unpacker.eof:
            return True
        body = unpacker.unused_data
        if not body.startswith(b"\x1f\x8b"):
            break
    return False


def _deflate_ends_early(body: bytes) -> bool:
    for bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        unpacker = zlib.decompressobj(bits)
        try:
            unpacker.decompress(body)
        except zlib.error:
            continue
        return not unpacker.eof
    return False


def _brotli_ends_early(body: bytes) -> bool:
    brotli: Any = import_module("brotli")
    unpacker = brotli.Decompressor()
    unpacker.process(body)
    return not unpacker.is_finished()


_ENDS_EARLY: dict[bytes, Callable[[bytes], bool]] = {
    b"gzip": _gzip_ends_early,
    b"deflate": _deflate_ends_early,
    b"br": _brotli_ends_early,
}
#: Where a page closes what it opened, bytes; members of one gzip that are looked at.
_TAIL, _MOST_MEMBERS = 1024, 16


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
