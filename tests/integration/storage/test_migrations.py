"""The schema: migrations apply once, in order, by any number of processes at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg2
import pytest
from psycopg2.extensions import parse_dsn

from crawler.reads.doctor.facts import _postgres
from crawler.stores.migrations import (
    applying,
    available,
    migrate,
    pending,
    prepare,
)
from scrapy_seine.errors import MigrationError, StoreUnreachable
from tests.helpers import execute, patient, wait_until
from tests.integration.storage.kit import lesser_role

pytestmark = pytest.mark.postgres


def test_an_empty_database_gets_each_file_once(database_url_empty: str) -> None:
    names = [migration.name for migration in available()]
    assert pending(database_url_empty) == names
    assert migrate(database_url_empty) == names
    assert migrate(database_url_empty) == []
    assert pending(database_url_empty) == []


def test_a_table_that_is_gone_ends_a_start_and_the_doctor_names_it(database: str) -> None:
    """Migrations that are applied make no table again, and a worker would wait for it."""
    prepare(database, is_embedded=False)
    execute(database, "DROP TABLE dead_ends; ALTER TABLE products RENAME TO away")
    for embedded in (False, True):
        with pytest.raises(MigrationError, match="has lost the table products, and no"):
            prepare(database, embedded)
    assert "the table dead_ends, products is gone" in {found.text for found in _postgres(database)}


def test_a_column_that_is_gone_ends_a_start_and_the_doctor_names_it(database: str) -> None:
    """The doctor found the schema up to date, and a worker waited for ten minutes."""
    execute(database, "ALTER TABLE jobs DROP COLUMN note CASCADE")
    prepare(database, is_embedded=False)  # a worker stores what pages show all the same
    execute(database, "ALTER TABLE products DROP COLUMN currency CASCADE")
    with pytest.raises(MigrationError, match=r"has lost the column products\.currency, and no"):
        prepare(database, is_embedded=False)
    told = {found.text for found in _postgres(database)}
    assert "the column jobs.note, products.currency is gone" in told


def test_a_column_whose_type_rounds_values_is_named_at_the_start_and_by_the_doctor(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A price in a column of whole numbers was stored as another price, without a word."""
    prepare(database, is_embedded=False)
    assert caplog.text == ""
    execute(
        database,
        "DROP VIEW current_products, price_changes_last_day, price_changes;"
        " ALTER TABLE products ALTER price TYPE integer, ALTER regular_price TYPE numeric(12,2),"
        " ALTER image TYPE varchar(99), ALTER rating TYPE numeric, ALTER missing_at TYPE date",
    )
    prepare(database, is_embedded=False)
    named = (
        "products.price (integer, made as numeric), products.regular_price (numeric(12,2), made as "
        "numeric), products.missing_at (date, made as timestamptz)"
    )
    assert f"rounded or cut by the type of {named}" in caplog.text
    assert f"values are rounded or cut by the type of {named}" in {
        found.text for found in _postgres(database)
    }


