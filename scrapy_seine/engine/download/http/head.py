"""Makes the head of a request and parses that of an answer; pure functions.

Both follow Scrapy's own client: names are written as browsers write them, the host comes last, and
an answer's head is parsed leniently, as by browsers: lines may end in LF alone, a status needs no
text, and a line without a colon is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import ParseResult

import attrs

from scrapy_seine.attrs_bases import Value

_TARGET = re.compile(r"[\x21-\x7e]+")
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_STATUS = re.compile(rb"[1-9]\d\d")
_VERSION = re.compile(rb"[A-Za-z]+/\d{1,3}\.\d{1,3}")

#: Names that are not written as Title-Case.
_SPELLING = {
    b"Content-Md5": b"Content-MD5",
    b"Dnt": b"DNT",
    b"Etag": b"ETag",
    b"P3p": b"P3P",
    b"Te": b"TE",
    b"Www-Authenticate": b"WWW-Authenticate",
    b"X-Xss-Protection": b"X-XSS-Protection",
}

#: Headers about the connection, not the page; Scrapy's own client drops them as well.
_OF_CONNECTION = frozenset(
    {
        b"content-length",
        b"connection",
        b"keep-alive",
        b"te",
        b"trailers",
        b"transfer-encoding",
        b"upgrade",
        b"proxy-connection",
    }
)

#: Transfer encodings that pack a body; any other name but `chunked` says nothing (`binary`).
_PACKING = frozenset({b"gzip", b"x-gzip", b"deflate", b"compress", b"x-compress", b"br", b"zstd"})

#: Statuses whose answers have no body.
_BODILESS = frozenset({204, 304})
_NO_CONTENT = 204
#: Statuses of interim answers, and the one among them after which no HTTP follows.
_INTERIM, _SWITCHING = range(100, 200), 101


class BadAnswer(Exception):
    """The received bytes are no HTTP answer."""


def request_head(
    method: str, parts: ParseResult, headers: Iterable[tuple[bytes, list[bytes]]], length: int
) -> bytes:
    """Make a request's head; *length* is the length of its body, bytes.

    Raises:
        ValueError: the method, the path or a header's name cannot be written.
    """
    verb, target = method.encode(), _target(parts)
    if not _TOKEN.fullmatch(verb) or not _TARGET.fullmatch(target):
        raise ValueError(f"cannot be asked for: {method!r} {target!r}")
    lines = [b"%b %b HTTP/1.1" % (verb, target.encode())]
    if length or method in ("POST", "PUT"):
        lines.append(b"Content-Length: %d" % length)
    hosts = 0
    for name, values in headers:
        if name != b"Content-Length":
            spelled = _SPELLING.get(name, name)
            lines += [b"%b: %b" % (spelled, value) for value in values]
            hosts += name == b"Host"
    if not hosts:
        lines.append(b"Host: " + _without_port(parts).encode())
    head = b"\r\n".join(lines)
    if head.count(b"\n") + head.count(b"\r") != 2 * len(lines) - 2:
        head = b"\r\n".join(_harmless(line) for line in lines)
    return head + b"\r\n\r\n"


def _target(parts: ParseResult) -> str:
    path = parts.path or "/"
    if parts.params:
        path = f"{path};{parts.params}"
    return f"{path}?{parts.query}" if parts.query else path


def _without_port(parts: ParseResult) -> str:
    return parts.netloc.removesuffix(":443" if parts.scheme == "https" else ":80")


def _harmless(line: bytes) -> bytes:
    """Remove line breaks, so that a value cannot become another header."""
    name, colon, value = line.partition(b": ")
    if len(name.splitlines()) > 1:
        raise ValueError(f"no name of a header: {name!r}")
    return name + colon + b" ".join(value.splitlines())


@attrs.frozen(slots=True, eq=False, repr=False)
class Head(Value):
    """An answer's head."""

    status: int
    protocol: str
    """For instance `HTTP/1.1`."""
    fields: list[tuple[bytes, bytes]]
    """Headers in their order; of those about the connection, only the length."""
    length: int | None
    """Bytes of the body; None if the head has no length."""
    chunked: bool
    keeps: bool
    """Whether the connection may be used again."""

    @property
    def interim(self) -> bool:
        """Whether the final answer is still to come."""
        return self.status in _INTERIM


