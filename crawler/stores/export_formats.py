"""Rows become CSV, JSON lines or Parquet, chunk by chunk."""

from __future__ import annotations

import csv
import fcntl
import io
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from glob import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import orjson

from crawler.stores.export import Column
from scrapy_seine.errors import ConfigError
from scrapy_seine.printable import escaped, printable

Chunks = Iterable[list[tuple[Any, ...]]]
#: OWASP, "CSV Injection": characters that begin a formula, with the full-width forms of locales.
_FORMULA = "=+@\uff1d\uff0b\uff20\uff0d-"
#: Characters between a cell's start and its formula, matched as one run, so that time is linear.
_BEGIN = re.compile(f"([;\\s\"'\ufeff\u200b\x00-\x1f]+)([{_FORMULA}])?")
#: Characters that begin a cell in a program with another separator.
_SEPARATORS = frozenset(";\t\n\r")
_NO_PYARROW = "Parquet needs pyarrow: pip install 'scrapy-seine[parquet]'"
#: A file that was written to so recently may not be locked yet, s.
_UNLOCKED_S = 60
#: Rows of a group in a Parquet file.
_GROUP_ROWS = 20_000
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")


class Format(Protocol):
    """Writes rows to a file and returns their number."""

    def __call__(
        self, columns: Sequence[Column], chunks: Chunks, file: BinaryIO, *, raw: bool = False
    ) -> int:
        """Write."""


def write_csv(
    columns: Sequence[Column], chunks: Chunks, file: BinaryIO, *, raw: bool = False
) -> int:
    """Write RFC 4180 with a header line; times are ISO 8601. Returns the number of rows.

    Without *raw*, text that a spreadsheet would evaluate gets an apostrophe in front (OWASP, "CSV
    Injection"), and control characters become U+FFFD.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow([column.name for column in columns])
    times = [i for i, column in enumerate(columns) if column.kind == "time"]
    rows = 0
    for chunk in chunks:
        iso_rows = (_iso(row, times) for row in chunk)
        writer.writerows(iso_rows if raw else map(_harmless_row, iso_rows))
        rows += len(chunk)
        _drain(buffer, file)
    _drain(buffer, file)
    return rows


def _iso(row: tuple[Any, ...], times: Sequence[int]) -> list[Any]:
    cells = list(row)
    for i in times:
        if cells[i] is not None:
            cells[i] = cells[i].isoformat()
    return cells


def _harmless_row(row: list[Any]) -> list[Any]:
    return [harmless_cell(cell) if isinstance(cell, str) else cell for cell in row]


def harmless_cell(text: str) -> str:
    """Put an apostrophe before each start of a formula, so that no spreadsheet evaluates the cell.

    A plain number stays a number.

    >>> harmless_cell("=1+1"), harmless_cell("-5.20"), harmless_cell("a;@b"), harmless_cell("a-b")
    ("'=1+1", '-5.20', "a;'@b", 'a-b')
    """
    if _NUMBER.fullmatch(text):
        return text
    text = _BEGIN.sub(_with_apostrophe, text.replace("\r\n", "\n"))
    return printable(f"'{text}" if text[:1] and text[0] in _FORMULA else text)


def _with_apostrophe(match: re.Match[str]) -> str:
    run, sign = match.groups()
    is_formula = sign and (not match.start() or not _SEPARATORS.isdisjoint(run))
    return f"{run}'{sign}" if is_formula else match[0]


def _drain(buffer: io.StringIO, file: BinaryIO) -> None:
    file.write(buffer.getvalue().encode("utf-8", "replace"))
    buffer.seek(0)
    buffer.truncate()


def write_jsonl(
    columns: Sequence[Column], chunks: Chunks, file: BinaryIO, *, raw: bool = False
) -> int:
    """Write one object a line, decimals as strings without rounding. Returns the number of rows.

    Without *raw*, control characters that JSON allows unescaped are escaped without loss.
    """
    names = [column.name for column in columns]
    nested = [i for i, column in enumerate(columns) if column.kind == "json"]
    rows = 0
    for chunk in chunks:
        lines = [
            orjson.dumps(dict(zip(names, _nest(row, nested), strict=True)), default=str)
            for row in chunk
        ]
        text = b"\n".join(lines) + b"\n"
        file.write(text if raw else escaped(text.decode()).encode())
        rows += len(chunk)
    return rows


def _nest(row: tuple[Any, ...], nested: Sequence[int]) -> Sequence[Any]:
    if not nested:
        return row
    cells = list(row)
    for i in nested:
        if cells[i] is not None:
            cells[i] = orjson.Fragment(cells[i])
    return cells


def write_parquet(
    columns: Sequence[Column], chunks: Chunks, file: BinaryIO, *, raw: bool = False
) -> int:
    """Write Parquet with several chunks a row group. Returns the number of rows.

    *raw* changes nothing, because no spreadsheet evaluates a typed column.

    Raises:
        ConfigError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ConfigError(_NO_PYARROW) from None
    kinds = {
        "number": pa.decimal128(38, 10),
        "integer": pa.int64(),
        "float": pa.float64(),
        "time": pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema([(c.name, kinds.get(c.kind, pa.string())) for c in columns])
    rows = 0
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _groups(chunks):
            arrays = [
                pa.array(_values(column, values), type=field.type)
                for column, values, field in zip(
                    columns, zip(*group, strict=True), schema, strict=True
                )
            ]
            writer.write_table(pa.table(arrays, schema=schema))
            rows += len(group)
    return rows


def _values(column: Column, values: Sequence[Any]) -> Sequence[Any]:
    if column.kind == "text":
        return [None if value is None else str(value) for value in values]
    if column.kind == "number":
        return [None if value is None else round(Decimal(value), 10) for value in values]
    return values


def _groups(chunks: Chunks) -> Iterator[list[tuple[Any, ...]]]:
    """Join chunks into larger groups, because each row group has a header in the file."""
    group: list[tuple[Any, ...]] = []
    for chunk in chunks:
        group += chunk
        if len(group) >= _GROUP_ROWS:
            yield group
            group = []
    if group:
        yield group


FORMATS: dict[str, Format] = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}


