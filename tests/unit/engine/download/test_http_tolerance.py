"""The own client's reading of odd answers is the table's, and nothing else ever comes of one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scrapy_seine.engine.download.http.connection import Connection
from scrapy_seine.engine.download.http.head import BadAnswer
from scrapy_seine.engine.download.http.reader import MOST_HEAD, CutShort, Reader
from tests.measuring import within_cpu
from tests.unit.engine.download.http_tolerance import TABLE, Row, as_markdown
from tests.unit.engine.download.test_http_reader import Kept

DOCS = Path(__file__).parents[4] / "docs" / "http-client.md"
METHODS = st.sampled_from(["GET", "HEAD", "POST"])


def outcome(raw: bytes, cuts: list[int], method: str = "GET") -> tuple[str, list[int], bytes, bool]:
    """Word, statuses, body, and whether the connection is used again, of bytes cut somewhere."""
    kept = Kept()
    reader, word, at = Reader(method, kept), "done", 0
    try:
        for cut in [*sorted({cut % (len(raw) + 1) for cut in cuts}), len(raw)]:
            if raw[at:cut] and not reader.done:
                reader.feed(raw[at:cut])
                at = cut
        if not reader.done:
            reader.end()
    except (BadAnswer, CutShort) as error:
        word = type(error).__name__
    keeps = word == "done" and reader.keeps and at == len(raw)
    return word, [head.status for head in kept.heads], kept.data, keeps


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_each_oddity_is_read_as_the_table_says(row: Row) -> None:
    word, _, body, keeps = outcome(row.raw, [])
    found = {"BadAnswer": "bad", "CutShort": "cut"}.get(word, "page" if body else "empty")
    assert (found, keeps) == (row.ours, row.keeps)
    if row.ours == "page":
        assert body == b"page"


def test_the_documents_table_is_this_one() -> None:
    assert as_markdown() in DOCS.read_text("utf-8"), "copy as_markdown() into docs/http-client.md"


PIECES = st.sampled_from(
    [piece for row in TABLE for piece in re.split(rb"(\r?\n|[ :;,])", row.raw) if piece]
    + [b"\x00", b"\xff", b"9" * 25, b"f" * 16, b"Connection: close\r\n", b"HTTP/1.1 101 x\r\n\r\n"]
)
RAW = st.one_of(
    st.lists(PIECES, max_size=30).map(b"".join),
    st.tuples(st.sampled_from([row.raw for row in TABLE]), st.binary(max_size=8),
              st.integers(0, 200)).map(lambda t: t[0][: t[2]] + t[1] + t[0][t[2] :]),
    st.binary(max_size=200),
)  # fmt: skip


def each_row(test):
    """Begin with the corpus: every row of the table."""
    for row in TABLE:
        test = example(raw=row.raw, cuts=[1, 7, 30], method="GET")(test)
    return test


@each_row
@settings(max_examples=500, deadline=None)
@given(raw=RAW, cuts=st.lists(st.integers(0, 400), max_size=12), method=METHODS)
def test_whatever_comes_is_an_answer_or_one_of_two_errors(raw, cuts, method) -> None:
    """Nor does it matter how the bytes are cut."""
    whole, cut = outcome(raw, [], method), outcome(raw, cuts, method)
    each = outcome(raw, list(range(len(raw))), method)
    assert whole[0] == cut[0] == each[0]
    assert whole[1] == cut[1] == each[1]
    assert whole[2] == cut[2] == each[2]


class Wire:
    """What a connection writes to."""

    def __init__(self) -> None:
        self.closed = False
        self.written: list[bytes] = []

    def set_write_buffer_limits(self, high: int) -> None:
        """It has none."""

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def is_closing(self) -> bool:
        return self.closed

    def abort(self) -> None:
        self.closed = True


@settings(max_examples=200, deadline=None)
@given(raw=RAW, rest=RAW, cuts=st.lists(st.integers(0, 400), max_size=6))
async def test_no_byte_of_one_answer_is_read_as_another_requests(raw, rest, cuts) -> None:
    """What comes before the next request is written is no answer to it."""
    import asyncio

    wire, connection = Wire(), Connection("127.0.0.1")
    connection.connection_made(wire)  # type: ignore[arg-type]
    answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    connection.ask(b"GET / HTTP/1.1\r\n\r\n", Reader("GET", Kept()), answered)
    data, at = raw + rest, 0
    for cut in [*sorted({cut % (len(data) + 1) for cut in cuts}), len(data)]:
        if data[at:cut] and not wire.closed:
            connection.data_received(data[at:cut])
        at = cut
    second = Kept()
    again: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    if answered.done() and connection.ask(b"GET /2 HTTP/1.1\r\n\r\n", Reader("GET", second), again):
        assert len(wire.written) == 2
    assert second.heads == []
    assert second.data == b""
    for future in (answered, again):
        if future.done():
            future.exception()


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 100 x\n\n" * (MOST_HEAD // 16),
        b"HTTP/1.1 200 OK\n" + b" x\n" * (MOST_HEAD // 4) + b"\n",
        b"HTTP/1.1 200 OK\n" + b"a:b\n" * (MOST_HEAD // 5) + b"\n",
        b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n" + b"1;x\nx\n" * 40_000,
        b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n0\n" + b"a:b\n" * 60_000,
        b"HTTP/1.1 200 OK\n" + b"Content-Length: 5\n" * 13_000 + b"\n",
        b"HTTP/1.1 200 OK\nContent-Length: " + b"5," * 120_000 + b"5\n\n",
        b"HTTP/1.1 200 OK\nTransfer-Encoding: " + b"," * 200_000 + b"\n\n",
        b"\n" * MOST_HEAD,
        b"\r" * MOST_HEAD,
    ],
    ids=["1xx", "folded", "fields", "chunks", "trailers", "lengths", "list", "codings", "lf", "cr"],
)
def test_the_time_to_read_is_linear(raw: bytes) -> None:
    """One feed of what fits a head never holds the loop long (I11); the bound has room."""
    with within_cpu(1.5):
        outcome(raw, [])
