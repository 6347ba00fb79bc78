"""Decides by PostgreSQL's error codes whether the row, the server or another transaction is to
blame.

The classes of SQLSTATE are those of PostgreSQL's documentation, appendix A. Other codes blame the
row: a trigger may raise any code (P0001, a class of its own), and isolating a row from its batch
costs one row, while waiting for a lasting error would stop the crawl.

Some codes can be either's. A missing table or a revoked grant (42…), a lock or a statement timeout,
an internal error (XX…) may concern one row (a trigger, a row security policy, a damaged index page)
or all of them. They are *doubtful*: the writer decides by the outcome of other rows of the same
table, and of a batch without rows. If a PL/pgSQL function raised the code, its author meant the
row: then only a lock or a time limit stays doubtful.

A NOT NULL column that the statement does not fill refuses each row: it is the *table's* fault, to
be fixed by a default.
"""

from __future__ import annotations

import re
from typing import Literal

import attrs
import psycopg2

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import StoreError, StoreUnreachable
from scrapy_seine.printable import redact

Blame = Literal["row", "doubt", "table", "again", "server"]

_AGAIN = "40"
#: Connection, state of the transaction (25006: read-only), authorization, missing database,
#: resources, operator, system, configuration.
_SERVER = ("08", "25", "28", "3D", "53", "57", "58", "F0")
#: Feature (a view that takes no rows), schema, syntax or access rule, lock, internal error.
_DOUBT = ("0A", "3F", "42", "55", "XX")
#: statement_timeout, lock_timeout of a session, or somebody's pg_cancel_backend.
_CANCELLED = "57014"
#: Doubtful codes of temporary errors: a lock, a time limit.
_PASSING = (_CANCELLED, "55")
_IS_NULL = "23502"
#: Source function of a RAISE in PL/pgSQL (src/pl/plpgsql/src/pl_exec.c).
_RAISED = "exec_stmt_raise"
#: The table and the columns that a statement fills; it begins with them.
_FILLED = re.compile(rb"INSERT INTO (?:[\w\"]+\.)?\"?(\w+)\"?(?: AS \w+)?\s*\(([^)]*)\)")
_HEAD = 4_000


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Refusal(Value):
    """Why some rows were not written."""

    blame: Blame
    reason: str
    table: str = ""
    """Where it happened; empty: at the commit, or before any table."""
    code: str = ""
    """SQLSTATE; empty if PostgreSQL returned none."""
    constraint: str | None = None
    """Name of the constraint that was violated."""
    broke: bool = False
    """Whether the connection broke while the statement ran."""
    is_other_store: bool = False
    """Whether a store beside PostgreSQL, such as the archive, did not take the table's rows."""

    @property
    def is_lasting(self) -> bool:
        """Whether it is a doubtful code that waiting does not fix."""
        return self.blame == "doubt" and not self.code.startswith(_PASSING)

    @property
    def is_for_operator(self) -> bool:
        """Whether somebody may have to end it, if it concerns each row."""
        return self.blame == "table" or self.is_lasting or self.is_other_store


def judge(error: Exception) -> Blame:
    """Return who is to blame for an error; see the module's docstring.

    >>> judge(ValueError("A string literal cannot contain NUL")), judge(psycopg2.InterfaceError())
    ('row', 'server')
    """
    if isinstance(error, StoreError | OSError):
        return "server"
    if not isinstance(error, psycopg2.Error):
        return "row"
    code = error.pgcode
    if not code:
        own_faults = psycopg2.DataError, psycopg2.ProgrammingError, psycopg2.NotSupportedError
        return "row" if isinstance(error, own_faults) else "server"
    blame = judge_code(code)
    if blame == "doubt" and error.diag.source_function == _RAISED and not code.startswith(_PASSING):
        return "row"
    return "table" if code == _IS_NULL and _is_unfilled(error) else blame


def _is_unfilled(error: psycopg2.Error) -> bool:
    """Whether the statement does not fill the column that was left empty."""
    statement = getattr(error.cursor, "query", None) or b""
    if (match := _FILLED.search(statement[:_HEAD])) is None:
        return False
    table, columns = match[1].decode(), match[2].decode()
    filled = {name.strip().strip('"') for name in columns.split(",")}
    diag = error.diag
    return diag.table_name == table and diag.column_name not in {None, *filled}


def judge_code(code: str) -> Blame:
    """Return who is to blame for a SQLSTATE.

    >>> [judge_code(code) for code in ("P0001", "44000", "42501", "57014", "53100", "40P01")]
    ['row', 'row', 'doubt', 'doubt', 'server', 'again']
    """
    if code == _CANCELLED or code.startswith(_DOUBT):
        return "doubt"
    if code.startswith(_AGAIN):
        return "again"
    return "server" if code.startswith(_SERVER) else "row"


def cause_of(error: Exception) -> Exception:
    """Return what broke a connection, of which the rollback behind it only says "already closed".

    >>> try:
    ...     try:
    ...         raise psycopg2.OperationalError("server closed the connection unexpectedly")
    ...     finally:
    ...         raise psycopg2.InterfaceError("connection already closed")
    ... except psycopg2.Error as error:
    ...     cause_of(error)
    OperationalError('server closed the connection unexpectedly')
    """
    cause = error.__context__
    if isinstance(error, psycopg2.InterfaceError) and isinstance(cause, psycopg2.Error):
        return cause
    return error


def refusal(error: Exception, table: str, *, broke: bool) -> Refusal:
    """Describe an error that occurred while rows were written to *table*."""
    code, constraint, text = "", None, str(cause_of(error))
    if isinstance(error, psycopg2.Error) and error.pgcode:
        code, constraint = error.pgcode, error.diag.constraint_name
        # Its detail repeats the row, which is kept anyway and differs between tries.
        text = f"{error.diag.message_primary or text} ({code})"
    reason = redact(" ".join(text.split()))[:300] or type(error).__name__
    return Refusal(
        blame=judge(error),
        reason=reason,
        table=table,
        code=code,
        constraint=constraint,
        broke=broke,
        is_other_store=bool(table) and isinstance(error, StoreUnreachable),
    )
