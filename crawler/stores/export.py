"""Exports: tables stream out of PostgreSQL through a server-side cursor, in constant memory.

A condition is `field operator value`; its value is sent as a parameter, so text of a command line
never becomes SQL. Operators: = != < <= > >= and ~ (contains, ignoring case). Without a value,
= selects empty fields and != filled ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import psycopg2
from psycopg2 import errors, extensions, sql

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import ConfigError, StoreError
from scrapy_seine.misspelt_names import did_you_mean
from scrapy_seine.printable import storable
from scrapy_seine.sinks.postgres.database import transaction
from scrapy_seine.store_errors import first_line, refusal_line

_PRODUCT = (
    "site_id", "external_id", "url", "name", "price", "regular_price", "currency",
    "availability", "brand", "sku", "gtin", "mpn", "rating", "review_count", "image",
    "canonical_url", "job_id", "first_seen", "scraped_at", "updated_at", "gone_at", "confidence",
)  # fmt: skip
#: Computed fields, which are no columns of their table, as SQL.
_COMPUTED = {"confidence": sql.SQL("(item -> 'confidence')")}
#: The exportable tables: default columns, further columns, order.
TABLES: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "products": (_PRODUCT, ("item",), "site_id, external_id"),
    "product_versions": (
        ("site_id", "external_id", "field", "old", "new", "changed_at", "job_id"), ("id",), "id",
    ),
    "price_changes": (
        ("changed_at", "site_id", "external_id", "name", "currency", "old_price", "new_price",
         "percent", "url"), (), "changed_at",
    ),
    "product_addresses": (("site_id", "url", "external_id"), (), "site_id, url"),
    "doubtful": (
        ("site_id", "external_id", "field", "kind", "reason", "url", "value", "kept", "times",
         "first_at", "seen_at"), (), "seen_at",
    ),
    "rejected_items": (
        ("site_id", "job_id", "url", "reason", "code", "constraint_name", "times", "first_at",
         "rejected_at"),
        ("id", "item"), "rejected_at",
    ),
    "attempts": (
        ("at", "url", "domain", "site_id", "job_id", "task_id", "worker", "proxy_provider",
         "proxy_id", "lane", "status", "outcome", "retry", "bytes", "duration_ms"), (), "at",
    ),
}  # fmt: skip
_CONDITION = re.compile(r"\s*(\w+)\s*(!=|<=|>=|=|<|>|~)(.*)", re.DOTALL)
#: Rows that are fetched at a time.
CHUNK = 2_000


@attrs.frozen(eq=False, repr=False)
class Condition(Value):
    """One filter."""

    field: str
    operator: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read `field operator value`.

        Raises:
            ConfigError: the text is no condition.

        >>> Condition.parse("price <= 9.99")
        Condition(field='price', operator='<=', value='9.99')
        """
        match = _CONDITION.fullmatch(text)
        if match is None:
            raise ConfigError(
                f"{text[:80]!r} is no condition; write for example price<100 or site_id=demo"
            )
        return cls(match[1], match[2], storable(match[3].strip()))

    def sql(self) -> tuple[sql.Composable, list[str]]:
        """Return the condition as SQL with its parameters."""
        name = _COMPUTED.get(self.field, sql.Identifier(self.field))
        if not self.value and self.operator in {"=", "!="}:
            word = sql.SQL(" IS NULL" if self.operator == "=" else " IS NOT NULL")
            return name + word, []
        if self.operator == "~":
            escaped = re.sub(r"([\\%_])", r"\\\1", self.value)
            return name + sql.SQL("::text ILIKE %s"), [f"%{escaped}%"]
        operator = "IS DISTINCT FROM" if self.operator == "!=" else self.operator
        return name + sql.SQL(f" {operator} %s"), [self.value]


