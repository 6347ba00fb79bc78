"""Rows become CSV, JSON lines or Parquet, chunk by chunk."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import orjson

from crawler.stores.export import Column
from scrapy_seine.errors import ConfigError
from scrapy_seine.printable import escaped, printable

Chunks = Iterable[list[tuple[Any, ...]]]
#: OWASP, "CSV Injection": what begins a formula, the full-width forms in some locales as well.
_FORMULA = "=+@\uff1d\uff0b\uff20\uff0d-"
#: What may stand between a cell's begin and its formula, as one run, so that reading is linear.
_BEGIN = re.compile(f"([;\\s\"'\ufeff\u200b\x00-\x1f]+)([{_FORMULA}])?")
#: Each of these begins a cell where another separator is set.
_SEPARATORS = frozenset(";\t\n\r")
_NO_PYARROW = "Parquet needs pyarrow: pip install 'scrapy-seine[parquet]'"
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")


class Format(Protocol):
    """Writes rows to a file; returns how many there were."""

    def __call__(
        self, columns: Sequence[Column], chunks: Chunks, out: BinaryIO, *, raw: bool = False
    ) -> int:
        """Write."""


def write_csv(
    columns: Sequence[Column], chunks: Chunks, out: BinaryIO, *, raw: bool = False
) -> int:
    """Write RFC 4180 with a header line; times are ISO 8601. Returns the number of rows.

    Without *raw*, a text that a spreadsheet would calculate is written with an apostrophe in front
    (OWASP, "CSV Injection"), and control characters as U+FFFD.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow([column.name for column in columns])
    times = [i for i, column in enumerate(columns) if column.kind == "time"]
    rows = 0
    for chunk in chunks:
        made = (_iso(row, times) for row in chunk)
        writer.writerows(made if raw else map(_harmless, made))
        rows += len(chunk)
        _drain(buffer, out)
    _drain(buffer, out)
    return rows


def _iso(row: tuple[Any, ...], times: Sequence[int]) -> list[Any]:
    made = list(row)
    for i in times:
        if made[i] is not None:
            made[i] = made[i].isoformat()
    return made


def _harmless(row: list[Any]) -> list[Any]:
    return [harmless_cell(cell) if isinstance(cell, str) else cell for cell in row]


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


def _drain(buffer: io.StringIO, out: BinaryIO) -> None:
    out.write(buffer.getvalue().encode("utf-8", "replace"))
    buffer.seek(0)
    buffer.truncate()


def write_jsonl(
    columns: Sequence[Column], chunks: Chunks, out: BinaryIO, *, raw: bool = False
) -> int:
    """Write one object a line; decimals are strings, so none is rounded. Returns the number.

    Without *raw*, control characters that JSON allows as they are become escapes: nothing is lost.
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
        out.write(text if raw else escaped(text.decode()).encode())
        rows += len(chunk)
    return rows


def _nest(row: tuple[Any, ...], nested: Sequence[int]) -> Sequence[Any]:
    if not nested:
        return row
    made = list(row)
    for i in nested:
        if made[i] is not None:
            made[i] = orjson.Fragment(made[i])
    return made


def write_parquet(
    columns: Sequence[Column], chunks: Chunks, out: BinaryIO, *, raw: bool = False
) -> int:
    """Write Parquet, a row group for some chunks at a time. Returns the number of rows.

    It holds values as they are, *raw* or not: no spreadsheet calculates a typed column.

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
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
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


def _groups(chunks: Chunks, size: int = 20_000) -> Iterator[list[tuple[Any, ...]]]:
    """Larger groups: each has a header of its own in the file."""
    group: list[tuple[Any, ...]] = []
    for chunk in chunks:
        group += chunk
        if len(group) >= size:
            yield group
            group = []
    if group:
        yield group


FORMATS: dict[str, Format] = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}


def format_of(name: str, output: str) -> str:
    """Choose a format by its name, else by the file's.

    Raises:
        ConfigError: neither tells, or what writes the format is not installed.
    """
    chosen = name or Path(output).suffix.removeprefix(".").lower().replace("json", "jsonl")
    chosen = "jsonl" if chosen == "jsonll" else chosen or "csv"
    if chosen not in FORMATS:
        raise ConfigError(f"no format {chosen!r}; there is {', '.join(FORMATS)}")
    if chosen == "parquet" and find_spec("pyarrow") is None:  # said before rows are fetched for it
        raise ConfigError(_NO_PYARROW)
    return chosen


@contextmanager
def opened(output: str) -> Iterator[BinaryIO]:
    """Give the file; it has its name only once it is complete.

    Raises:
        ConfigError: it cannot be written.
    """
    if output == "-":
        if sys.__stdout__ is None:  # what stands in its place since takes rows and keeps none
            raise ConfigError("standard output is closed; add --output FILE")
        yield sys.stdout.buffer
        return
    path = Path(output)
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as out:
            yield out
        part.replace(path)
    except OSError as error:
        raise ConfigError(f"{output}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
