"""Seeds and stored requests that nobody should send, and why: hundreds, most of them generated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgpack

from scrapy_seine import meta as m
from scrapy_seine.frontier.encoding.codec import VERSION, encode
from scrapy_seine.frontier.model import header_of

PAGE = "http://127.0.0.1:9/p/1"
HOST = "127.0.0.1:9"
#: Values of which each key takes few.
VALUES: tuple[Any, ...] = (
    "x",
    "",
    "30",
    "a\nb",
    "\ud800",
    "x" * 5000,
    -1,
    -1.5,
    10**30,
    1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
    True,
    [],
    ["a", 1, None],
    {},
    {"wait_s": "long"},
    None,
)


def _nested(depth: int) -> str:
    return '{"url":"http://a.example/","meta":{"a":' + '{"a":' * depth + "1" + "}" * (depth + 2)


#: Seeds by what the reason says of them.
NAMED_SEEDS: dict[str, str] = {
    "http://a:99999/": "ort",
    "http://a:-1/": "ort",
    "http://a:abc/": "ort",
    _nested(500): "nested",
    _nested(50_000): "nested",
    "123": "int",
    "-7": "int",
    "[]": "list",
    "{}": "no url",
    "{": "JSON",
    '{"url": 5}': "no url",
    '{"url": null}': "no url",
    '{"url": "file:///etc/passwd"}': "http",
    "file:///etc/passwd": "http",
    "ftp://a/b": "http",
    "data:,x": "http",
    "javascript:alert(1)": "http",
    "//a/b": "http",
    "http://": "no host",
    "http:///x": "no host",
    "http://a b/": "white space",
    "http://[::1": "URL",
    "http://[zz]/": "",
    "http://a_b..c/": "host",
    "http://" + "a" * 70_000 + "/": "longer",
    "http://a/" + "x" * 5000: "longer",
    '{"url": "http://a/", "meta": 5}': "meta is no object",
    '{"url": "http://a/", "headers": "X"}': "headers is no object",
    '{"url": "http://a/", "headers": {"X": "a\\r\\nHost: b"}}': "line break",
    '{"url": "http://a/", "headers": {"X\\r\\nY": "a"}}': "",
    '{"url": "http://a/", "cookies": 5}': "cookies is no object",
    '{"url": "http://a/", "priority": "high"}': "priority",
    '{"url": "http://a/", "priority": 1.5}': "priority",
    '{"url": "http://a/", "priority": true}': "priority",
    '{"url": "http://a/", "method": "GET / HTTP/1.1\\r\\nX: y"}': "method",
    '{"url": "http://a/\\ud800"}': "",
    '{"url": "http://a/", "meta": {"own": "\\ud800"}}': "cannot be stored",
    '{"url": "http://a/", "meta": {"own": ' + "[" * 300 + "]" * 300 + "}}": "",
    '{"url": "http://a/", "meta": {"own": 123456789012345678901234567890}}': "cannot be stored",
    '{"url": "http://a/", "meta": {"_auth_proxy": "x"}}': "meta._auth_proxy",
    '{"url": "http://a/", "meta": {"_any": "x"}}': "meta._any",
    '{"url": "http://a/", "own": "' + "x" * (1 << 20) + '"}': "bytes long",
    " ": "",
    "\x00": "",
    "http://\x00/": "",
}


def seeds() -> Iterator[tuple[bytes, str]]:
    """Yield seeds that must be rejected, with what the reason must say."""
    for text, reason in NAMED_SEEDS.items():
        yield text.encode(), reason
    yield b"\xff\xfe", "not UTF-8"
    yield b'{"url": "http://a/\xff"}', "not UTF-8"
    for key in m.TABLE.values():
        for value in VALUES:
            allowed = key.set_by == m.SEED and key.range.allows(value)
            if allowed or key.name.endswith("*"):
                continue
            text = json.dumps({"url": PAGE, "meta": {key.name: value}})
            yield text.encode(), f"meta.{key.name}"


def good_seeds(n: int) -> Iterator[bytes]:
    """Yield seeds that must enter, in all forms that scrapy-redis and this project know."""
    for i in range(n):
        url = f"http://127.0.0.1:9/good/{i}"
        forms: list[dict[str, Any]] = [
            {"url": url},
            {"url": url, "meta": {"own": {"a": [1, None, "x"]}, "delay": 0.5, "depth": 0}},
            {"url": url, "method": "post", "q": "lamp", "tags": ["a", "b"]},
            {"url": url, "cookies": {"a": "b"}, "headers": {"X-A": "b"}, "priority": 3},
            {"url": url, "meta": {"lane": "plain", "max_retries": 2, "download_timeout": 30}},
            {"url": url, "meta": {"handle_httpstatus_list": [404], "job_id": "j:1", "proxy": None}},
        ]
        yield url.encode() if i % 7 == 6 else json.dumps(forms[i % 7]).encode()


def deep(n: int, kind: int = 1) -> bytes:
    """Pack a tuple in a tuple, *n* times."""
    value: Any = 1
    for _ in range(n):
        value = msgpack.ExtType(kind, msgpack.packb([value]))
    return bytes(msgpack.packb({"url": PAGE, "meta": {"v": value}}))


def _fields(**more: Any) -> bytes:
    return VERSION + bytes(msgpack.packb({"url": PAGE, **more}))


def stored(callbacks: tuple[str, ...] = ()) -> Iterator[bytes]:
    """Yield stored requests, as Redis keeps them, that must become dead letters.

    *callbacks* are further names that the spider does not offer.
    """
    head = header_of(0, HOST) + b"\n"
    yield from (b"", b"\n", b"x", b"1\n", b"0 " + HOST.encode(), b"\xff \xff\n" + _fields())
    yield b"4000 \xff\xfe\n" + _fields()
    yield b"4000 " + HOST.encode() + b" job\xff\n" + _fields()
    yield b"4000 other.example\n" + _fields()
    for blob in (
        b"",
        b"{",
        b"\xc1\xff",
        b"\x00",
        VERSION,
        b"\x02",
        b"\x02" + b"x" * 30,
        b"\x03abc",
    ):
        yield head + blob
    for n in (65, 200, 400, 2000):
        yield head + VERSION + deep(n)
        yield head + VERSION + deep(n, 2)
        yield head + VERSION + msgpack.packb({"url": PAGE})[:-1] + b"\x91" * n
    whole = encode({"url": PAGE, "meta": {"own": [1, {"a": b"x"}]}, "headers": {b"A": [b"b"]}})
    yield from (head + whole[:end] for end in range(1, len(whole), 3))
    yield head + VERSION + bytes(msgpack.packb({"url": PAGE, "meta": {"x": "y" * (5 << 20)}}))
    names = ("_set_crawler", "__init__", "__class__", "close", "closed", "start", "from_crawler")
    names += ("make_request_from_data", "_from_object", "_parse", "logger", "custom_settings")
    names += ("update_settings", "limits_of", "knows", "setup_redis", "spider_idle", "crawler.stop")
    for name in (*names, "site_of", "identities", "plans", "_request", "_left_site", *callbacks):
        yield head + _fields(callback=name)
        yield head + _fields(errback=name)
    for value in (5, None, [], b"parse", {"a": 1}, "", "parse\x00", "ｐarse"):
        yield head + _fields(callback=value)
    for scheme in ("file:///etc/passwd", "data:,x", "s3://b/k", "ftp://a/", "FILE:///etc/passwd"):
        yield b"4000 \n" + VERSION + bytes(msgpack.packb({"url": scheme}))
        yield head + VERSION + bytes(msgpack.packb({"url": scheme}))
    for url in (
        "http://a:99999/",
        "http://",
        "http://[",
        "",
        " ",
        "x" * 9999,
        "http://127.0.0.1:9@e/",
    ):
        yield head + VERSION + bytes(msgpack.packb({"url": url}))
    wrong: dict[str, tuple[Any, ...]] = {
        "meta": (5, "x", [1], [["a", 1]]),
        "headers": (5, "x", [1], {b"A": 5}, {b"A": [b"a\r\nB: c"]}, {b"A\nB": [b"c"]}, {5: [b"a"]}),
        "method": (5, b"GET", "GET / HTTP/1.1", "GET\r\n", "", None, []),
        "cb_kwargs": (5, "x", [1]),
        "priority": ("x", 1.5, None, []),
        "body": (5, [1], {"a": 1}),
        "encoding": (5, "no-such", []),
        "flags": (5,),
        "_class": ("os.system", "scrapy.cmdline.execute", "scrapy.http.Response", 5, [], "scrapy."),
        "self": (1,),
        "cls": ("x",),
        "no_such_field": (1,),
    }
    for name, values in wrong.items():
        for value in values:
            yield head + _fields(**{name: value})
    for key in m.TABLE.values():
        for value in VALUES:
            packed = value not in (10**30, "\ud800")  # what msgpack can hold
            if packed and key.travels and not key.range.allows(value):
                yield head + _fields(meta={key.name: value})
    for handler in ("_set_crawler", "close", 5):
        yield head + _fields(meta={m.EVENT_HANDLERS: {"dialog": handler}})