def format_of(name: str, output: str) -> str:
    """Choose a format by its name, else by the file's suffix.

    Raises:
        ConfigError: the format is unknown, or its library is not installed.
    """
    format_name = name or Path(output).suffix.removeprefix(".").lower().replace("json", "jsonl")
    format_name = "jsonl" if format_name == "jsonll" else format_name or "csv"
    if format_name not in FORMATS:
        raise ConfigError(f"no format {format_name!r}; there is {', '.join(FORMATS)}")
    if (
        format_name == "parquet" and find_spec("pyarrow") is None
    ):  # checked before any rows are fetched
        raise ConfigError(_NO_PYARROW)
    return format_name


def _remove_leftovers(path: Path) -> None:
    """Remove what killed exports to a file left beside it: parts that no process has locked."""
    for part in path.parent.glob(f"{escape(path.name)}.{'[0-9a-f]' * 8}.part"):
        with suppress(OSError), part.open("rb") as file:  # another process removes it, too
            if time.time() - part.stat().st_mtime > _UNLOCKED_S:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()


@contextmanager
def open_output(output: str) -> Iterator[BinaryIO]:
    """Open the file for writing; it gets its name once it is complete.

    A device or a pipe is written to directly, as a file would take its place; a link stays one.

    Raises:
        ConfigError: the file cannot be written.
    """
    if output == "-":
        if sys.__stdout__ is None:  # sys.stdout is then a replacement that discards rows
            raise ConfigError("standard output is closed; add --output FILE")
        yield sys.stdout.buffer
        return
    path = Path(output)
    is_written_as_it_is = path.exists() and not path.is_file()
    path = path.resolve() if path.is_symlink() and not is_written_as_it_is else path
    # A name of its own, because two exports at once would write into each other's file.
    part = (
        path if is_written_as_it_is else path.with_name(f"{path.name}.{os.urandom(4).hex()}.part")
    )
    try:
        with part.open("wb") as file:
            if part != path:
                with suppress(OSError):  # a file system without locks: nothing is removed there
                    fcntl.flock(file, fcntl.LOCK_EX)
                _remove_leftovers(path)
            yield file
        if part != path:
            part.replace(path)
    except OSError as error:
        raise ConfigError(f"{output} cannot be written: {error.strerror}") from None
    finally:
        if part != path:
            with suppress(OSError):  # on a read-only disk
                part.unlink(missing_ok=True)
