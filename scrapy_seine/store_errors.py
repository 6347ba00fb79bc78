"""A store's error in one line: for a terminal, a log and the dashboard."""

from __future__ import annotations

import re

from redis.exceptions import AskError, RedisError, ResponseError

from scrapy_seine.errors import SeineError
from scrapy_seine.printable import redact

#: PostgreSQL's codes of a missing table and column (Appendix A of its manual).
_NO_SUCH_TABLE = frozenset({"42P01", "42703"})
NO_TABLES = "the database has no such tables yet: `scrapy migrate` makes them, or the first crawl"
#: What Redis repeats of a call that it does not know, whose first argument may be a whole script,
#: and where in which script it failed, by which one outage made a line for each script.
_ARGUMENTS = re.compile(
    r",? with args beginning with:.*|\.? script: (?:[0-9a-f]{40},)? *on @user_script.*", re.DOTALL
)
#: Messages of errors that may be temporary, though they often are mistakes, with advice.
_ADVICE = (
    (
        "read only replica|read-only transaction",
        "this server is a replica or read-only: name the primary, unless a failover is under way",
    ),
    ("maxmemory", "its memory is full: docs/runbooks/redis-memory.md"),
    ("protocol error, got", "another service than Redis answers on that port"),
    ("not known|could not translate host name", "is the name of the host right?"),
    ("(?:hostname|ip address) mismatch", "name the host as its certificate does"),
    (
        "certificate has expired|certificate is not yet valid",
        "renew the server's certificate, or correct this machine's clock",
    ),
    (
        "certificate.verify.failed",
        "its certificate is not trusted here: name its CA in the URL; docs/deploying.md",
    ),
    (
        "eof occurred in violation|alert.(?:certificate|unknown.ca|bad.certificate|handshake)",
        "if it asks for a client's certificate, name one that it trusts in the URL; "
        "docs/deploying.md",
    ),
    (
        "unknown command",
        "it is renamed or disabled there: Seine needs it under its own name; docs/deploying.md",
    ),
    (
        "no permissions to (?:run|access)|user executing the script can.t",
        "the user of REDIS_URL needs ~* &* +@all -@admin -@dangerous +info: docs/deploying.md",
    ),
    (
        "authenticat|username-password|role .* not permitted to log in",
        "has its password been changed? Correct the URL, and restart this process",
    ),
    ("too many clients|max number of clients", "raise its limit of connections"),
)


def with_advice(line: str) -> str:
    """Add advice to a store's message, if waiting alone may not help.

    >>> with_advice("Error -2 connecting to redsi:6379. Name or service not known.")
    'Error -2 connecting to redsi:6379. Name or service not known (is the name of the host right?)'
    >>> with_advice("certificate verify failed: Hostname mismatch, not valid for 'h'.")[-39:]
    '(name the host as its certificate does)'
    >>> with_advice("Connection refused")
    'Connection refused'
    >>> with_advice("ACL failure in script: No permissions to access a channel")[-86:]
    '(the user of REDIS_URL needs ~* &* +@all -@admin -@dangerous +info: docs/deploying.md)'
    """
    for words, advice in _ADVICE:
        if re.search(words, line, re.IGNORECASE):
            return f"{line.rstrip('.')} ({advice})"
    return line


def refusal_line(error: BaseException) -> str | None:
    """Return a store's refusal in one line, without credentials; None if another part failed.

    PostgreSQL's errors are recognised by their PEP 249 names, because the library runs without a
    driver and drivers have no other base in common. An error that is neither the server's nor the
    connection's, for instance a missing parameter, is a bug of ours.
    """
    line = first_line(error)
    if isinstance(error, SeineError | OSError):
        return line
    if isinstance(error, AskError):  # MovedError, too; the text is a slot and a node
        return f"Redis' Cluster moves the slot: {line}"
    if isinstance(error, RedisError):
        is_refusal = isinstance(error, ResponseError)
        return f"Redis {'refuses it' if is_refusal else 'does not answer'}: {line}"
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds.isdisjoint({"DatabaseError", "InterfaceError"}):
        return None
    code = getattr(error, "pgcode", None)
    if code in _NO_SUCH_TABLE:
        return NO_TABLES
    if isinstance(code, str):
        return f"PostgreSQL refuses it ({code}): {line}"
    return (
        None
        if kinds.isdisjoint({"OperationalError", "InterfaceError"})
        else (f"PostgreSQL does not answer: {line}")
    )


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text without credentials; its class if it has no text.

    >>> first_line(ValueError("cannot read redis://me:secret@h/0\\nat all")), first_line(OSError())
    ('cannot read redis://***@h/0', 'OSError')
    >>> first_line(ResponseError("unknown command 'EVAL', with args beginning with: '-- a script'"))
    "unknown command 'EVAL'"
    >>> first_line(ResponseError(f"it is full. script: {'0' * 40}, on @user_script:546."))
    'it is full'
    >>> first_line(ResponseError("it is full. script: on @user_script:546."))  # Valkey's
    'it is full'
    """
    text = _ARGUMENTS.sub("", redact(str(error)))
    return (text.strip().splitlines() or [type(error).__name__])[0]
