"""Answers that are not by the book: what browsers, llhttp and the own client make of each.

The table of docs/http-client.md is written from this list by a test; so are the examples that the
fuzz test begins with. Browsers: Chromium's net/http (http_stream_parser, http_response_headers) and
Firefox's nsHttpTransaction, as their behaviour is known (neither was run for this table); llhttp:
version 9 with its strict defaults.
"""

from __future__ import annotations

import attrs

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@attrs.frozen
class Row:
    """One oddity."""

    name: str
    raw: bytes
    browsers: str
    llhttp: str
    ours: str
    """`page`: the body is b"page"; `empty`: there is none; `bad`: BadAnswer; `cut`: CutShort."""
    keeps: bool
    """Whether the connection is used again."""
    why: str


TABLE = [
    Row("lines end in LF alone", b"HTTP/1.1 200 OK\nContent-Length: 4\n\npage",
        "take", "refuse", "page", True, "old servers and scripts write so"),
    Row("no reason after the status", b"HTTP/1.1 200\r\nContent-Length: 4\r\n\r\npage",
        "take", "take", "page", True, "the reason says nothing"),
    Row("a line without a colon", OK + b"what\r\nContent-Length: 4\r\n\r\npage",
        "pass over", "refuse", "page", True, "the other headers are sound"),
    Row("a header that goes on in the next line",
        OK + b"X: a\r\n b\r\nContent-Length: 4\r\n\r\npage",
        "take", "refuse", "page", True, "was allowed until RFC 7230"),
    Row("blanks before the colon", OK + b"Content-Length : 4\r\n\r\npage",
        "take", "refuse", "page", True, "else the body has no end"),
    Row("equal lengths, twice", OK + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\npage",
        "take", "refuse", "page", True, "RFC 9110, 8.6 allows it"),
    Row("a list of equal lengths", OK + b"Content-Length: 4, 4\r\n\r\npage",
        "take", "refuse", "page", True, "RFC 9110, 8.6 allows it"),
    Row("different lengths", OK + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\npages",
        "refuse", "refuse", "bad", False, "nobody knows where the body ends"),
    Row("a length with a sign", OK + b"Content-Length: +4\r\n\r\npage",
        "refuse or ignore", "refuse", "page", False, "as without a length"),
    Row("a negative length", OK + b"Content-Length: -4\r\n\r\npage",
        "refuse or ignore", "refuse", "page", False, "as above"),
    Row("a length that is no number", OK + b"Content-Length: 4 bytes\r\n\r\npage",
        "refuse or ignore", "refuse", "page", False, "as above"),
    Row("a length without a value", OK + b"Content-Length:\r\n\r\npage",
        "ignore", "refuse", "page", False, "as above"),
    Row("a number and no number as lengths", OK + b"Content-Length: 4, x\r\n\r\npage",
        "refuse or ignore", "refuse", "bad", False, "as with different lengths"),
    Row("no length at all", OK + b"\r\npage",
        "read to the end", "read to the end", "page", False, "RFC 9112, 6.3"),
    Row("chunks and a length",
        OK + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n",
        "chunks count", "refuse", "page", False, "chunks count; the connection is closed after"),
    Row("chunked, twice",
        OK + b"Transfer-Encoding: chunked\r\n" + CHUNKED[len(OK):] + b"4\r\npage\r\n0\r\n\r\n",
        "take", "refuse", "page", True, "a framework and the proxy before it each write one"),
    Row("a transfer encoding that is none",
        OK + b"Transfer-Encoding: binary\r\nContent-Length: 4\r\n\r\npage",
        "refuse or ignore", "read to the end", "page", False, "it changes no byte of the page"),
    Row("another transfer encoding", OK + b"Transfer-Encoding: gzip\r\n\r\npage",
        "refuse or ignore", "read to the end", "bad", False, "nobody sends it on purpose"),
    Row("gzip, then chunked",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n",
        "chunks count, gzip stays", "take", "bad", False, "the page would be packed still"),
    Row("extensions of chunks", CHUNKED + b'4;a=b;c="d"\r\npage\r\n0;x\r\n\r\n',
        "pass over", "pass over", "page", True, "RFC 9112, 7.1.1"),
    Row("blanks around a chunk's length", CHUNKED + b" 4 \r\npage\r\n0\r\n\r\n",
        "take", "refuse", "page", True, "old servers pad lengths"),
    Row("a chunk's length with 0x", CHUNKED + b"0x4\r\npage\r\n0\r\n\r\n",
        "refuse", "refuse", "cut", False, "it is no length"),
    Row("a chunk's length with a sign", CHUNKED + b"-4\r\npage\r\n0\r\n\r\n",
        "refuse", "refuse", "cut", False, "it is no length"),
    Row("a chunk longer than it said", CHUNKED + b"2\r\npage\r\n0\r\n\r\n",
        "refuse", "refuse", "cut", False, "what came before is kept as cut off"),
    Row("trailers", CHUNKED + b"4\r\npage\r\n0\r\nX: y\r\nZ: y\r\n\r\n",
        "pass over", "take", "page", True, "RFC 9112, 7.1.2; none of them becomes a header"),
    Row("answers before the answer",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
        + OK + b"Content-Length: 4\r\n\r\npage",
        "pass over", "take", "page", True, "up to 256 KB of heads in all"),
    Row("a body where none may be", b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\npage",
        "pass over, close", "pass over", "empty", False, "the body would be the next answer"),
    Row("more than was said", OK + b"Content-Length: 4\r\n\r\npage HTTP/1.1 200 OK\r\n\r\n",
        "pass over, close", "the next answer", "page", False, "it would be the next answer"),
    Row("HTTP/0.9: no head", b"<title>page</title>",
        "take on port 80 only", "refuse", "bad", False, "anything that speaks would be a page"),
    Row("another protocol's version", b"ICY/1.0 200 OK\r\nContent-Length: 4\r\n\r\npage",
        "take ICY", "refuse", "page", False, "radio servers; the rest is HTTP/1.0"),
    Row("a status of other than three digits", b"HTTP/1.1 20 OK\r\nContent-Length: 4\r\n\r\npage",
        "refuse or read as 200", "refuse", "bad", False, "no rule is for such a status"),
    Row("blanks before the status line", b"\r\n" + OK + b"Content-Length: 4\r\n\r\npage",
        "pass over", "pass over", "page", True, "a script wrote one line too many"),
    Row("a byte order mark before the status line",
        b"\xef\xbb\xbf \n" + OK + b"Content-Length: 4\r\n\r\npage",
        "pass over", "refuse", "page", True, "the file of a script begins with it"),
    Row("NUL and bytes above 127 in a header",
        OK + b"X: \x00\xff\r\nContent-Length: 4\r\n\r\npage",
        "refuse NUL", "refuse NUL", "page", True, "it stays a value, and is written out harmless"),
]  # fmt: skip


def as_markdown() -> str:
    """The table for people."""
    lines = [
        "| what a server sends | browsers | llhttp | Seine | because |",
        "|---|---|---|---|---|",
    ]
    words = {"page": "takes", "empty": "takes, without it", "bad": "refuses", "cut": "cut off"}
    for row in TABLE:
        end = "" if row.keeps or row.ours in ("bad", "cut") else "; closes"
        cells = (row.name, row.browsers, row.llhttp, words[row.ours] + end, row.why)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
