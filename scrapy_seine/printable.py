"""Makes foreign text safe for a terminal or a log line.

Text of a site or a user may contain terminal control characters (ESC begins commands, U+202E
reverses the direction of writing), and a URL in it may contain credentials. Each function keeps the
text readable, and removes the effect or the credentials.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

#: Errors of output: the reader has gone, the disk is full, or a limit is reached.
OUTPUT_ERRORS = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: C0 but tab and line feed, DEL, C1, marks and overrides of the direction (Unicode 9.0, UAX 9),
#: line and paragraph separators, and halves of surrogate pairs, which no output can encode.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)

#: What PostgreSQL's text cannot hold.
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")

#: Everything before the last @ of an authority, which clients take for user and password.
_CREDENTIALS = re.compile(r"(?<=://)[^/?#\s]*@")
#: The same where the password has a bare / or #, at which the authority seems to end: what is then
#: read as the port is no number, or there is no host. Bounded, because each of
#: many :// in a text without spaces would be searched to its end.
_TORN = re.compile(
    r"(?<=://)(?:[^/?#@\s:\"\[]{1,999}:(?!\d*[/?#])|:)[^@/?#\s\"']{0,999}[/?#][^@\s\"']{0,999}@"
)
#: A port that is no number: a password, whose URL was truncated before its @.
_CUT_OFF = re.compile(r"(?<=://)[^/?#@\s:\"\[]+:(?!\d*(?:[/?#,\"'\s]|:\s|$))[^/?#@\s\"']*")

#: libpq quotes the part of an address that it cannot decode: a password with a bare %.
_NOT_DECODED = re.compile(r'(?<=percent-encoded token: )"[^"]*"')


def printable(text: str) -> str:
    """Replace terminal control characters by U+FFFD; tab and line feed stay.

    >>> printable("a\\x1b[31mb\\tc")
    'a\ufffd[31mb\\tc'
    """
    return _CONTROL.sub("\ufffd", text)


def storable(text: str) -> str:
    """Replace NUL and halves of surrogate pairs, which PostgreSQL's text cannot hold, by U+FFFD.

    Other control characters stay, because a shop's number may hold marks of the direction.

    >>> storable("a\\0b\\ud800\\u200e") == "a\ufffdb\ufffd\u200e"
    True
    """
    return _NOT_STORABLE.sub("\ufffd", text)


def escaped(document: str) -> str:
    """Do the same for JSON, without loss: such characters become JSON escapes.

    >>> escaped('{"a":"\\x9b"}')
    '{"a":"\\\\u009b"}'
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def redact(text: str) -> str:
    """Hide the credentials of every URL in *text*.

    >>> redact("redis://user:secret@host:6379/0 http://me:p@ss@host/")
    'redis://***@host:6379/0 http://***@host/'
    >>> redact("http://user:secr http://host:80/ redis+cluster://a:1,b:2 http://[::1]:80/")
    'http://*** http://host:80/ redis+cluster://a:1,b:2 http://[::1]:80/'
    >>> redact("http://host:80: connection refused")
    'http://host:80: connection refused'
    >>> redact("redis://:a/b@host:1/0 redis://me:a#b@host/0 http://host:80/@x http://u:p@host/@x")
    'redis://***@host:1/0 redis://***@host/0 http://host:80/@x http://***@host/@x'
    >>> redact('invalid percent-encoded token: "hu%zzsh"')
    'invalid percent-encoded token: "***"'
    """
    if "percent-encoded" in text:
        text = _NOT_DECODED.sub('"***"', text)
    if "@" in text:
        text = _TORN.sub("***@", text) if "://" in text else text
        text = _CREDENTIALS.sub("***@", text)
    return _CUT_OFF.sub("***", text) if "://" in text else text


class PrintableStream:
    """A text stream that makes its text printable."""

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream
        """The stream rich writes to: its Console makes text printable itself, and adds commands."""

    def write(self, text: str) -> int:
        """Write."""
        return self.rich_proxied_file.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def open_streams() -> None:
    """Make standard streams accept any text.

    Python sets a stream to None if a shell or a supervisor closed it, and in a locale other than
    UTF-8 its stream raises at the first character that the locale lacks.
    """
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream := getattr(sys, name), TextIOWrapper) and not _is_utf8(stream):
            stream.reconfigure(errors="replace")


def _is_utf8(stream: TextIOWrapper) -> bool:
    return stream.encoding.lower().replace("-", "") == "utf8"


def discard_output() -> None:
    """Discard what standard output has buffered, because Python writes it again at exit."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Write standard output and errors through PrintableStreams."""
    open_streams()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = PrintableStream(sys.stdout), PrintableStream(sys.stderr)
    try:
        yield
    finally:
        if sys.stdout is not None:  # the command set it to None: the reader has gone
            sys.stdout = before[0]
        sys.stderr = before[1]
