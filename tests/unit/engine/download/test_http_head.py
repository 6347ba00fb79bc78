"""Heads of requests and answers, as bytes and back."""

from __future__ import annotations

from urllib.parse import urlparse

import pytest
from scrapy.http import Headers

from scrapy_seine.engine.download.http.head import BadAnswer, answer_head, request_head


def asked(url: str, headers: dict[str, str] | None = None, method: str = "GET", length: int = 0):
    fields = Headers(headers or {}).items()
    return request_head(method, urlparse(url), fields, length)


@pytest.mark.parametrize(
    ("url", "first", "host"),
    [
        ("http://a.example", b"GET / HTTP/1.1", b"a.example"),
        ("http://a.example:80/x", b"GET /x HTTP/1.1", b"a.example"),
        ("https://a.example:443/x", b"GET /x HTTP/1.1", b"a.example"),
        ("http://a.example:443/x", b"GET /x HTTP/1.1", b"a.example:443"),
        ("http://a.example:8080/x", b"GET /x HTTP/1.1", b"a.example:8080"),
        ("http://[::1]:81/x;p?q=1&r#f", b"GET /x;p?q=1&r HTTP/1.1", b"[::1]:81"),
        ("http://a.example?q", b"GET /?q HTTP/1.1", b"a.example"),
    ],
)
def test_a_url_is_a_path_and_a_host(url: str, first: bytes, host: bytes) -> None:
    assert asked(url) == first + b"\r\nHost: " + host + b"\r\n\r\n"


def test_headers_keep_their_order_and_the_host_comes_last() -> None:
    headers = {"Accept": "*/*", "dnt": "1", "User-Agent": "me"}
    lines = asked("http://a.example/", headers).split(b"\r\n")
    assert lines[1:5] == [b"Accept: */*", b"DNT: 1", b"User-Agent: me", b"Host: a.example"]


def test_a_host_of_ones_own_stays_where_it_is() -> None:
    lines = asked("http://127.0.0.1/", {"Host": "a.example:80", "Accept": "*/*"}).split(b"\r\n")
    assert lines[1:] == [b"Host: a.example:80", b"Accept: */*", b"", b""]


def test_a_body_says_its_length_once() -> None:
    head = asked("http://a.example/", {"Content-Length": "7"}, "POST", 3)
    assert head.count(b"Content-Length") == 1
    assert b"\r\nContent-Length: 3\r\n" in head
    assert b"\r\nContent-Length: 0\r\n" in asked("http://a.example/", method="POST")
    assert b"Content-Length" not in asked("http://a.example/")


def test_a_value_cannot_become_a_header() -> None:
    head = asked("http://a.example/", {"Cookie": "a=1\r\nX-Evil: 1\nX-Worse: 2"})
    assert b"\r\nCookie: a=1 X-Evil: 1 X-Worse: 2\r\n" in head


@pytest.mark.parametrize(
    ("method", "url", "headers"),
    [
        ("GET", "http://a.example/a b", {}),
        ("GET", "http://a.example/ä", {}),
        ("GET /x HTTP/1.1\r\nHost: b", "http://a.example/", {}),
        ("GET", "http://a.example/", {"X\r\nY": "1"}),
    ],
)
def test_what_cannot_be_written_is_refused(method: str, url: str, headers: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"cannot be asked for|no name"):
        asked(url, headers, method)


def head(text: bytes, method: str = "GET"):
    return answer_head(text, method)


def test_a_head_is_read_as_it_is() -> None:
    found = head(
        b"HTTP/1.1 200 OK\r\nServer: x\r\nSet-Cookie: a=1\r\nset-cookie:b=2 \r\n"
        b"Content-Length: 5\r\nConnection: keep-alive"
    )
    assert (found.status, found.protocol, found.length, found.keeps) == (200, "HTTP/1.1", 5, True)
    assert found.fields == [
        (b"Content-Length", b"5"),
        (b"Server", b"x"),
        (b"Set-Cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
    ]


def test_a_head_is_read_leniently() -> None:
    found = head(b"HTTP/1.1 200\nServer: x\nno colon here\nX-Long: a\n\tb\nX : y\r")
    assert found.status == 200
    assert found.fields == [(b"Server", b"x"), (b"X-Long", b"a\tb"), (b"X", b"y")]
    assert found.length is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"<html>",
        b"HTTP/1.1",
        b"HTTP/1.1 OK",
        b"HTTP/1.1 -20 OK",
        b"ICY 200 OK",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked",
    ],
)
def test_what_is_no_answer_is_refused(text: bytes) -> None:
    with pytest.raises(BadAnswer):
        head(text)


@pytest.mark.parametrize("length", [b"-5", b"1_0", b"", b"9" * 20])
def test_a_length_that_is_no_number_is_none(length: bytes) -> None:
    """Browsers read such a body to the connection's end."""
    head = answer_head(b"HTTP/1.1 200 OK\r\nContent-Length: " + length, "GET")
    assert (head.length, head.chunked) == (None, False)


def test_one_length_may_be_said_twice() -> None:
    assert head(b"HTTP/1.1 200 OK\r\nContent-Length: 5, 05\r\nContent-Length: 5").length == 5


def test_chunks_count_where_a_length_is_said_too() -> None:
    found = head(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: Chunked")
    assert found.chunked
    assert found.length is None


@pytest.mark.parametrize(("status", "method"), [(204, "GET"), (304, "GET"), (200, "HEAD")])
def test_some_answers_have_no_body(status: int, method: str) -> None:
    found = head(b"HTTP/1.1 %d x\r\nContent-Length: 5" % status, method)
    assert found.length == 0
    said = dict(found.fields)[b"Content-Length"]
    assert said == (b"5" if method == "HEAD" else b"0")


@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        (b"HTTP/1.1 200 OK", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Close", False),
        (b"HTTP/1.0 200 OK", False),
        (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive", True),
    ],
)
def test_whether_the_connection_may_be_used_again(text: bytes, keeps: bool) -> None:
    assert head(text).keeps is keeps
