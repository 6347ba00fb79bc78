"""Feeds in Apache Parquet; needs `pip install scrapy-seine[parquet]`.

The only module of the library that imports pyarrow (see the import contracts in pyproject.toml); it
is imported if a feed uses the format.
"""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from scrapy.exceptions import NotConfigured
from scrapy.exporters import PythonItemExporter

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:  # Scrapy then reports the format as unknown
    raise NotConfigured("feeds in Parquet need pyarrow: pip install pyarrow") from None

#: Types that a column stores unchanged.
_PLAIN = (
    str,
    int,
    float,
    bool,
    bytes,
    datetime.datetime,
    datetime.date,
    datetime.time,
    decimal.Decimal,
    type(None),
)
#: Containers in each other that stay as they are; deeper ones become JSON. Arrow writes schemas of
#: more than 100 levels, of which a list is two, and reads none of them again.
_DEEPEST = 20
#: Python writes no longer number as text.
_LARGEST_BITS = 10_000
#: A decimal that holds any integer of 64 bits.
_WHOLE_NUMBER = pa.decimal128(20, 0)


class ParquetItemExporter(PythonItemExporter):
    """Writes items as rows of one table, with the columns of all of them."""

    seine_kind = "parquet"

    def __init__(self, file: BytesIO, **kwargs: Any) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self.file = file
        self._rows: list[dict[str, Any]] = []

    def export_item(self, item: Any) -> dict[str | bytes, Any]:  # type: ignore[override]
        """Take an item; the table is written at the end."""
        row = super().export_item(item)
        self._rows.append({_checked(str(name)): _value(value) for name, value in row.items()})
        return row

    def _serialize_value(self, value: Any) -> Any:
        return value if isinstance(value, bytes) else super()._serialize_value(value)

    def finish_exporting(self) -> None:
        """Write the table."""
        pq.write_table(table_of(self._rows), self.file, compression="zstd")


def _value(value: Any, depth: int = 0) -> Any:
    """Convert a value to what Parquet stores: numbers, texts, times, lists and mappings.

    Raises:
        ValueError: no column can hold it. The item is refused then, and not its whole part.
    """
    if isinstance(value, dict | list | tuple | set | frozenset):
        if depth == _DEEPEST:
            return _checked(_text(list(value) if isinstance(value, set | frozenset) else value))
        if isinstance(value, dict):
            pairs = value.items()
            return {_checked(str(name)): _value(inner, depth + 1) for name, inner in pairs} or None
        return [_value(inner, depth + 1) for inner in value]
    if isinstance(value, int) and value.bit_length() > _LARGEST_BITS:
        raise ValueError(f"a number of {value.bit_length()} bits")
    return _checked(value if isinstance(value, _PLAIN) else str(value))


def _checked(value: Any) -> Any:
    if isinstance(value, str):
        value.encode()  # half of a surrogate pair has no place in any text of Parquet
    return value


def table_of(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Make a table of rows; a column whose values have no common type holds JSON texts."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    return pa.table(columns)


def _column(values: list[Any]) -> pa.Array:
    try:
        column = pa.array(values)
    except (pa.ArrowException, ValueError, OverflowError, TypeError):
        return pa.array([_text(value) for value in values], pa.string())
    if _made_bytes_of_text(column.type, values):
        return pa.array([_text(value) for value in values], pa.string())
    return column


def _made_bytes_of_text(kind: pa.DataType, values: Iterable[Any]) -> bool:
    """Whether Arrow found bytes to be the common type of texts and bytes."""
    if pa.types.is_list(kind):
        inner = (element for value in values if value is not None for element in value)
        return _made_bytes_of_text(kind.value_type, inner)
    if pa.types.is_struct(kind):
        rows = [value for value in values if value is not None]
        return any(_made_bytes_of_text(f.type, (row.get(f.name) for row in rows)) for f in kind)
    return bool(pa.types.is_binary(kind)) and any(isinstance(value, str) for value in values)


def _text(value: Any) -> str | None:
    """Write a value as text: JSON, but a plain text, a time or a decimal without its quotes.

    >>> _text(decimal.Decimal("9.50")), _text(b"gr\\xc3\\xbcn"), _text([True, b"a"])
    ('9.50', 'grün', '[true, "a"]')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list | tuple | bool | int | float):
        return json.dumps(value, default=_text, ensure_ascii=False)
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


class _NoCommonTypeError(Exception):
    """A column has a value that its type in the joined file cannot hold."""


def schema_of(schemas: Sequence[pa.Schema], text_columns: Collection[str] = ()) -> pa.Schema:
    """Unite schemas; a column of *text_columns*, or of incompatible types, becomes text."""
    names = dict.fromkeys(name for schema in schemas for name in schema.names)
    return pa.schema(
        [
            pa.field(name, pa.string())
            if name in text_columns
            else _united([schema.field(name) for schema in schemas if name in schema.names])
            for name in names
        ]
    )


def _united(fields: Sequence[pa.Field]) -> pa.Field:
    if any(pa.types.is_decimal(field.type) for field in fields):
        # Arrow would take the decimals' own precision, in which most whole numbers have no place.
        fields = [
            field.with_type(_WHOLE_NUMBER) if pa.types.is_integer(field.type) else field
            for field in fields
        ]
    try:
        schemas = [pa.schema([field]) for field in fields]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0)
    except pa.ArrowException:
        return pa.field(fields[0].name, pa.string())


def join(sources: Sequence[tuple[Path, list[int] | None]], path_out: Path) -> None:
    """Write the chosen rows (None: all) of some files into one."""
    schemas, text_columns = [pq.read_schema(path) for path, _ in sources], set[str]()
    while True:
        try:
            _write(sources, path_out, schema_of(schemas, text_columns))
            return
        except _NoCommonTypeError as error:  # text holds any value
            text_columns.add(str(error))


def _write(
    sources: Sequence[tuple[Path, list[int] | None]], path_out: Path, schema: pa.Schema
) -> None:
    with pq.ParquetWriter(path_out, schema, compression="zstd") as writer:
        for path, rows in sources:
            for table in _tables(path, rows):
                writer.write_table(_cast(table, schema))


def _tables(path: Path, rows: list[int] | None) -> Iterator[pa.Table]:
    with pq.ParquetFile(path) as file:
        if rows is not None:
            yield file.read().take(pa.array(rows, pa.int64()))
            return
        for batch in file.iter_batches():
            yield pa.Table.from_batches([batch])


def _cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = []
    for field in schema:
        if field.name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, field.type))
            continue
        column = table.column(field.name)
        try:
            columns.append(column.cast(field.type))
        except pa.ArrowException:
            if not pa.types.is_string(field.type):
                raise _NoCommonTypeError(field.name) from None
            columns.append(pa.array([_text(value) for value in column.to_pylist()], field.type))
    return pa.table(columns, schema=schema)
