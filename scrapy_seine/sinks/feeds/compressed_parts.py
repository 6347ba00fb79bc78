"""Joins the parts of an exporter that compresses by itself (gzip, bz2, xz).

Such an exporter keeps its rows in its compressor, so that their ends are unknown. The decompressed
data shows them if each row is a line: JSON lines, or CSV with or without a header. The chosen rows
are compressed again.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from scrapy_seine.errors import SeineError
from scrapy_seine.sinks.feeds.chosen_rows import Piece

#: First bytes of each format, and the module of Python that reads it.
_FORMS: tuple[tuple[bytes, Any], ...] = (
    (b"\x1f\x8b\x08", gzip),
    (b"BZh", bz2),
    (b"\xfd7zXZ\x00", lzma),
)
_LONGEST_MAGIC = max(len(magic) for magic, _ in _FORMS)
_REFUSED = "its exporter compresses rows that are no lines, so that rows cannot be joined"


def is_packed(data: bytes) -> bool:
    """Whether a part is compressed.

    >>> is_packed(gzip.compress(b"{}")), is_packed(b'{"a": 1}')
    (True, False)
    """
    return any(data.startswith(magic) for magic, _ in _FORMS)


def is_packed_file(path: Path) -> bool:
    """Whether a file is compressed."""
    with path.open("rb") as file:
        return is_packed(file.read(_LONGEST_MAGIC))


def join(pieces: Sequence[Piece], out: IO[bytes], base: Path | None) -> None:
    """Write the rows of *pieces* after the content of *base*, compressed as they were.

    Raises:
        SeineError: rows are no lines.
    """
    head, tables = _tables(pieces)
    if base is not None:  # files of these formats may be concatenated
        with base.open("rb") as before:
            shutil.copyfileobj(before, out)
    with _form(pieces[0].path.read_bytes()).open(out, "wb") as compressed:
        compressed.write(head)
        for piece, rows in zip(pieces, tables, strict=True):
            compressed.writelines(rows[row] for row in piece.rows)


def _tables(pieces: Sequence[Piece]) -> tuple[bytes, list[list[bytes]]]:
    """Return the common header of all parts, and the rows of each."""
    tables = [_lines(piece.path.read_bytes()) for piece in pieces]
    numbers = [int(piece.sidecar["rows"]) for piece in pieces]
    extra = {len(lines) - number for lines, number in zip(tables, numbers, strict=True)}
    if extra == {0}:
        return b"", tables
    heads = {lines[0] for lines in tables if lines}
    if extra != {1} or len(heads) != 1:
        raise SeineError(_REFUSED)
    return heads.pop(), [lines[1:] for lines in tables]


def _lines(data: bytes) -> list[bytes]:
    try:
        text: bytes = _form(data).decompress(data)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise SeineError(f"a part cannot be decompressed: {error}") from None
    if text and not text.endswith(b"\n"):
        raise SeineError(_REFUSED)
    return [line + b"\n" for line in text.split(b"\n")[:-1]]


def _form(data: bytes) -> Any:
    return next((module for magic, module in _FORMS if data.startswith(magic)), gzip)
