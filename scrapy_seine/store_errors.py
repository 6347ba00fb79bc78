"""What a store says went wrong, in one line: for a terminal, a log and the dashboard alike."""

from __future__ import annotations

import re

from redis.exceptions import RedisError, ResponseError

from scrapy_seine.errors import SeineError
from scrapy_seine.printable import redact

#: PostgreSQL's codes of a table and of a column that is missing (Appendix A of its manual).
_NO_SUCH_TABLE = frozenset({"42P01", "42703"})
_NO_TABLES = "the database has no such tables yet: `scrapy migrate` makes them, or the first crawl"
#: What a store or a client says that may pass, though it often is a mistake; and how to mend that.
_ADVICE = (
    (
        "read only replica|read-only transaction",
        "this server is a replica or read-only: name the primary, unless a failover is under way",
    ),
    ("maxmemory", "its memory is full: docs/runbooks/redis-memory.md"),
    ("protocol error, got", "another service than Redis answers on that port"),
    ("not known|could not translate host name", "is the name of the host right?"),
    ("certificate.verify.failed", "its certificate is not trusted here: name its CA in the URL"),
    ("too many clients|max number of clients", "raise its limit of connections"),
)


def with_advice(line: str) -> str:
    """Say with what a store says how to mend it, where waiting alone may not.

    >>> with_advice("Error -2 connecting to redsi:6379. Name or service not known.")
    'Error -2 connecting to redsi:6379. Name or service not known (is the name of the host right?)'
    >>> with_advice("Connection refused")
    'Connection refused'
    """
    for words, advice in _ADVICE:
        if re.search(words, line, re.IGNORECASE):
            return f"{line.rstrip('.')} ({advice})"
    return line


def said_by(error: BaseException) -> str | None:
    """Say in a line, without credentials, what a store refuses; None where another part failed.

    PostgreSQL's errors are known by the names that PEP 249 gives them: the library runs without a
    driver, and drivers have no other base in common. One that is neither the server's nor of the
    connection, a parameter that is missing for instance, is a mistake of ours.
    """
    line = first_line(error)
    if isinstance(error, SeineError | OSError):
        return line
    if isinstance(error, RedisError):
        refused = isinstance(error, ResponseError)
        return f"Redis {'refuses it' if refused else 'does not answer'}: {line}"
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds.isdisjoint({"DatabaseError", "InterfaceError"}):
        return None
    code = getattr(error, "pgcode", None)
    if code in _NO_SUCH_TABLE:
        return _NO_TABLES
    if isinstance(code, str):
        return f"PostgreSQL refuses it ({code}): {line}"
    return (
        None
        if kinds.isdisjoint({"OperationalError", "InterfaceError"})
        else (f"PostgreSQL does not answer: {line}")
    )


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text without credentials; its class where it has none.

    >>> first_line(ValueError("cannot read redis://me:secret@h/0\\nat all")), first_line(OSError())
    ('cannot read redis://***@h/0', 'OSError')
    """
    return (redact(str(error)).strip().splitlines() or [type(error).__name__])[0]
