"""The schema is brought up to date by numbered SQL files, applied in order, forward only.

An applied file is never edited; a correction is a new file. All missing files are applied in one
transaction under an advisory lock, so that many processes may call `migrate` at once and a failure
leaves the schema unchanged. No statement needs a session, so PgBouncer may stand in between.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Sequence
from importlib import resources

import attrs
import psycopg2
from psycopg2 import extensions

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import MigrationError
from scrapy_seine.sinks.postgres.database import (
    connected,
    line_of,
    outages,
    transaction,
)
from scrapy_seine.sinks.postgres.lock_waits import lock_waits_logged

logger = logging.getLogger(__name__)

_LOCK = (7366450, 1)
#: A table that a migration makes and keeps; "CREATE TEMP TABLE" is none.
_MADE = re.compile(r"^CREATE TABLE (\w+) \(", re.MULTILINE)
#: By a type of the migrations: types, as PostgreSQL prints them, that keep each of its values or
#: refuse it, which is noticed. `integer` or `numeric(10,2)` stores another price without an error.
_TEXTS = ("text", "character varying")
_KEEPING = {
    "numeric": ("numeric", *_TEXTS),
    "double precision": ("double precision", "numeric", *_TEXTS),
    "timestamptz": ("timestamp with time zone", *_TEXTS),
    "text": _TEXTS,
}
_STATEMENT = re.compile(r"^(?:CREATE|ALTER) TABLE (\w+)\b(.*?);$", re.MULTILINE | re.DOTALL)
_COLUMN = re.compile(rf"(?:^ +|ADD COLUMN )(\w+) +({'|'.join(_KEEPING)})\b(?!\[)", re.MULTILINE)
_LENGTH = re.compile(r"^(character varying)\(\d+\)$")
_TABLE = """
    CREATE TABLE IF NOT EXISTS seine_migrations (
        name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())
"""

#: Tables without which a worker still stores what its pages show.
_HELPFUL = {
    *("accepted_doubts", "archive", "attempts", "crawls"),
    *("dead_ends", "jobs", "quality", "site_templates"),
}


@attrs.frozen(eq=False, repr=False)
class Migration(Value):
    """One numbered file."""

    name: str
    sql: str

    @property
    def digest(self) -> str:
        """SHA-256 of the SQL, to detect a file that was edited after it was applied."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def available() -> list[Migration]:
    """Return the files of this package in their order."""
    files = [
        entry for entry in resources.files(__package__).iterdir() if entry.name.endswith(".sql")
    ]
    return [
        Migration(entry.name.removesuffix(".sql"), entry.read_text("utf-8"))
        for entry in sorted(files, key=lambda entry: entry.name)
    ]


def migrate(database_url: str) -> list[str]:
    """Bring the schema up to date; return the names that were applied, in order.

    Raises:
        StoreUnreachable: the database does not answer.
        MigrationError: a file fails, or differs from the one applied under its name.
    """
    try:
        with (
            outages(),
            connected(database_url) as connection,
            lock_waits_logged(database_url, connection),
            connection,
            connection.cursor() as cursor,
        ):
            return _apply(cursor)
    except psycopg2.Error as error:
        raise MigrationError(f"migration failed: {line_of(error)}") from None


def pending(database_url: str) -> list[str]:
    """Return the names that `migrate` would apply; the database is only read.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('seine_migrations') IS NOT NULL")
        digests = _applied(cursor) if (cursor.fetchone() or [False])[0] else {}
    return [migration.name for migration in available() if migration.name not in digests]


def missing_tables(database_url: str) -> list[str]:
    """Return the tables that applied migrations made, and that are gone.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        return _missing_tables(cursor, available())


def _missing_tables(cursor: extensions.cursor, migrations: Sequence[Migration]) -> list[str]:
    made = sorted({name for migration in migrations for name in _MADE.findall(migration.sql)})
    cursor.execute(
        "SELECT name FROM unnest(%s) name WHERE to_regclass(quote_ident(name)) IS NULL", (made,)
    )
    return [name for (name,) in cursor]


