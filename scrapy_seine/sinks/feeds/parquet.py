"""Feeds in Apache Parquet; needs `pip install scrapy-seine[parquet]`.

The only module of the library that imports pyarrow (see the import contracts in pyproject.toml); it
is imported if a feed uses the format.
"""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Iterator, Sequence
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
        self._rows.append({str(name): _value(value) for name, value in row.items()})
        return row

    def _serialize_value(self, value: Any) -> Any:
        return value if isinstance(value, bytes) else super()._serialize_value(value)

    def finish_exporting(self) -> None:
        """Write the table."""
        pq.write_table(table_of(self._rows), self.file, compression="zstd")


def _value(value: Any) -> Any:
    """Convert a value to what Parquet stores: numbers, texts, times, lists and mappings."""
    if isinstance(value, dict):
        return {str(name): _value(inner) for name, inner in value.items()} or None
    if isinstance(value, list | tuple | set | frozenset):
        return [_value(inner) for inner in value]
    return value if isinstance(value, _PLAIN) else str(value)


def table_of(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Make a table of rows; a column whose values have no common type holds JSON texts."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    return pa.table(columns)


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, ValueError, OverflowError, TypeError):
        return pa.array([_text(value) for value in values], pa.string())


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, default=str, ensure_ascii=False)


def schema_of(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Unite schemas; a column whose types are incompatible becomes text."""
    names = dict.fromkeys(name for schema in schemas for name in schema.names)
    fields = []
    for name in names:
        types = [schema.field(name) for schema in schemas if name in schema.names]
        try:
            fields.append(
                pa.unify_schemas(
                    [pa.schema([field]) for field in types], promote_options="permissive"
                ).field(0)
            )
        except pa.ArrowException:
            fields.append(pa.field(name, pa.string()))
    return pa.schema(fields)


def join(sources: Sequence[tuple[Path, list[int] | None]], path_out: Path) -> None:
    """Write the chosen rows (None: all) of some files into one."""
    schema = schema_of([pq.read_schema(path) for path, _ in sources])
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
            columns.append(pa.array([_text(value) for value in column.to_pylist()], field.type))
    return pa.table(columns, schema=schema)