@attrs.frozen(eq=False, repr=False)
class Selection(Value):
    """The table, columns, conditions and limit of an export."""

    table: str
    columns: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    limit: int | None = None

    @classmethod
    def parse(
        cls, table: str, columns: str = "", where: Sequence[str] = (), limit: int | None = None
    ) -> Selection:
        """Read and check the options of a command line.

        Raises:
            ConfigError: an option is unknown; the message lists the known ones.
        """
        if table not in TABLES:
            suggestion = did_you_mean(table, TABLES) or f"; there is {', '.join(TABLES)}"
            raise ConfigError(f"no table {table!r} to export{suggestion}")
        if limit is not None and limit < 0:
            raise ConfigError(f"--limit {limit} is less than 0")
        default_columns, further_columns, _ = TABLES[table]
        names = tuple(filter(None, re.split(r"[\s,]+", columns))) or default_columns
        conditions = tuple(Condition.parse(text) for text in where)
        for name in (*names, *(condition.field for condition in conditions)):
            if name not in default_columns + further_columns:
                known_names = default_columns + further_columns
                suggestion = (
                    did_you_mean(name, known_names) or f"; there is {', '.join(known_names)}"
                )
                raise ConfigError(f"{table} has no field {name!r}{suggestion}")
        return cls(table, names, conditions, limit)

    def sql(self) -> tuple[sql.Composable, list[str]]:
        """Return the query with its parameters."""
        parts, values = [], []
        for condition in self.conditions:
            part, parameters = condition.sql()
            parts.append(part)
            values += parameters
        statement = sql.SQL("SELECT {} FROM {}").format(
            sql.SQL(", ").join(map(_column, self.columns)), sql.Identifier(self.table)
        )
        if parts:
            statement += sql.SQL(" WHERE ") + sql.SQL(" AND ").join(parts)
        statement += sql.SQL(f" ORDER BY {TABLES[self.table][2]}")
        if self.limit is not None:
            statement += sql.SQL(" LIMIT {}").format(sql.Literal(self.limit))
        return statement, values


def _column(name: str) -> sql.Composable:
    computed = _COMPUTED.get(name)
    if computed is None:
        return sql.Identifier(name)
    return sql.SQL("{} AS {}").format(computed, sql.Identifier(name))


@attrs.frozen(eq=False, repr=False)
class Column(Value):
    """A column of the result."""

    name: str
    kind: str
    """`number`, `integer`, `float`, `time`, `json` or `text`."""


_KINDS = {
    20: "integer", 21: "integer", 23: "integer", 700: "float", 701: "float", 1700: "number",
    1184: "time", 114: "json", 3802: "json",
}  # fmt: skip


@contextmanager
def stream(
    database_url: str, selection: Selection
) -> Iterator[tuple[list[Column], Iterator[list[tuple[Any, ...]]]]]:
    """Yield the columns and the rows in chunks, all from one snapshot.

    Raises:
        StoreUnreachable: the database does not answer.
        StoreError: the database refuses the query, for instance because it lacks the table; or the
            file's format cannot hold a value.
        ConfigError: a value does not fit its field.
    """
    query, values = selection.sql()
    try:
        with transaction(database_url) as connection:
            connection.set_session(isolation_level="REPEATABLE READ", readonly=True)
            # A named cursor: the server holds the result and sends it in chunks. JSON stays text.
            with connection.cursor("seine_export") as cursor:
                for oid in (114, 3802):
                    extensions.register_type(
                        extensions.new_type((oid,), "JSONTEXT", lambda value, _: value), cursor
                    )
                cursor.itersize = CHUNK
                cursor.execute(query, values)
                first_chunk = cursor.fetchmany(CHUNK)
                columns = [
                    Column(column.name, _KINDS.get(column.type_code, "text"))
                    for column in cursor.description or ()
                ]
                yield columns, _chunks(first_chunk, cursor)
    except (psycopg2.DataError, errors.UndefinedFunction) as error:
        raise ConfigError(f"--where: {first_line(error)}") from None
    except psycopg2.Error as error:  # for instance, a table or a permission is missing
        if (message := refusal_line(error)) is None:
            raise
        raise StoreError(message) from None
    except (ValueError, ArithmeticError) as error:  # a year BC; NaN as one of Parquet's decimals
        raise StoreError(
            f"a value cannot be written: {first_line(error)}; another --format may hold it, "
            "--where leaves its row out"
        ) from None


def _chunks(
    first_chunk: list[tuple[Any, ...]], cursor: extensions.cursor
) -> Iterator[list[tuple[Any, ...]]]:
    chunk = first_chunk
    while chunk:
        yield chunk
        chunk = cursor.fetchmany(CHUNK)
