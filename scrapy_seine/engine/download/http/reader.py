"""Parses one answer from a connection's bytes as they arrive."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from scrapy_seine.engine.download.http.head import BadAnswer, Head, answer_head

#: Bytes of a head, interim answers included; browsers stop there as well.
MOST_HEAD = 1 << 18
#: Bytes of a line with a chunk's length, and of all trailers after the last chunk, at most.
_MOST_LINE, _MOST_TRAILERS = 4096, 1 << 16

#: What a script writes before the status line: blank lines, or its file's byte order mark.
_BEFORE_STATUS = b"\r\n\t \xef\xbb\xbf"
_END = re.compile(rb"\n\r?\n")
_HEX = re.compile(rb"[0-9a-fA-F]{1,15}")


class CutShort(Exception):
    """The body ended early, or its framing is invalid."""


class Sink(Protocol):
    """Receives an answer; it may raise to stop receiving."""

    def head(self, head: Head) -> None:
        """Take the head; called before any body."""

    def body(self, data: bytes) -> None:
        """Take the next part of the body."""


class Reader:
    """Parses one answer to a request of a *method*, and passes it to *sink*."""

    __slots__ = (
        "_buffered",
        "_line",
        "_parts",
        "_remaining",
        "_take",
        "began",
        "done",
        "keeps",
        "method",
        "sink",
    )

    # Consumes the next bytes. A function, not a bound method: a reference to the own reader would
    # make a cycle, and each body would be freed by the collector instead of at the page's end.
    _take: Callable[[Reader, bytes, int], int]

    def __init__(self, method: str, sink: Sink) -> None:
        self.method = method
        self.sink = sink
        self.began = False
        """Whether a byte arrived."""
        self.done = False
        self.keeps = False
        """Whether the connection may be used again after the answer."""
        self._remaining = MOST_HEAD
        self._buffered = b""
        self._line = b""
        self._parts: list[bytes] = []
        self._take = Reader._head

    def feed(self, data: bytes) -> None:
        """Parse received bytes.

        Raises:
            BadAnswer: they are no HTTP answer.
            CutShort: chunks are invalid.
            Exception: an exception of the sink.
        """
        self.began, offset = True, 0
        try:
            while offset < len(data) and not self.done:
                offset = self._take(self, data, offset)
        finally:
            # Once for all chunks that arrived together: a call costs 30 µs where a signal has
            # receivers, so that 12 MB in chunks of one byte would block the loop for a minute.
            if self._parts:
                body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
                self._parts.clear()
                self.sink.body(body)
        if offset < len(data):
            self.keeps = False  # bytes beyond the answer

    def end(self) -> bool:
        """Handle the connection's end; returns whether only that ended the answer.

        Raises:
            BadAnswer: within the head.
            CutShort: within the body.
        """
        if self._take is Reader._head:
            raise BadAnswer("the connection ended within an answer's head")
        if self._take is not Reader._body_to_end:
            raise CutShort("the connection ended within a body")
        self.done = True
        return True

    def _head(self, data: bytes, offset: int) -> int:
        before = len(self._buffered)
        # Many interim answers may arrive at once: avoid copying the rest for each.
        block, begin = (self._buffered + data[offset:], 0) if before else (data, offset)
        match = _END.search(block, max(begin, before - 2))
        size = (match.end() if match else len(block)) - begin
        if size > self._remaining:
            raise BadAnswer(f"a head of more than {MOST_HEAD} bytes")
        if match is None:
            self._buffered = block[begin:]
            return len(data)
        self._buffered = b""
        self._remaining -= size
        lines = block[begin : match.start()].lstrip(_BEFORE_STATUS)
        head = answer_head(lines, self.method) if lines else None
        if head is not None and not head.interim:
            self.keeps = head.keeps
            self._await(head)
            self.sink.head(head)
        return offset + size - before

    def _await(self, head: Head) -> None:
        if head.chunked:
            self._take = Reader._chunk_size
        elif head.length is None:
            self._take, self.keeps = Reader._body_to_end, False
        else:
            self._take, self._remaining = Reader._body_of_length, head.length
            self.done = head.length == 0

    def _body_to_end(self, data: bytes, offset: int) -> int:
        self.sink.body(data[offset:])
        return len(data)

    def _body_of_length(self, data: bytes, offset: int) -> int:
        end = min(offset + self._remaining, len(data))
        self._remaining -= end - offset
        self.sink.body(data[offset:end])
        self.done = self._remaining == 0
        return end

    def _chunk_size(self, data: bytes, offset: int) -> int:
        line, offset = self._whole_line(data, offset, _MOST_LINE)
        if line is not None:
            match = _HEX.fullmatch(line.partition(b";")[0].strip())
            if match is None:
                raise CutShort(f"no length of a chunk: {line[:40]!r}")
            self._remaining = int(match[0], 16)
            self._take = Reader._chunk_body if self._remaining else Reader._trailers
            if not self._remaining:
                self._remaining = _MOST_TRAILERS
        return offset

    def _chunk_body(self, data: bytes, offset: int) -> int:
        end = min(offset + self._remaining, len(data))
        self._remaining -= end - offset
        self._parts.append(data[offset:end])
        if not self._remaining:
            self._take = Reader._after_chunk
        return end

    def _after_chunk(self, data: bytes, offset: int) -> int:
        line, offset = self._whole_line(data, offset, 1)
        if line:
            raise CutShort("a chunk is longer than it said")
        if line is not None:
            self._take = Reader._chunk_size
        return offset

    def _trailers(self, data: bytes, offset: int) -> int:
        line, end = self._whole_line(data, offset, self._remaining)
        self._remaining -= end - offset
        self.done = line == b""
        return end

    def _whole_line(self, data: bytes, offset: int, limit: int) -> tuple[bytes | None, int]:
        """Return the line that ends in *data*, None if none does, and the next offset."""
        end = data.find(b"\n", offset)
        self._line += data[offset : len(data) if end < 0 else end]
        if len(self._line) > limit + 1:
            raise CutShort("a line between two chunks is too long")
        if end < 0:
            return None, len(data)
        line, self._line = self._line.removesuffix(b"\r"), b""
        return line, end + 1
