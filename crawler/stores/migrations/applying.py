"""The schema is brought up to date by numbered SQL files, applied in order, forward only.

An applied file is never edited; a correction is a new file. All missing files are applied in one
transaction under an advisory lock, so that many processes may call `migrate` at once and a failure
leaves the schema unchanged. No statement needs a session, so PgBouncer may stand in between.
"""

from __future__ import annotations

import logging

import psycopg2
from psycopg2 import errors, extensions

from crawler.stores.migrations.damage import Damage, applied, damage, damage_texts
from crawler.stores.migrations.files import Migration, available
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
_TABLE = """
    CREATE TABLE IF NOT EXISTS seine_migrations (
        name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())
"""

#: Tables without which a worker still stores what its pages show.
_HELPFUL = {
    *("accepted_doubts", "archive", "attempts", "crawls"),
    *("dead_ends", "jobs", "quality", "site_templates"),
}


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
    except errors.InsufficientPrivilege as error:
        raise MigrationError(
            f"migration failed: {line_of(error)}; run `scrapy migrate` as the schema's owner"
        ) from None
    except psycopg2.Error as error:
        raise MigrationError(f"migration failed: {line_of(error)}") from None


def pending(database_url: str) -> list[str]:
    """Return the names that `migrate` would apply; the database is only read.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    return list(_damage(database_url).pending)


def prepare(database_url: str, is_embedded: bool) -> None:
    """Migrate the embedded database if it lacks anything; for any other, check that it does not.

    Raises:
        StoreUnreachable: the database does not answer.
        MigrationError: the database is not up to date, a table or column is gone, or a migration
            fails.
    """
    found = _damage(database_url)
    if found.pending and is_embedded:  # else a role that may not make tables could not start
        for name in migrate(database_url):
            logger.info("applied migration %s", name)
        found = _damage(database_url)
    if found.pending:
        raise MigrationError(
            f"the database lacks {', '.join(found.pending)}; run `scrapy migrate` first"
        )
    for part, gone in {"table": found.tables, "column": found.columns}.items():
        if names := [name for name in gone if name.partition(".")[0] not in _HELPFUL]:
            raise MigrationError(
                f"the database has lost the {part} {', '.join(names)}, and no migration makes it "
                "again; restore it from a backup, or empty the schema and run `scrapy migrate`"
            )
    for text, _ in damage_texts(found):
        logger.warning("%s", text)


def _damage(database_url: str) -> Damage:
    with transaction(database_url) as connection, connection.cursor() as cursor:
        return damage(cursor)


def _apply(cursor: extensions.cursor) -> list[str]:
    cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", _LOCK)
    # Otherwise the server would send a notice on every start that the table exists.
    cursor.execute("SET LOCAL client_min_messages = warning")
    cursor.execute(_TABLE)
    digests, names = applied(cursor), []
    for migration in available():
        if migration.name not in digests:
            _run(cursor, migration)
            names.append(migration.name)
        elif digests[migration.name] != migration.digest:
            raise MigrationError(
                f"{migration.name} was edited after it was applied; write a new file instead"
            )
    return names


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
