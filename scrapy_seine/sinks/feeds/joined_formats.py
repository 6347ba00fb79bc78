"""Writes chosen rows of parts into one file, depending on how their exporter writes rows.

`rows`: rows follow each other between a head and a foot (JSON lines, XML, pickle, a project's own).
`json`: the same with commas. `csv`: the columns of all parts. `parquet`: their schema. `packed`:
compressed by the exporter itself.
"""

from __future__ import annotations

import csv
import io
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import attrs

from scrapy_seine.errors import SeineError
from scrapy_seine.sinks.feeds import compressed_parts
from scrapy_seine.sinks.feeds.chosen_rows import Piece

#: Bytes at the end of a file in which its foot is searched.
_TAIL = 256


def write(pieces: Sequence[Piece], path: Path, base: Path | None) -> None:
    """Write the rows of *pieces* after those of *base*, a file of the same format.

    Raises:
        SeineError: rows of this format cannot be joined.
        OSError: a file cannot be read or written.
    """
    kind = pieces[0].sidecar["kind"] if pieces else "rows"
    if kind == "parquet":
        from scrapy_seine.sinks.feeds import parquet

        sources: list[tuple[Path, list[int] | None]] = [(base, None)] if base else []
        parquet.join([*sources, *((piece.path, list(piece.rows)) for piece in pieces)], path)
        return
    if kind == "opaque":
        raise SeineError("its exporter writes no row by itself, so that rows cannot be joined")
    if kind != "packed" and base is not None and compressed_parts.is_packed_file(base):
        raise SeineError("the file is compressed, its parts are not; name another by --output")
    with path.open("w+b") as file:
        if kind == "packed":
            compressed_parts.join(pieces, file, base)
        elif kind == "csv":
            with _fields_of_any_size():
                _write_csv(pieces, file, base)
        else:
            _write_rows(pieces, file, base, commas=kind == "json")


@contextmanager
def _fields_of_any_size() -> Iterator[None]:
    """Let Python's reader take what its writer wrote: a page's text may exceed its 128 KiB."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _write_rows(
    pieces: Sequence[Piece], output: IO[bytes], base: Path | None, *, commas: bool
) -> None:
    head, foot = _frame(pieces)
    line = b"\n" if commas and head.endswith(b"\n") else b""
    follows = _begin(output, base, head, foot, commas=commas)
    for piece in pieces:
        for row in piece.slices():
            if commas:
                row = row.removeprefix(b",").removeprefix(line)  # noqa: PLW2901
                output.write(b"," + line if follows else b"")
            follows = True
            output.write(row)
    output.write(foot)


def _frame(pieces: Sequence[Piece]) -> tuple[bytes, bytes]:
    """Return what precedes the first row and follows the last one."""
    if not pieces:
        return b"", b""
    data, sidecar = pieces[0].data(), pieces[0].sidecar
    return data[: sidecar["head"]], data[sidecar["ends_at"][-1] :]


def _begin(output: IO[bytes], base: Path | None, head: bytes, foot: bytes, *, commas: bool) -> bool:
    """Write what precedes the rows; returns whether the file already has rows."""
    if base is None or not base.stat().st_size:
        output.write(head)
        return False
    with base.open("rb") as file:
        shutil.copyfileobj(file, output)
    size = output.tell()
    output.seek(max(0, size - _TAIL))
    tail = output.read()
    content = tail.rstrip()
    if foot.strip() and content.endswith(foot.strip()):
        content = content[: -len(foot.strip())].rstrip()
        output.seek(size - len(tail) + len(content))
        output.truncate()
        if not commas:
            output.write(b"\n" if foot.startswith(b"\n") or head.endswith(b"\n") else b"")
    else:
        output.seek(size)
    return not (commas and content.endswith(b"[") and output.tell() <= len(head) + 1)


def _write_csv(pieces: Sequence[Piece], output: IO[bytes], base: Path | None) -> None:
    form = pieces[0].sidecar["csv"]
    if not form["headers"]:
        _write_rows(pieces, output, base, commas=False)
        return
    tables = [_Table(piece.path, form) for piece in pieces]
    before = _Table(base, form) if base is not None and base.stat().st_size else None
    names = dict.fromkeys(
        name for table in (*([before] if before else ()), *tables) for name in table.columns
    )
    columns = list(names)
    header_table = before or tables[0]
    if all(table.columns == columns for table in (header_table, *tables)):
        # The same columns everywhere: copy the exporter's bytes.
        if before is None:
            output.write(header_table.path.read_bytes()[: header_table.head])
        else:
            output.write(before.path.read_bytes())
        for piece, table in zip(pieces, tables, strict=True):
            rows = {**piece.sidecar, "head": table.head}
            output.writelines(attrs.evolve(piece, sidecar=rows).slices())
        return
    stream = io.TextIOWrapper(output, form["encoding"], newline="", write_through=True)
    writer = csv.writer(stream, **form["dialect"])
    writer.writerow(columns)
    if before is not None:
        writer.writerows(before.rows(columns, None))
    for piece, table in zip(pieces, tables, strict=True):
        writer.writerows(table.rows(columns, piece.rows))
    stream.detach()


class _Table:
    """A CSV file with a header."""

    def __init__(self, path: Path, form: dict[str, Any]) -> None:
        self.path, self._encoding = path, form["encoding"]
        # Quoting is for the writer only: the reader would convert texts to numbers.
        self._dialect = {
            name: value for name, value in form["dialect"].items() if name != "quoting"
        }
        lines: list[str] = []
        with path.open(encoding=self._encoding, newline="") as file:
            self.columns = next(csv.reader(_recorded(file, lines), **self._dialect), [])
        self.head = len("".join(lines).encode(self._encoding))

    def rows(self, columns: list[str], chosen: Sequence[int] | None) -> Iterator[list[str]]:
        """Yield the chosen rows (None: all), each with all *columns*."""
        numbers = None if chosen is None else set(chosen)
        with self.path.open(encoding=self._encoding, newline="") as file:
            reader = csv.reader(file, **self._dialect)
            next(reader, None)
            for number, row in enumerate(reader):
                if numbers is None or number in numbers:
                    values = dict(zip(self.columns, row, strict=False))
                    yield [values.get(name, "") for name in columns]


def _recorded(lines: Iterable[str], seen_lines: list[str]) -> Iterator[str]:
    for line in lines:
        seen_lines.append(line)
        yield line