def answer_head(block: bytes, method: str) -> Head:
    """Parse an answer's head, up to the empty line that ends it; *method* is the request's.

    Raises:
        BadAnswer: it is no HTTP head, or other bytes than HTTP follow it.
    """
    lines = block.split(b"\n")
    protocol, status = _status(lines[0].removesuffix(b"\r"))
    if status == _SWITCHING:  # the final answer would never come
        raise BadAnswer("HTTP 101: the server switches to another protocol than HTTP")
    fields: list[tuple[bytes, bytes]] = []
    control: dict[bytes, list[bytes]] = {}
    for name, value in _fields(lines):
        lower = name.lower()
        if lower not in _OF_CONNECTION or (method == "HEAD" and lower == b"content-length"):
            fields.append((name, value))
        if lower in _OF_CONNECTION:
            control.setdefault(lower, []).append(value)
    coding_list = b",".join(control.get(b"transfer-encoding", ())).lower().split(b",")
    codings = {word.strip() for word in coding_list}
    if packing := codings & _PACKING:
        raise BadAnswer(f"unknown transfer encoding {min(packing)!r}")
    chunked = b"chunked" in codings
    length = None if chunked else _length(control.get(b"content-length", []))
    if method == "HEAD" or status in _BODILESS:
        length, chunked = 0, False
    if length is not None and method != "HEAD":
        fields.insert(0, (b"Content-Length", b"%d" % length))
    keeps = _keeps(protocol, control) and not _is_unclear(status, control)
    return Head(status, protocol, fields, length, chunked, keeps)


def _is_unclear(status: int, control: dict[bytes, list[bytes]]) -> bool:
    """Whether the server may see another end of the body: then the connection is not reused.

    RFC 9112, 6.1: with both headers, the connection is closed after the answer.
    """
    coded, length = b"transfer-encoding" in control, control.get(b"content-length", [b"0"])
    return (coded and (b"content-length" in control or status in _BODILESS)) or (
        status == _NO_CONTENT and length != [b"0"]
    )


def _status(line: bytes) -> tuple[str, int]:
    version, _, status = line.partition(b" ")
    number = status.partition(b" ")[0]
    if not _VERSION.fullmatch(version) or not _STATUS.fullmatch(number):
        raise BadAnswer(f"no status line: {line[:80]!r}")
    return version.decode(), int(number)


def _fields(lines: list[bytes]) -> Iterable[tuple[bytes, bytes]]:
    lines_of_field = [b""]
    for line in [*lines[1:], b""]:
        if line[:1] in (b" ", b"\t"):  # a continuation of the header before
            lines_of_field[-1] = lines_of_field[-1].removesuffix(b"\r")
            lines_of_field.append(line)
            continue
        name, colon, value = (
            lines_of_field[0] if len(lines_of_field) == 1 else b"".join(lines_of_field)
        ).partition(b":")
        if colon:
            yield name.strip(), value.strip()
        lines_of_field = [line]


def _length(values: list[bytes]) -> int | None:
    """Return the body's length; None if there is none, or what stands there is no number."""
    if not values:
        return None
    texts = {value.strip() for value in b",".join(values).split(b",")}
    lengths = {int(text) if text.isdigit() and len(text) < 20 else None for text in texts}  # noqa: PLR2004
    if len(lengths) > 1:
        raise BadAnswer("two lengths of one body")
    return lengths.pop()


def _keeps(protocol: str, control: dict[bytes, list[bytes]]) -> bool:
    options = b",".join(control.get(b"connection", ())).lower()
    if protocol == "HTTP/1.1":
        return b"close" not in options
    return b"keep-alive" in options