def rounding_columns(database_url: str) -> list[str]:
    """Return the columns whose type was changed so that values are rounded or cut, with the type.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        return _rounding_columns(_Columns(cursor, available()))


def missing_columns(database_url: str) -> list[str]:
    """Return the columns that applied migrations made in a table that is there, and that are gone.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        return _missing_columns(_Columns(cursor, available()))


class _Columns:
    """The columns that migrations made, of types that are read, and those that are there."""

    def __init__(self, cursor: extensions.cursor, migrations: Sequence[Migration]) -> None:
        self.made = {
            (table, column): kind
            for migration in migrations
            for table, columns in _STATEMENT.findall(migration.sql)
            for column, kind in _COLUMN.findall(columns)
        }
        cursor.execute(
            "SELECT t.name, a.attname, format_type(a.atttypid, a.atttypmod) FROM unnest(%s) AS"
            " t(name) JOIN pg_attribute a ON a.attrelid = to_regclass(quote_ident(t.name))"
            " WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY t.name, a.attnum",
            (sorted({table for table, _ in self.made}),),
        )
        self.found: list[tuple[str, str, str]] = cursor.fetchall()


def _rounding_columns(columns: _Columns) -> list[str]:
    made = columns.made
    return [
        f"{table}.{column} ({kind}, made as {made[table, column]})"
        for table, column, kind in columns.found
        if (table, column) in made and _LENGTH.sub(r"\1", kind) not in _KEEPING[made[table, column]]
    ]


def _missing_columns(columns: _Columns) -> list[str]:
    found = {(table, column) for table, column, _ in columns.found}
    tables = {table for table, _ in found}
    gone = sorted(place for place in columns.made if place[0] in tables and place not in found)
    return [f"{table}.{column}" for table, column in gone]


def prepare(database_url: str, is_embedded: bool) -> None:
    """Migrate the embedded database; for any other, check that it is up to date.

    Raises:
        StoreUnreachable: the database does not answer.
        MigrationError: the database is not up to date, a table or column is gone, or a migration
            fails.
    """
    if is_embedded:
        for name in migrate(database_url):
            logger.info("applied migration %s", name)
    elif names := pending(database_url):
        raise MigrationError(f"the database lacks {', '.join(names)}; run `scrapy migrate` first")
    migrations = available()
    with transaction(database_url) as connection, connection.cursor() as cursor:
        missing_names = _missing_tables(cursor, migrations)
        columns = _Columns(cursor, migrations)
    missing_parts = {"table": missing_names, "column": _missing_columns(columns)}
    for part, missing in missing_parts.items():
        if names := [name for name in missing if name.partition(".")[0] not in _HELPFUL]:
            raise MigrationError(
                f"the database has lost the {part} {', '.join(names)}, and no migration makes it "
                "again; restore it from a backup, or empty the schema and run `scrapy migrate`"
            )
    if rounding := _rounding_columns(columns):
        logger.warning("values are rounded or cut by the type of %s", ", ".join(rounding))


def _apply(cursor: extensions.cursor) -> list[str]:
    cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", _LOCK)
    # Otherwise the server would send a notice on every start that the table exists.
    cursor.execute("SET LOCAL client_min_messages = warning")
    cursor.execute(_TABLE)
    digests, names = _applied(cursor), []
    for migration in available():
        if migration.name not in digests:
            _run(cursor, migration)
            names.append(migration.name)
        elif digests[migration.name] != migration.digest:
            raise MigrationError(
                f"{migration.name} was edited after it was applied; write a new file instead"
            )
    return names


def _applied(cursor: extensions.cursor) -> dict[str, str]:
    cursor.execute("SELECT name, digest FROM seine_migrations")
    return dict(cursor.fetchall())


def _run(cursor: extensions.cursor, migration: Migration) -> None:
    try:
        with outages():
            cursor.execute(migration.sql)
    except psycopg2.Error as error:
        raise MigrationError(f"{migration.name} failed: {line_of(error)}") from None
    cursor.execute(
        "INSERT INTO seine_migrations (name, digest) VALUES (%s, %s)",
        (migration.name, migration.digest),
    )
