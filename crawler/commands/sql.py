"""`scrapy sql`: query the products' database, without psql."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import attrs
import psycopg2
from psycopg2 import errors, extensions
from psycopg2.extensions import parse_dsn

from crawler.stores import store_endpoints
from crawler.stores.embedded import postgres
from scrapy_seine.attrs_bases import Value
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.embedded.binaries import wanted_source
from scrapy_seine.errors import ConfigError
from scrapy_seine.reads import lazy_rich
from scrapy_seine.sinks.postgres.database import connected
from scrapy_seine.store_errors import NO_TABLES

#: Rows that are shown, at most; `scrapy export` streams all.
_MAX_ROWS = 1000
#: psql's environment variables, by the parameter of a connection.
_VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "options": "PGOPTIONS",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
}
#: A semicolon or parenthesis (group 3), and what may hold one that divides nothing.
_PIECES = re.compile(
    r"""(?<!\w)[eE]'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|(\$\w*\$).*?\1"""
    r"""|(--[^\n]*|/\*.*?\*/)|([;()])""",
    re.DOTALL,
)
#: Types of PostgreSQL of which Python's objects say less or something else, with their arrays: a
#: month would be 30 days, bytes an object's address.
_AS_WRITTEN = {17: 1001, 1083: 1183, 1266: 1270, 1186: 1187}
#: Python's dates lack infinity and years before 1 or after 9999; these are shown as written, too.
_DATES = {1082: 1182, 1114: 1115, 1184: 1185}
_PYTHONS_DATE = re.compile(r"\d{4}-\d\d-\d\d(?: [\d:.+-]+)?")
#: The body of a function in standard SQL, whose semicolons divide nothing either.
_ATOMIC = re.compile(r"\bBEGIN\s+ATOMIC\b", re.IGNORECASE)


@attrs.frozen(eq=False, repr=False)
class Result(Value):
    """What a statement yields."""

    columns: list[str]
    rows: Sequence[Sequence[Any]]
    """The first ones."""
    status: str
    """PostgreSQL's message."""

    @property
    def records(self) -> list[dict[str, Any]]:
        """The rows by their columns; of one name the second is `name_2`, so that none is lost."""
        names: list[str] = []
        for column in self.columns:
            spellings = (f"{column}_{n}" if n > 1 else column for n in count(1))
            names.append(next(name for name in spellings if name not in names))
        return [dict(zip(names, row, strict=True)) for row in self.rows]


class Command(SeineCommand):
    """Runs statements and prints the rows of each; without one, opens psql if it is installed."""

    summary = "Ask the products' database; without a statement, open psql"
    arguments = "[STATEMENT]"
    example = "scrapy sql 'SELECT site_id, count(*) FROM products GROUP BY site_id'"

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Run the statement, or open psql.

        Raises:
            ConfigError: the statement is wrong, or psql is not installed.
            StoreUnreachable: the database does not answer.
        """
        url = store_endpoints.endpoints(self.project, need=("postgres",)).database_url
        if not args:
            return self._open(url)
        results = _run(url, divide(" ".join(args)))
        if not self.as_json:
            for result in results:
                _show(result)
        elif len(results) == 1:
            self.show("", rows=results[0].records)
        else:
            self.show("", results=[{"rows": result.records} for result in results])
        return 0

    def _open(self, url: str) -> int:
        program = shutil.which(postgres.psql(wanted_source(self.project)))
        if program is None:
            raise ConfigError("there is no psql here; name a statement: scrapy sql 'SELECT …'")
        sys.stdout.flush()
        os.execve(program, [program], {**os.environ, **variables(url)})  # noqa: S606  # as meant


def variables(url: str) -> dict[str, str]:
    """Return a connection as psql's environment, because any user can read a process's arguments.

    >>> variables("postgresql://me:secret@db/shop")
    {'PGUSER': 'me', 'PGPASSWORD': 'secret', 'PGDATABASE': 'shop', 'PGHOST': 'db'}
    """
    return {_VARIABLES[name]: value for name, value in parse_dsn(url).items() if name in _VARIABLES}


def divide(text: str) -> list[str]:
    """Divide a text into its statements, because psycopg2 returns the rows of the last one only.

    >>> divide("SELECT ';'; SELECT 2; -- done")
    ["SELECT ';'", ' SELECT 2']
    >>> divide(""), divide("SELECT $a$ ; $a$ /* ; */")
    ([''], ['SELECT $a$ ; $a$ /* ; */'])
    >>> divide("CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT (2)); SELECT 3")
    ['CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT (2))', ' SELECT 3']
    """
    if _ATOMIC.search(text):
        return [text]
    ends: list[int] = []
    depth = 0
    for piece in _PIECES.finditer(text):
        depth = max(0, depth + {"(": 1, ")": -1}.get(piece[3], 0))
        if piece[3] == ";" and not depth:  # a rule has several statements in parentheses
            ends.append(piece.start())
    starts = [0, *(end + 1 for end in ends)]
    parts = [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]
    return [part for part in parts if not _is_blank(part)] or [text]


def _is_blank(statement: str) -> bool:
    return not _PIECES.sub(lambda piece: "" if piece[2] else piece[0], statement).strip()


def _keep_as_written(connection: extensions.connection) -> None:
    """Read values that Python's objects would change as the text that PostgreSQL writes."""
    for oid, array in {**_AS_WRITTEN, **_DATES}.items():
        reader = _reader(extensions.string_types[oid] if oid in _DATES else None)
        one = extensions.new_type((oid,), "AS_WRITTEN", reader)
        extensions.register_type(one, connection)
        many = extensions.new_array_type((array,), "AS_WRITTEN[]", one)
        extensions.register_type(many, connection)


