"""Who waits for a lock of PostgreSQL says so, and who holds it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from threading import Thread, Timer
from time import monotonic, sleep

import psycopg2
import pytest

from crawler.stores import embedded
from crawler.stores.migrations import migrate
from scrapy_seine.sinks.postgres import lock_waits
from scrapy_seine.sinks.postgres.database import transaction
from tests.helpers import execute, server_folder, wait_until
from tests.integration.storage.kit import desk, row, rows_of

pytestmark = pytest.mark.postgres


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_waits, "TELL_S", 0.1)


@contextmanager
def locked(database: str, table: str) -> Iterator[int]:
    """Hold a table for the block; yields the process that does."""
    with closing(psycopg2.connect(database, application_name="psql")) as connection:
        connection.cursor().execute(f"LOCK TABLE {table}")
        yield connection.info.backend_pid


def test_a_writer_that_waits_for_a_lock_names_who_holds_it(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A worker was silent for as long as somebody held a table, and its crawl looked stuck."""
    with desk(database) as made:
        with locked(database, "products") as holder:
            made.put(row())
            text = f"a lock that process {holder} (psql, in a transaction for"
            wait_until(lambda: text in caplog.text, 30, "it says who holds the lock")
            assert made.stored == []
        wait_until(lambda: made.stored, 30, "the row is stored")
    assert "PostgreSQL went on after" in caplog.text
    assert rows_of(database, "SELECT count(*) FROM products") == [(1,)]


def test_a_wait_that_goes_on_is_said_again_and_more_and_more_rarely(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A lock that was held for ever stopped a crawl, and its log had one line of it."""
    with desk(database) as made:
        with locked(database, "products"):
            made.put(row())
            wait_until(lambda: caplog.text.count("keeps us waiting") >= 2, 60, "it is said again")
        wait_until(lambda: made.stored, 30, "the row is stored")
    first_s, second_s, *_ = (each.args[0] for each in caplog.records if "by now" in each.msg)
    assert second_s >= 4 * first_s


def test_a_start_that_waits_for_a_lock_names_who_holds_it(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    start = Thread(target=migrate, args=(database,), daemon=True)
    with locked(database, "seine_migrations") as holder:
        start.start()
        wait_until(lambda: f"process {holder} (psql" in caplog.text, 30, "it names the holder")
    start.join(30)
    assert not start.is_alive()


def test_the_end_of_a_crawls_jobs_that_waits_for_a_lock_names_who_holds_it(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The last worker of a complete crawl stood still without a line."""

    def end_jobs() -> None:
        with transaction(database) as connection, connection.cursor() as cursor:
            cursor.execute("UPDATE jobs SET state = state")

    end = Thread(target=end_jobs, daemon=True)
    with locked(database, "jobs") as holder:
        end.start()
        wait_until(lambda: f"process {holder} (psql" in caplog.text, 30, "it names the holder")
    end.join(30)
    assert not end.is_alive()


def test_a_commit_that_no_standby_confirms_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """Where the only synchronous standby was away, a fleet stood still without a line."""
    with server_folder() as folder:
        url = embedded.start(folder, which=("postgres",)).database_url
        migrate(url)
        with desk(url) as made:
            execute(url, "ALTER SYSTEM SET synchronous_standby_names = 'away'")
            execute(url, "SELECT pg_reload_conf()")
            numbers = count(1)

            def is_said() -> bool:
                made.put(row(next(numbers)))  # until the server has read the setting
                return "for a synchronous standby that does not confirm" in caplog.text

            wait_until(is_said, 30, "it says what it waits for")
            execute(url, "ALTER SYSTEM RESET synchronous_standby_names")
            execute(url, "SELECT pg_reload_conf()")
            last = next(numbers) - 1
            wait_until(lambda: len(made.stored) == last, 30, "all rows are stored")


def test_a_long_statement_is_said_though_it_waits_for_no_lock(
    database: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_waits, "LONG_S", 0.2)
    with (
        closing(psycopg2.connect(database)) as connection,
        lock_waits.lock_waits_logged(database, connection),
        connection.cursor() as cursor,
    ):

        def goes_on() -> bool:
            cursor.execute("SELECT pg_sleep(0.3)")
            return "for one statement, which waits for" in caplog.text

        wait_until(goes_on, 30, "it is said")


def test_a_transaction_in_which_this_process_computes_says_nothing(
    database: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export that reads a large table for minutes was told to wait for PostgreSQL."""
    monkeypatch.setattr(lock_waits, "LONG_S", 0.2)
    found: list[str] = []
    reason = lock_waits._reason

    def noted(wait: lock_waits._Wait) -> str:
        found.append(reason(wait))
        return found[-1]

    monkeypatch.setattr(lock_waits, "_reason", noted)
    with transaction(database) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        sleep(0.3)
        found.clear()
        wait_until(lambda: len(found) > 1, 30, "it is looked at")
    assert set(found) == {""}
    assert "keeps us waiting" not in caplog.text


def test_what_waits_for_nobody_says_nothing(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        closing(psycopg2.connect(database)) as connection,
        lock_waits.lock_waits_logged(database, connection),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT pg_sleep(0.5)")
    assert "lock" not in caplog.text


def test_ctrl_c_ends_a_statement_after_another_connection_was_open_meanwhile(
    database: str,
) -> None:
    timer, began = Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)), monotonic()

    def wait_long() -> None:
        with transaction(database) as outer:
            with transaction(database):
                timer.start()
            outer.cursor().execute("SELECT pg_sleep(40)")

    with pytest.raises(KeyboardInterrupt):
        wait_long()
    assert monotonic() - began < 30