def test_a_trigger_that_is_disabled_or_changes_rows_is_named_at_the_start_and_by_the_doctor(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    """After a restore with --disable-triggers the history of prices ended, without a word, and a
    trigger that rounds prices stored others."""
    prepare(database, is_embedded=False)
    assert caplog.text == ""
    execute(
        database,
        "ALTER TABLE products DISABLE TRIGGER ALL; CREATE FUNCTION own() RETURNS trigger"
        " LANGUAGE plpgsql AS $$ BEGIN NEW.price = round(NEW.price); RETURN NEW; END $$;"
        " CREATE TRIGGER own BEFORE INSERT ON products FOR EACH ROW EXECUTE FUNCTION own();"
        " CREATE TRIGGER told AFTER INSERT ON products FOR EACH ROW EXECUTE FUNCTION own()",
    )
    prepare(database, is_embedded=False)
    told = {found.text for found in _postgres(database)}
    for text in (
        "this trigger is gone or disabled: products.products_note_changes",
        "may change or keep out rows before they are stored: products.own",
    ):
        assert text in caplog.text
        assert any(x.endswith(text) for x in told)
    assert "products.told" not in caplog.text


def test_a_role_that_may_make_no_table_starts_where_nothing_is_to_be_made(database: str) -> None:
    """In laptop mode with a database of one's own a worker ended with "permission denied"."""
    execute(database, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    with lesser_role(database) as url:
        prepare(url, is_embedded=True)
        execute(database, "DELETE FROM seine_migrations WHERE name LIKE '0002%'")
        with pytest.raises(MigrationError, match="run `scrapy migrate` as the schema's owner"):
            prepare(url, is_embedded=True)


def test_the_doctor_needs_one_connection_alone(database: str) -> None:
    """Each look at the schema took a second one, which a role with CONNECTION LIMIT 1 has not."""
    with lesser_role(database) as url:
        execute(database, f"ALTER ROLE {parse_dsn(url)['user']} CONNECTION LIMIT 1")
        assert {found.level for found in _postgres(url)} <= {"ok", "warn"}


def test_numbers_are_in_order_without_gaps() -> None:
    numbers = [int(migration.name.split("_")[0]) for migration in available()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_processes_that_start_together_apply_each_file_once(database_url_empty: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        applied = list(pool.map(migrate, [database_url_empty] * 8))
    assert sorted(name for names in applied for name in names) == [
        migration.name for migration in available()
    ]


def test_ctrl_c_ends_a_migration_that_waits_for_anothers(database_url_empty: str) -> None:
    """libpq waits in C, where Python hears of no signal: nothing but a kill ended it."""
    code = "from scrapy_seine.interrupts import main; main()"
    env = {**os.environ, "DATABASE_URL": database_url_empty, "SCRAPY_PROJECT": "default"}
    with closing(psycopg2.connect(database_url_empty)) as holder, holder.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", applying._LOCK)
        with subprocess.Popen(
            [sys.executable, "-c", code, "migrate"], env=env, stderr=subprocess.PIPE, text=True
        ) as process:

            def waits() -> bool:
                cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
                return bool((cursor.fetchone() or [0])[0])

            wait_until(waits, 30, "the migration waits for the lock")
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=patient(30))
    assert (process.returncode, said) == (130, "seine: stopped\n")


def test_a_database_that_goes_away_in_a_migration_is_an_outage(database_url_empty: str) -> None:
    """A worker that started while PostgreSQL was restarted ended, in place of waiting for it."""
    ended = (
        "SELECT pg_terminate_backend(pid) FROM pg_locks"
        " WHERE NOT granted AND locktype = 'advisory' AND classid = %s AND database ="
        " (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    with (
        ThreadPoolExecutor(1) as pool,
        closing(psycopg2.connect(database_url_empty)) as holder,
        holder.cursor() as cursor,
    ):
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", applying._LOCK)
        migrating = pool.submit(migrate, database_url_empty)

        def is_ended() -> bool:
            cursor.execute(ended, (applying._LOCK[0],))
            return bool(cursor.fetchall())

        wait_until(is_ended, 30, "the migration waits for the lock")
        with pytest.raises(StoreUnreachable, match="DATABASE_URL"):
            migrating.result(timeout=patient(30))


def test_an_edited_file_is_refused(database_url_empty: str) -> None:
    migrate(database_url_empty)
    with closing(psycopg2.connect(database_url_empty)) as connection, connection:
        connection.cursor().execute("UPDATE seine_migrations SET digest = 'other'")
    with pytest.raises(MigrationError, match="0001_products was edited"):
        migrate(database_url_empty)


_COLUMNS = (
    "SELECT c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod),"
    " a.attnotnull AND NOT a.atthasdef AND a.attidentity = '', c.relname"
    " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
    " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public'"
    " AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition AND a.attnum > 0"
    " AND NOT a.attisdropped"
)


def test_a_worker_of_an_older_version_goes_on_with_each_newer_schema(
    database_url_empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it reads stays, with its type; what is new in its tables need not be filled.

    Its start, which looks whether the schema lacks something, finds a newer one well.
    """
    every, before = available(), {}
    with closing(psycopg2.connect(database_url_empty)) as connection:
        connection.autocommit = True
        cursor = connection.cursor()
        for number in range(1, len(every) + 1):
            monkeypatch.setattr(
                "crawler.stores.migrations.applying.available", lambda n=number: every[:n]
            )
            assert migrate(database_url_empty) == [every[number - 1].name]
            cursor.execute(_COLUMNS)
            found = {name: (kind, needed, table) for name, kind, needed, table in cursor}
            assert {n: k for n, (k, *_) in before.items()}.items() <= {
                n: k for n, (k, *_) in found.items()
            }.items(), every[number - 1].name
            tables = {table for *_, table in before.values()}
            for name, (_, needed, table) in found.items():
                unfilled = needed and table in tables and not before.get(name, (0, False, 0))[1]
                assert not unfilled, f"{every[number - 1].name}: {name}"
            before = found
    monkeypatch.setattr("crawler.stores.migrations.applying.available", lambda: every[:10])
    assert pending(database_url_empty) == []


def test_an_unreachable_database_is_one_line_without_the_password() -> None:
    with pytest.raises(StoreUnreachable) as caught:
        migrate("postgresql://user:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_partitions_of_attempts_are_made_ahead_and_old_ones_dropped(database: str) -> None:
    with closing(psycopg2.connect(database)) as connection, connection:
        cursor = connection.cursor()
        cursor.execute("SELECT seine_attempt_days(3, 30)")
        cursor.execute(
            "CREATE TABLE attempts_20200101 PARTITION OF attempts"
            " FOR VALUES FROM ('2020-01-01Z') TO ('2020-01-02Z')"
        )
        cursor.execute("SELECT seine_attempt_days(4, 30)")
        assert cursor.fetchone() == (1,)
        cursor.execute("SELECT to_regclass('attempts_20200101')")
        assert cursor.fetchone() == (None,)