def _reader(dates: Any) -> Callable[[Any, extensions.cursor], Any]:
    """Return a function that reads a date by *dates*, if it is one of Python's; else the text."""

    def read(text: Any, cursor: extensions.cursor) -> Any:
        is_date = dates and text and _PYTHONS_DATE.fullmatch(text)
        return dates(text, cursor) if is_date else text

    return read


def _run(url: str, statements: Sequence[str]) -> list[Result]:
    """Run statements in one transaction."""
    with connected(url) as connection:
        _keep_as_written(connection)
        try:
            with connection, connection.cursor() as cursor:
                return [_result(cursor, statement) for statement in statements]
        except UnicodeEncodeError:
            raise ConfigError("the statement is no text in UTF-8; see `locale`") from None
        except psycopg2.Error as error:
            advice = f" ({NO_TABLES})" if _lacks_tables(connection, error) else ""
            raise ConfigError(f"PostgreSQL: {str(error).splitlines()[0]}{advice}") from None


def _result(cursor: extensions.cursor, statement: str) -> Result:
    cursor.execute(statement)
    if cursor.description is None:
        return Result([], [], str(cursor.statusmessage))
    columns = [column.name for column in cursor.description]
    return Result(columns, cursor.fetchmany(_MAX_ROWS), str(cursor.statusmessage))


def _lacks_tables(connection: extensions.connection, error: psycopg2.Error) -> bool:
    """Whether a statement names a table before the schema was made."""
    if not isinstance(error, errors.UndefinedTable):
        return False
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('seine_migrations') IS NULL")
        return bool((cursor.fetchone() or [False])[0])


def _show(result: Result) -> None:
    if not result.columns:
        print(result.status)
        return
    table = lazy_rich.Table(box=None, pad_edge=False, header_style="bold")
    for name in result.columns:
        table.add_column(lazy_rich.Text(name), overflow="fold")
    for row in result.rows:
        table.add_row(*(lazy_rich.Text(_cell(value)) for value in row))
    lazy_rich.Console(highlight=False).print(table)
    truncated = (
        f", the first {_MAX_ROWS:,}; `scrapy export` streams them all"
        if len(result.rows) == _MAX_ROWS
        else ""
    )
    rows = len(result.rows)
    print(f"{rows:,} row{'' if rows == 1 else 's'}{truncated}")


def _cell(value: Any) -> str:
    if isinstance(value, Mapping | list):
        import orjson  # loaded where a row holds JSON

        return orjson.dumps(value, default=str).decode()
    return "" if value is None else str(value)
