"""Connections to PostgreSQL: one that a thread keeps, or one for a transaction."""

from __future__ import annotations

import select
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial

import psycopg2
from psycopg2 import extensions

from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.printable import redact
from scrapy_seine.sinks.postgres.sqlstates import cause_of, judge

#: Connection timeout, s.
CONNECT_S = 5


def connect(database_url: str) -> extensions.connection:
    """Connect so that a dead peer is noticed within half a minute.

    Raises:
        psycopg2.Error: the database does not answer.
    """
    options = extensions.parse_dsn(database_url)
    for name, value in (
        ("connect_timeout", CONNECT_S),
        ("application_name", "seine"),
        ("keepalives_idle", 10),
        ("keepalives_interval", 5),
        ("keepalives_count", 3),
        ("tcp_user_timeout", 30_000),
        ("client_encoding", "UTF8"),  # a role's or a database's default may lack characters
    ):
        options.setdefault(name, value)
    connection: extensions.connection = psycopg2.connect(**options)
    return connection


@contextmanager
def connected(database_url: str) -> Iterator[extensions.connection]:
    """Connect for the block, and close at its end; its exceptions are passed on.

    In a command, Ctrl-C ends the block's statement.

    Raises:
        StoreUnreachable: the database does not answer, or its address cannot be read.
    """
    try:
        connection = connect(database_url)
    except (psycopg2.Error, ValueError) as error:
        raise unreachable(error) from None
    with closing(connection), interruptible_statements():
        yield connection


@contextmanager
def interruptible_statements() -> Iterator[None]:
    """Let Ctrl-C end the block's statements: libpq waits in C, where Python gets no signal.

    Otherwise a migration that waits for a lock, or a long query, could not be stopped. psycopg2 has
    one wait callback for all connections of a process, so this changes nothing but in the main
    thread of a command, while Ctrl-C raises an exception.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    interrupts: list[KeyboardInterrupt] = []
    former = extensions.get_wait_callback()  # a connection may be opened while another is open
    extensions.set_wait_callback(partial(_wait, interrupts=interrupts))
    try:
        yield
    except Exception:
        if interrupts:  # the server reports the statement as cancelled
            raise interrupts[0] from None
        raise
    finally:
        extensions.set_wait_callback(former)


def _wait(connection: extensions.connection, interrupts: list[KeyboardInterrupt]) -> None:
    """Wait as psycopg2 does, in Python; at Ctrl-C ask the server to cancel the statement.

    An exception raised here would close the connection, and only the rollback's error about that
    would be reported. A second Ctrl-C does not wait for the server.
    """
    events = {extensions.POLL_READ: select.POLLIN, extensions.POLL_WRITE: select.POLLOUT}
    while (state := connection.poll()) != extensions.POLL_OK:
        poller = select.poll()
        poller.register(connection.fileno(), events[state])
        try:
            poller.poll()
        except KeyboardInterrupt as error:
            if interrupts:
                raise
            interrupts.append(error)
            connection.cancel()


@contextmanager
def transaction(database_url: str) -> Iterator[extensions.connection]:
    """Connect for one transaction: committed at the end of the block, rolled back if it raises.

    Raises:
        StoreUnreachable: the database does not answer, or goes away meanwhile.
    """
    from scrapy_seine.sinks.postgres.lock_waits import lock_waits_logged  # which connects, too

    with (
        outages(),
        connected(database_url) as connection,
        lock_waits_logged(database_url, connection),
        connection,
    ):
        yield connection


@contextmanager
def outages() -> Iterator[None]:
    """Raise StoreUnreachable for faults of the server or the connection, not for a statement's own.

    A connection that breaks within a block raises various errors: the server's message, a rollback
    on a closed connection, a reply that libpq cannot read.

    Raises:
        StoreUnreachable: the database goes away meanwhile, or takes no statements for now.
    """
    try:
        yield
    except psycopg2.Error as error:
        if isinstance(error, psycopg2.OperationalError) or judge(error) == "server":
            raise unreachable(error) from None
        raise


def unreachable(error: Exception) -> StoreUnreachable:
    """Make the one-line error for a database that cannot be reached."""
    return StoreUnreachable(f"DATABASE_URL: {line_of(error)}")


def line_of(error: Exception) -> str:
    """Return an error of PostgreSQL or libpq in one line, without its address's credentials.

    >>> line_of(ValueError("cannot read\\n postgresql://me:secret@db/shop"))
    'cannot read postgresql://***@db/shop'
    """
    cause = cause_of(error)
    diag = getattr(cause, "diag", None)
    # A server's error without its LINE, QUERY and CONTEXT, which repeat our own statement.
    parts = (diag.message_primary, diag.message_detail, diag.message_hint) if diag else ()
    text = ". ".join(filter(None, parts)) or str(cause)
    return redact(" ".join(text.split())) or type(error).__name__
