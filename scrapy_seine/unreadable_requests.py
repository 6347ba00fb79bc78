"""Logs requests that are no HTTP in one line a minute: port scanners send many, aiohttp logs a
traceback for each.
"""

from __future__ import annotations

import logging

from aiohttp.http_exceptions import HttpProcessingError

from scrapy_seine.once_a_minute import OnceAMinute
from scrapy_seine.printable import printable

_limiter = OnceAMinute()


def server_log() -> logging.Logger:
    """Return the log for an HTTP server of aiohttp."""
    log = logging.getLogger("aiohttp.server")
    log.addFilter(_shorten)
    return log


def _shorten(record: logging.LogRecord) -> bool:
    """Whether a record is logged; the traceback of an unreadable request becomes its reason."""
    error = record.exc_info[1] if record.exc_info else None
    if not isinstance(error, HttpProcessingError):
        return True
    reason = printable(" ".join(error.message.split()))[:200]
    record.msg, record.args = f"{record.msg}: it is no HTTP: %s", (*(record.args or ()), reason)
    record.exc_info = None
    return _limiter.is_due("unreadable")
