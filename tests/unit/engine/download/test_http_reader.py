"""An answer is read the same however its bytes are split, and never beyond its end."""

from __future__ import annotations

import gc
import weakref
from itertools import pairwise

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_seine.engine.download.http.head import BadAnswer, Head
from scrapy_seine.engine.download.http.reader import (
    _MOST_LINE,
    _MOST_TRAILERS,
    MOST_HEAD,
    CutShort,
    Reader,
)
from tests.measuring import within_cpu

LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world"
CHUNKS = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5;x=y\r\nhello\r\n06\r\n world\r\n0\r\nExpires: never\r\n\r\n"
)
BARE_LF = CHUNKS.replace(b"\r\n", b"\n")
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + LENGTH
NO_BODY = b"HTTP/1.1 204 No Content\r\n\r\n"


@attrs.define
class Kept:
    """Keeps what it is given."""

    heads: list[Head] = attrs.Factory(list)
    data: bytes = b""

    def head(self, head: Head) -> None:
        self.heads.append(head)

    def body(self, data: bytes) -> None:
        assert data
        self.data += data


def read(*parts: bytes, method: str = "GET") -> tuple[Reader, Kept]:
    kept = Kept()
    reader = Reader(method, kept)
    for part in parts:
        reader.feed(part)
    return reader, kept


@given(
    st.sampled_from([LENGTH, CHUNKS, BARE_LF, INTERIM]),
    st.sets(st.integers(min_value=1, max_value=180)),
)
def test_it_does_not_matter_how_the_bytes_come(answer: bytes, cuts: set[int]) -> None:
    edges = [0, *sorted(cut for cut in cuts if cut < len(answer)), len(answer)]
    parts = [answer[a:b] for a, b in pairwise(edges)]
    reader, kept = read(*parts)
    assert (reader.done, reader.keeps, kept.data) == (True, True, b"hello world")
    assert [head.status for head in kept.heads] == [200]


@pytest.mark.parametrize("answer", [LENGTH, CHUNKS, NO_BODY])
def test_what_follows_an_answer_ends_the_connection(answer: bytes) -> None:
    reader, kept = read(answer + b"HTTP/1.1 200 OK\r\n\r\n<p>of somebody else")
    assert reader.done
    assert not reader.keeps
    assert kept.data in (b"hello world", b"")


def test_a_body_without_a_length_lasts_as_long_as_the_connection() -> None:
    reader, kept = read(b"HTTP/1.1 200 OK\r\n\r\nhello", b" world")
    assert not reader.done
    assert reader.end()
    assert reader.done
    assert kept.data == b"hello world"


@pytest.mark.parametrize("answer", [LENGTH, CHUNKS])
def test_a_body_that_ends_early_is_cut_short(answer: bytes) -> None:
    reader, kept = read(answer[:-7])
    with pytest.raises(CutShort):
        reader.end()
    assert kept.data.startswith(b"hell")


def test_a_head_that_ends_early_is_no_answer() -> None:
    with pytest.raises(BadAnswer):
        read(b"HTTP/1.1 200 OK\r\nServer")[0].end()


@pytest.mark.parametrize(
    "chunk",
    [b"zz\r\n", b"-5\r\nhello", b"0x5\r\n", b"\r\n", b"1" * 16 + b"\r\n", b"5\r\nhello!\r\n"],
)
def test_what_is_no_chunk_cuts_the_body_short(chunk: bytes) -> None:
    with pytest.raises(CutShort):
        read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)


def test_an_answer_that_switches_protocols_is_none() -> None:
    """The final answer never comes: the request waited until the download's time limit."""
    with pytest.raises(BadAnswer, match="another protocol"):
        read(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")


@pytest.mark.parametrize(
    "endless",
    [b"X: y\r\n", b"x", b"\r\nHTTP/1.1 100 Continue\r\n"],
)
def test_a_head_has_an_end(endless: bytes) -> None:
    part = b"HTTP/1.1 100 Continue\r\n" + endless * (1 + 65536 // len(endless))
    with pytest.raises(BadAnswer, match="more than"):
        read(*[part] * (2 + MOST_HEAD // len(part)))


@pytest.mark.parametrize("endless", [b"1" * 70_000, b"0\r\n" + b"X: y\r\n" * 20_000])
def test_what_stands_between_chunks_has_an_end(endless: bytes) -> None:
    with pytest.raises(CutShort, match="too long"):
        read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", endless)


def test_very_many_very_small_chunks_take_no_time() -> None:
    with within_cpu(2):
        _, kept = read(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 100_000
        )
    assert len(kept.data) == 100_000


@pytest.mark.parametrize("answer", [LENGTH, CHUNKS, LENGTH[:-3]])
def test_no_body_waits_for_the_collector(answer: bytes) -> None:
    gc.disable()
    try:
        reader, kept = read(answer)
        gone = weakref.ref(kept)
        del reader, kept
        assert gone() is None
    finally:
        gc.enable()


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(("more", "is_read"), [(0, True), (1, False)])
def test_the_line_before_a_chunk_has_a_longest_length(more: int, is_read: bool) -> None:
    line = b"5;" + b"x" * (_MOST_LINE - 2 + more)
    body = CHUNKED + line + b"\r\nhello\r\n0\r\n\r\n"
    if is_read:
        reader, kept = read(body)
        assert (reader.done, kept.data) == (True, b"hello")
        return
    with pytest.raises(CutShort, match="between two chunks"):
        read(body)


@pytest.mark.parametrize(("more", "is_read"), [(0, True), (1024, False)])
def test_what_follows_the_last_chunk_has_a_longest_length(more: int, is_read: bool) -> None:
    line = b"A: " + b"x" * 1019 + b"\r\n"
    assert len(line) == 1024
    trailers = line * (_MOST_TRAILERS // 1024 - 1) + b"A: " + b"x" * (1017 + more) + b"\r\n"
    body = CHUNKED + b"5\r\nhello\r\n0\r\n" + trailers + b"\r\n"
    if is_read:
        reader, kept = read(body)
        assert (reader.done, reader.keeps, kept.data) == (True, True, b"hello")
        return
    with pytest.raises(CutShort):
        read(body)


@pytest.mark.parametrize("between", [b"x\r\n", b"xy", b"0\r\n"])
def test_a_chunk_that_is_longer_than_it_said_cuts_the_body_short(between: bytes) -> None:
    with pytest.raises(CutShort):
        read(CHUNKED + b"5\r\nhello" + between + b"\r\n\r\n")


def test_a_head_may_be_as_long_as_the_limit() -> None:
    begin, end = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ", b"\r\n\r\n"
    longest = begin + b"x" * (MOST_HEAD - len(begin) - len(end)) + end
    assert read(longest)[0].done
    with pytest.raises(BadAnswer, match="a head of more than"):
        read(longest.replace(b"X: ", b"X: x"))


def test_chunks_that_arrive_together_are_passed_on_in_one_call() -> None:
    """12 MB in chunks of one byte blocked the loop for as long as a download may take."""
    calls: list[bytes] = []

    class Counting:
        def head(self, head: Head) -> None: ...

        def body(self, data: bytes) -> None:
            calls.append(data)

    reader = Reader("GET", Counting())
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    reader.feed(head + b"1\r\nx\r\n" * 1000)
    with pytest.raises(CutShort):
        reader.feed(b"2\r\nab\r\nno length\r\n")
    assert calls == [b"x" * 1000, b"ab"]
