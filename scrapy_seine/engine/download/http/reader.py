"""Reads one answer out of a connection's bytes, as they come; it knows nothing of connections."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from scrapy_seine.engine.download.http.head import BadAnswer, Head, answer_head

#: Bytes of a head, interim answers included; browsers stop there as well.
MOST_HEAD = 1 << 18
#: Bytes of a line that says how long a chunk is, and of all that may follow the last chunk.
_MOST_LINE, _MOST_TRAILERS = 4096, 1 << 16

_END = re.compile(rb"\n\r?\n")
_HEX = re.compile(rb"[0-9a-fA-F]{1,15}")


class CutShort(Exception):
    """The body ended early, or nothing separates it from what follows."""


class Sink(Protocol):
    """What takes an answer; it may raise to have no more of it."""

    def head(self, head: Head) -> None:
        """Take the head; before any body."""

    def body(self, data: bytes) -> None:
        """Take the next part of the body."""


class Reader:
    """One answer to a request of a *method*, passed on to *sink*."""

    __slots__ = ("_held", "_left", "_line", "_take", "began", "done", "keeps", "method", "sink")

    # What takes the next bytes. A function, not a method: one that held its own reader would have
    # the collector, and not the page's end, free each body.
    _take: Callable[[Reader, bytes, int], int]

    def __init__(self, method: str, sink: Sink) -> None:
        self.method = method
        self.sink = sink
        self.began = False
        """Whether anything came."""
        self.done = False
        self.keeps = False
        """Whether the connection may be used again, once it is done."""
        self._left = MOST_HEAD
        self._held = b""
        self._line = b""
        self._take = Reader._head

    def feed(self, data: bytes) -> None:
        """Take what came.

        Raises:
            BadAnswer: it is no answer.
            CutShort: its chunks are none.
            Exception: whatever the sink raises.
        """
        self.began, at = True, 0
        while at < len(data) and not self.done:
            at = self._take(self, data, at)
        if at < len(data):
            self.keeps = False  # nobody asked for more

    def end(self) -> bool:
        """The connection ended. Returns whether the answer's own end is unknown.

        Raises:
            BadAnswer: within the head.
            CutShort: within the body.
        """
        if self._take is Reader._head:
            raise BadAnswer("the connection ended within an answer's head")
        if self._take is not Reader._all:
            raise CutShort("the connection ended within a body")
        self.done = True
        return True

    def _head(self, data: bytes, at: int) -> int:
        before = len(self._held)
        # Many interim answers may come at once: what follows each is not copied for it.
        held, begin = (self._held + data[at:], 0) if before else (data, at)
        found = _END.search(held, max(begin, before - 2))
        size = (found.end() if found else len(held)) - begin
        if size > self._left:
            raise BadAnswer(f"a head of more than {MOST_HEAD} bytes")
        if found is None:
            self._held = held[begin:]
            return len(data)
        self._held = b""
        self._left -= size
        head = answer_head(held[begin : found.start()], self.method)
        if not head.interim:
            self.keeps = head.keeps
            self._await(head)
            self.sink.head(head)
        return at + size - before

    def _await(self, head: Head) -> None:
        if head.chunked:
            self._take = Reader._size
        elif head.length is None:
            self._take, self.keeps = Reader._all, False
        else:
            self._take, self._left = Reader._part, head.length
            self.done = head.length == 0

    def _all(self, data: bytes, at: int) -> int:
        self.sink.body(data[at:])
        return len(data)

    def _part(self, data: bytes, at: int) -> int:
        end = min(at + self._left, len(data))
        self._left -= end - at
        self.sink.body(data[at:end])
        self.done = self._left == 0
        return end

    def _size(self, data: bytes, at: int) -> int:
        line, at = self._whole_line(data, at, _MOST_LINE)
        if line is not None:
            found = _HEX.fullmatch(line.partition(b";")[0].strip())
            if found is None:
                raise CutShort(f"no length of a chunk: {line[:40]!r}")
            self._left = int(found[0], 16)
            self._take = Reader._chunk if self._left else Reader._trailers
            if not self._left:
                self._left = _MOST_TRAILERS
        return at

    def _chunk(self, data: bytes, at: int) -> int:
        end = min(at + self._left, len(data))
        self._left -= end - at
        self.sink.body(data[at:end])
        if not self._left:
            self._take = Reader._after_chunk
        return end

    def _after_chunk(self, data: bytes, at: int) -> int:
        line, at = self._whole_line(data, at, 1)
        if line:
            raise CutShort("a chunk is longer than it said")
        if line is not None:
            self._take = Reader._size
        return at

    def _trailers(self, data: bytes, at: int) -> int:
        line, end = self._whole_line(data, at, self._left)
        self._left -= end - at
        self.done = line == b""
        return end

    def _whole_line(self, data: bytes, at: int, most: int) -> tuple[bytes | None, int]:
        """The line that ends in *data*, None if none does, and where to go on."""
        end = data.find(b"\n", at)
        self._line += data[at : len(data) if end < 0 else end]
        if len(self._line) > most + 1:
            raise CutShort("a line between two chunks is too long")
        if end < 0:
            return None, len(data)
        line, self._line = self._line.removesuffix(b"\r"), b""
        return line, end + 1
