"""Hostile HTTP answers, byte by byte."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count

from tests.benchmarks.hostile.kinds import (
    CLOSE,
    RESET,
    Answer,
    Canaries,
    Source,
    Step,
    damaged,
    gzipped,
)

BODY = (
    b"<!DOCTYPE html><title>x</title><h1>Lamp</h1><p class=price>$5</p><button>Add to cart</button>"
)
OK = b"HTTP/1.1 200 OK\r\n"
HTML = b"Content-Type: text/html\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
GOOD = OK + HTML + LENGTH + b"\r\n" + BODY
CHUNKED = b"Transfer-Encoding: chunked\r\n"

_LINES = (
    *(b"HTTP/1.1 200\r\n", b"HTTP/1.1  200 OK\r\n", b"HTTP/1.1 200 OK\n", b"HTTP/1.0 200 OK\r\n"),
    *(b"HTTP/2 200 OK\r\n", b"HTTP/9.9 200 OK\r\n", b"http/1.1 200 ok\r\n", b"ICY 200 OK\r\n"),
    *(b"HTTP/1.1 99999 X\r\n", b"HTTP/1.1 -1 X\r\n", b"HTTP/1.1 000 X\r\n", b"HTTP/1.1 abc X\r\n"),
    *(b"HTTP/1.1 600 X\r\n", b"HTTP/1.1 999 X\r\n", b"HTTP/1.1 20 OK\r\n", b"HTTP/1.1 2000 OK\r\n"),
    *(
        b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n",
        b"HTTP/1.1 200 \x1b[31m\xff\r\n",
        b"\r\n\r\n" + OK,
    ),
    *(b"\0" * 100 + b"\r\n", b"SSH-2.0-OpenSSH\r\n", b"<html>", b"", b"+OK\r\n", b"* OK IMAP\r\n"),
    *(
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"HTTP/1.1 \xb2\xb3\xb9 X\r\n",
    ),
)
_HEADERS = (
    *(
        b"Content-Length: -1\r\n",
        b"Content-Length: x\r\n",
        b"Content-Length: 1e3\r\n",
        b"Content-Length: \r\n",
    ),
    *(
        b"Content-Length: 5, 6\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Content-Length: +5\r\n",
    ),
    *(
        b"Content-Length: 99999999999999999999\r\n",
        b"Content-Length: 0x5\r\n",
        b"Content-Length: 5\0\r\n",
    ),
    *(b"Content-Length: %d\r\n" % (1 << 62), b"Content-Length: \xb2\r\n", b"Content-Length: 1\r\n"),
    *(b"Transfer-Encoding: gzip, chunked\r\n", b"Transfer-Encoding: chunked, chunked\r\n"),
    *(b"Transfer-Encoding: x\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
    *(b"Content-Encoding: gzip\r\n", b"Content-Encoding: br\r\n", b"Content-Encoding: zstd\r\n"),
    *(b"Content-Encoding: " + b"gzip, " * 1000 + b"\r\n", b"Content-Encoding: x-unknown\r\n"),
    *(b"Content-Type: \xff\xfe; charset=\0\r\n", b"Content-Type: text/html; charset=rot13\r\n"),
    *(
        b"Content-Type: text/html; charset=zlib_codec\r\n",
        b"Content-Type: text/html; charset=idna\r\n",
    ),
    *(b"Content-Type: text/html; charset=utf-7\r\n", b"Content-Type: " + b"a/" * 20_000 + b"\r\n"),
    *(
        b"X: " + b"y" * 200_000 + b"\r\n",
        b"X: y\r\n" * 20_000,
        b" folded\r\n",
        b"X: y\r\n folded\r\n",
    ),
    *(
        b"no colon\r\n",
        b": empty\r\n",
        b"X : y\r\n",
        b"X\0: y\r\n",
        b"X: a\rb\r\n",
        b"X: \x1b[31m\r\n",
    ),
    *(
        b"Set-Cookie: a=b; Domain=.; Max-Age=x; Expires=soon\r\n",
        b"Set-Cookie: " + b"a" * 99_999 + b"\r\n",
    ),
    *(
        b"Set-Cookie: a=b\r\n" * 3000,
        b"Set-Cookie: \xff=\xfe\r\n",
        b"Retry-After: 1e999\r\n",
        b"Retry-After: -1\r\n",
    ),
    *(
        b"Retry-After: nan\r\n",
        b"Retry-After: " + b"9" * 5000 + b"\r\n",
        b"Retry-After: Thu, 99 Foo 99999\r\n",
    ),
    *(
        b"ETag: \xff\r\nLast-Modified: soon\r\n",
        b"Date: \0\r\n",
        b"Link: <" * 3000 + b"\r\n",
        b"X-Robots-Tag: \xff\r\n",
    ),
    *(
        b"Connection: \xff\r\n",
        b"Connection: close, keep-alive, upgrade\r\nUpgrade: h2c\r\n",
        b"Keep-Alive: x=-1\r\n",
    ),
)
_CHUNKS = (
    *(
        b"zz\r\nx\r\n0\r\n\r\n",
        b"-5\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhello0\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"0\r\n",
    ),
    *(
        b"FFFFFFFFFFFFFFFF\r\nx",
        b"5;" + b"x" * 200_000 + b"\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
    ),
    *(
        b"5\nhello\n0\n\n",
        b"+5\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhel",
        b"0\r\n" + b"T: x\r\n" * 20_000 + b"\r\n",
    ),
    *(
        b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n",
        b"\xb2\r\nxx\r\n0\r\n\r\n",
        b" 5 \r\nhello\r\n0\r\n\r\n",
        b"5",
    ),
)
_STATUSES = (
    100,
    101,
    102,
    103,
    204,
    205,
    206,
    226,
    300,
    304,
    305,
    306,
    401,
    402,
    403,
    405,
    406,
    407,
    410,
)
_MORE_STATUSES = (
    412,
    413,
    416,
    418,
    421,
    425,
    426,
    428,
    429,
    431,
    451,
    494,
    500,
    501,
    503,
    505,
    508,
    511,
    530,
)
_REDIRECTS = (301, 302, 303, 307, 308, 300)


def answer(head: bytes, body: bytes = BODY) -> bytes:
    """A whole answer with a head of its own."""
    return OK + HTML + head + b"\r\n" + body


def sized(body: bytes, more: bytes = b"") -> bytes:
    """A whole answer with a body of its own."""
    return OK + HTML + more + b"Content-Length: %d\r\n\r\n" % len(body) + body


def answers(dice: random.Random, canaries: Canaries) -> Source:
    """Make answers."""
    fixed = [*_fixed(), *_slow(), *_encoded(), *_redirects(canaries)]
    return Source(
        [Answer(f"answer {n}", steps) for n, steps in enumerate(fixed)],
        (Answer(f"answer {n}", _generated(dice)) for n in count(9000)),
    )


def _fixed() -> Iterator[Sequence[Step]]:
    for line in _LINES:
        yield [line + HTML + LENGTH + b"\r\n" + BODY, CLOSE]
    for header in _HEADERS:
        lengthless = header.lower().startswith((b"content-l", b"transfer"))
        yield [answer(header if lengthless else header + LENGTH), CLOSE]
    for chunks in _CHUNKS:
        yield [OK + HTML + CHUNKED + b"\r\n" + chunks, CLOSE]
    for status in (*_STATUSES, *_MORE_STATUSES):
        yield [b"HTTP/1.1 %d X\r\n" % status + HTML + LENGTH + b"\r\n" + BODY]
    yield [b"HTTP/1.1 100 Continue\r\n\r\n" * 50_000 + GOOD]
    yield [b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + GOOD]
    yield [GOOD + GOOD + b"junk" * 100]
    yield [GOOD + b"HTTP/1.1 200 OK\r\n\r\nsmuggled"]
    yield [OK + b"\r\n" + b"<p>endless</p>" * 3_000_000, CLOSE]


def _slow() -> Iterator[Sequence[Step]]:
    yield [CLOSE]
    yield [RESET]
    yield [GOOD[:20], RESET]
    yield [GOOD[:-10], RESET]
    yield [GOOD[:-10], CLOSE]
    yield [OK, 60.0]
    yield [60.0]
    yield [GOOD[:-1], 60.0]
    yield [step for byte in GOOD for step in (bytes([byte]), 0.02)]
    yield [step for byte in GOOD[:40] for step in (bytes([byte]), 1.0)]
    yield [OK, *(step for n in range(60) for step in (b"X-%d: y\r\n" % n, 0.3))]
    yield [
        OK + HTML + CHUNKED + b"\r\n",
        *(step for _ in range(90) for step in (b"1\r\nx\r\n", 0.3)),
    ]
    yield [OK + HTML + b"\r\n", *(step for _ in range(60) for step in (b" ", 0.4))]


@cache  # each takes a third of a second, and every set of inputs has the same
def _bomb(size: int, window: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, window)
    block = bytes(1 << 20)
    return b"".join(packer.compress(block) for _ in range(size >> 20)) + packer.flush()


def _encoded() -> Iterator[Sequence[Step]]:
    packed = gzipped(BODY)
    bomb = _bomb(64 << 20, 31)
    gz = b"Content-Encoding: gzip\r\n"
    for body, more in (
        (bomb, gz),
        (gzipped(bomb), b"Content-Encoding: gzip, gzip\r\n"),
        (_bomb(64 << 20, 15), b"Content-Encoding: deflate\r\n"),
        (_bomb(64 << 20, -15), b"Content-Encoding: deflate\r\n"),
        (packed[:-8], gz),
        (packed[:20], gz),
        (packed * 1000, gz),
        (packed + b"junk" * 1000, gz),
        (b"\x1f\x8b" + b"\xff" * 1000, gz),
        (packed, b"Content-Encoding: br\r\n"),
        (packed, b"Content-Encoding: zstd\r\n"),
        (packed, b"Content-Encoding: gzip, br, deflate, identity\r\n"),
        (BODY, b"Content-Encoding: identity, identity\r\n"),
        (b"", gz),
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 500, b"Content-Encoding: zstd\r\n"),
    ):
        yield [sized(body, more)]


def targets(canaries: Canaries) -> list[str]:
    """Where a site may try to lead a worker."""
    port = canaries.inside[0].rpartition(":")[2]
    found = [
        f"file://{canaries.file}",
        f"FILE:{canaries.file}",
        f"file:///{canaries.file}",
        "javascript:1",
    ]
    found += [
        "data:text/html,<h1>x</h1>",
        "about:blank",
        "ftp://127.3.0.1/",
        "",
        " ",
        "http://",
        "http:///",
    ]
    found += [f"{inside}/led" for inside in canaries.inside]
    names = (
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "localhost",
        "127.0.0.1.",
        "[::ffff:127.3.0.1]",
    )
    found += [
        f"http://{name}:{port}/led"
        for name in (*names, "①②⑦.0.0.1", "127。0。0。1", "[::]", "0", "0.0.0.0")
    ]
    found += [f"//127.3.0.1:{port}/led", f"\\\\127.3.0.1:{port}\\led", f"http:127.3.0.1:{port}/led"]
    found += [
        f"http://a@127.3.0.1:{port}/led",
        f"http://x.invalid@127.3.0.1:{port}",
        f"/\\127.3.0.1:{port}/led",
    ]
    found += [
        f"http://u:{canaries.secret}@127.3.0.1:{port}/led",
        f"/ok?u={'x' * 200_000}",
        "http://[",
        "%",
    ]
    return [
        *found,
        "http://a.invalid:99999/",
        "/\x1b[31m",
        "\ud800",
        "/ok\r\nX: y",
        f"ht\ntp://127.3.0.1:{port}",
    ]


def _redirects(canaries: Canaries) -> Iterator[Sequence[Step]]:
    for number, target in enumerate(targets(canaries)):
        raw, status = target.encode("utf-8", "surrogatepass"), _REDIRECTS[number % len(_REDIRECTS)]
        yield [b"HTTP/1.1 %d X\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n" % (status, raw)]
    for target in targets(canaries)[::3]:
        raw = target.encode("utf-8", "surrogatepass")
        yield [sized(b'<meta http-equiv="refresh" content="0;url=' + raw + b'">' + BODY)]
        yield [answer(LENGTH + b"Refresh: 0;url=" + raw[:9000] + b"\r\n")]
    for way in (b"?", b"#x", b"./", b"../../", b"?x=1"):
        yield [b"HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: " + way + b"\r\n\r\n"]
    yield [b"HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: /a\r\nLocation: /b\r\n\r\n"]
    yield [b"HTTP/1.1 302 X\r\nLocation: /" + b"a" * 3_000_000 + b"\r\n\r\n"]


def _generated(dice: random.Random) -> Sequence[Step]:
    """Some start, some headers, some body; sometimes damaged, cut in pieces or cut off."""
    line = dice.choice((OK, OK, OK, *_LINES))
    heads = b"".join(dice.choice(_HEADERS) for _ in range(dice.randrange(4)))
    framing = dice.choice(
        (LENGTH, LENGTH, CHUNKED, b"", b"Content-Length: %d\r\n" % dice.randrange(5000))
    )
    body = dice.choice((BODY, BODY, dice.choice(_CHUNKS), gzipped(BODY), dice.randbytes(3000), b""))
    raw = line + HTML + heads + framing + b"\r\n" + body
    if dice.random() < 0.5:
        raw = damaged(dice, raw)
    cuts = sorted(dice.randrange(len(raw) + 1) for _ in range(dice.choice((0, 0, 1, 5))))
    steps: list[Step] = []
    for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        steps += [raw[start:end], 0.02]
    return [*steps, dice.choice((CLOSE, CLOSE, RESET))]
