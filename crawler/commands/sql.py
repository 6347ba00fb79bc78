"""`scrapy sql`: query the products' database, without psql."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg2
from psycopg2 import errors, extensions
from psycopg2.extensions import parse_dsn

from crawler.stores import store_endpoints
from crawler.stores.embedded import postgres
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


class Command(SeineCommand):
    """Runs one statement and prints its rows; without one, opens psql if it is installed."""

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
        columns, rows, status = _run(url, " ".join(args))
        if self.as_json:
            self.show("", rows=[dict(zip(columns, row, strict=True)) for row in rows])
        elif columns:
            _draw(columns, rows)
        else:
            print(status)
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


def _run(url: str, statement: str) -> tuple[list[str], Sequence[Sequence[Any]], str]:
    """Run a statement; return its columns, first rows and PostgreSQL's status message."""
    with connected(url) as connection:
        try:
            with connection, connection.cursor() as cursor:
                cursor.execute(statement)
                if cursor.description is None:
                    return [], [], str(cursor.statusmessage)
                columns = [column.name for column in cursor.description]
                return columns, cursor.fetchmany(_MAX_ROWS), str(cursor.statusmessage)
        except UnicodeEncodeError:
            raise ConfigError("the statement is no text in UTF-8; see `locale`") from None
        except psycopg2.Error as error:
            advice = f" ({NO_TABLES})" if _lacks_tables(connection, error) else ""
            raise ConfigError(f"PostgreSQL: {str(error).splitlines()[0]}{advice}") from None


def _lacks_tables(connection: extensions.connection, error: psycopg2.Error) -> bool:
    """Whether a statement names a table before the schema was made."""
    if not isinstance(error, errors.UndefinedTable):
        return False
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('seine_migrations') IS NULL")
        return bool((cursor.fetchone() or [False])[0])


def _draw(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    table = lazy_rich.Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(lazy_rich.Text(name), overflow="fold")
    for row in rows:
        table.add_row(*(lazy_rich.Text(_cell(value)) for value in row))
    lazy_rich.Console(highlight=False).print(table)
    truncated = (
        f", the first {_MAX_ROWS:,}; `scrapy export` streams them all"
        if len(rows) == _MAX_ROWS
        else ""
    )
    print(f"{len(rows):,} row{'' if len(rows) == 1 else 's'}{truncated}")


def _cell(value: Any) -> str:
    if isinstance(value, Mapping | list):
        import orjson  # loaded where a row holds JSON

        return orjson.dumps(value, default=str).decode()
    return "" if value is None else str(value)
