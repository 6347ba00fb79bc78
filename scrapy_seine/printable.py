"""Foreign text on its way out: to a terminal, a log line, or a spreadsheet.

What a site or a user wrote may hold characters that a terminal obeys (ESC begins its commands,
U+202E turns the direction of writing), credentials within a URL, or a cell that a spreadsheet
calculates. Each function keeps the text readable and takes the effect away.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

#: C0 but tab and line feed, DEL, C1, marks and overrides of the direction (Unicode 9.0, UAX 9),
#: line and paragraph separators, and halves of surrogate pairs, which no output can encode.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
#: OWASP, "CSV Injection": what begins a formula, the full-width forms in some locales as well.
_FORMULA = "=+@\uff1d\uff0b\uff20\uff0d-"
#: What may stand between a cell's begin and its formula, as one run, so that reading is linear.
_BEGIN = re.compile(f"([;\\s\"'\ufeff\u200b\x00-\x1f]+)([{_FORMULA}])?")
#: Each of these begins a cell where another separator is set.
_SEPARATORS = frozenset(";\t\n\r")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")


def printable(text: str) -> str:
    """Replace the characters that a terminal would obey by U+FFFD; tab and line feed stay.

    >>> printable("a\\x1b[31mb\\tc")
    'a\ufffd[31mb\\tc'
    """
    return _CONTROL.sub("\ufffd", text)


def escaped(document: str) -> str:
    """The same for JSON, without a loss: what it writes as it is becomes an escape of JSON.

    >>> escaped('{"a":"\\x9b"}')
    '{"a":"\\\\u009b"}'
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def harmless_cell(text: str) -> str:
    """A cell that no spreadsheet calculates: an apostrophe stands before what begins a formula.

    A plain number stays a number.

    >>> harmless_cell("=1+1"), harmless_cell("-5.20"), harmless_cell("a;@b"), harmless_cell("a-b")
    ("'=1+1", '-5.20', "a;'@b", 'a-b')
    """
    if _NUMBER.fullmatch(text):
        return text
    text = _BEGIN.sub(_apart, text.replace("\r\n", "\n"))
    return printable(f"'{text}" if text[:1] and text[0] in _FORMULA else text)


def _apart(found: re.Match[str]) -> str:
    run, sign = found.groups()
    begins = sign and (not found.start() or not _SEPARATORS.isdisjoint(run))
    return f"{run}'{sign}" if begins else found[0]


class PrintableStream:
    """A text stream whose text is made printable on its way out."""

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream
        """What rich writes to: its Console makes text printable by itself, and has own commands."""

    def write(self, text: str) -> int:
        """Write."""
        return self.rich_proxied_file.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Have standard output and errors written through PrintableStreams."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = PrintableStream(sys.stdout), PrintableStream(sys.stderr)
    try:
        yield
    finally:
        if sys.stdout is not None:  # the command took it away: nobody reads
            sys.stdout = before[0]
        sys.stderr = before[1]
