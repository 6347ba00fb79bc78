"""The schema is brought up to date by numbered SQL files, applied in order, forward only.

A file that was applied is never edited; a correction is a new file. All missing files are applied
in one transaction under an advisory lock, so that many processes may call `migrate` at once and a
failure leaves the schema as it was. Nothing here needs a session: PgBouncer may sit between.
"""

from __future__ import annotations

import hashlib
import logging
from importlib import resources

import attrs
import psycopg2
from psycopg2 import extensions

from scrapy_seine.errors import MigrationError
from scrapy_seine.records import Value
from scrapy_seine.sinks.postgres.database import (
    connected,
    interruptible_statements,
    line_of,
    outages,
    transaction,
)
from scrapy_seine.sinks.postgres.lock_waits import lock_waits_told

logger = logging.getLogger(__name__)

_LOCK = (7366450, 1)
_TABLE = """
    CREATE TABLE IF NOT EXISTS seine_migrations (
        name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())
"""


@attrs.frozen(eq=False, repr=False)
class Migration(Value):
    """One numbered file."""

    name: str
    sql: str

    @property
    def digest(self) -> str:
        """What tells an edited file from the one that was applied."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def available() -> list[Migration]:
    """Return the files of this package in their order."""
    found = [
        entry for entry in resources.files(__package__).iterdir() if entry.name.endswith(".sql")
    ]
    return [
        Migration(entry.name.removesuffix(".sql"), entry.read_text("utf-8"))
        for entry in sorted(found, key=lambda entry: entry.name)
    ]


def migrate(database_url: str) -> list[str]:
    """Bring the schema up to date; returns the names applied now, in order.

    Raises:
        StoreUnreachable: the database does not answer.
        MigrationError: a file fails, or differs from what was applied under its name.
    """
    try:
        with (
            outages(),
            connected(database_url) as connection,
            interruptible_statements(),
            lock_waits_told(database_url, connection),
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
    with (
        transaction(database_url) as connection,
        lock_waits_told(database_url, connection),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT to_regclass('seine_migrations') IS NOT NULL")
        known = _applied(cursor) if (cursor.fetchone() or [False])[0] else {}
    return [migration.name for migration in available() if migration.name not in known]


def prepare(database_url: str, own: bool) -> None:
    """Bring a database of our own up to date; of any other, make sure that it is.

    Raises:
        StoreUnreachable: it does not answer.
        MigrationError: it is not up to date, or cannot be brought there.
    """
    if own:
        for name in migrate(database_url):
            logger.info("applied migration %s", name)
    elif missing := pending(database_url):
        raise MigrationError(f"the database lacks {', '.join(missing)}; run `scrapy migrate` first")


def _apply(cursor: extensions.cursor) -> list[str]:
    cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", _LOCK)
    # The server would note on every start that the table is there already.
    cursor.execute("SET LOCAL client_min_messages = warning")
    cursor.execute(_TABLE)
    known, done = _applied(cursor), []
    for migration in available():
        if migration.name not in known:
            _run(cursor, migration)
            done.append(migration.name)
        elif known[migration.name] != migration.digest:
            raise MigrationError(
                f"{migration.name} was edited after it was applied; write a new file instead"
            )
    return done


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
