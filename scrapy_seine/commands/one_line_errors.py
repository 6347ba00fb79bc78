"""Reports a command's error in one line, with an exit status, instead of a traceback."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable

from scrapy_seine.errors import SeineError, StoreUnreachable
from scrapy_seine.interrupts import interruptible
from scrapy_seine.printable import OUTPUT_ERRORS, discard_output, open_streams, printable, redact
from scrapy_seine.store_errors import refusal_line, with_advice

FAILED = 1
#: argparse's exit status of a call that it cannot read.
MISUSED = 2
#: A shell's exit status of a program that Ctrl-C ended.
INTERRUPTED = 130
#: File errors that the user has to fix: missing rights, a read-only disk, or an unusable name.
_FORBIDDEN = (
    *(errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.ELOOP),
)


def guarded(work: Callable[[], int | None], show: Callable[[str], None] | None = None) -> int:
    """Do *work*; returns its exit status, and prints one line on stderr if it failed.

    *show* prints the line another way.
    """
    show = _unless_reader_gone(show or complain)
    open_streams()
    try:
        with interruptible():
            status = work() or 0
            sys.stdout.flush()
    except SeineError as error:
        show(with_advice(str(error)) if isinstance(error, StoreUnreachable) else str(error))
        return FAILED
    except KeyboardInterrupt:
        show("stopped")
        return INTERRUPTED
    except BrokenPipeError:
        sys.stdout = None  # the reader is gone: print nothing more at exit
        return FAILED
    except OSError as error:
        if error.filename and error.errno in _FORBIDDEN:
            show(f"{error.filename} cannot be used: {error.strerror}")
            return FAILED
        if error.errno not in OUTPUT_ERRORS:
            raise
        complain(f"{error.filename or 'standard output'} cannot be written: {error.strerror}")
        discard_output()
        return FAILED
    except Exception as error:
        if (refusal := refusal_line(error)) is None:
            raise
        show(with_advice(refusal))
        return FAILED
    return status


def _unless_reader_gone(show: Callable[[str], None]) -> Callable[[str], None]:
    """Print a line, or nothing if the reader of a pipe has gone."""

    def report(text: str) -> None:
        try:
            show(text)
        except BrokenPipeError:
            sys.stdout = None

    return report


def complain(text: str) -> None:
    """Print one line on stderr, without credentials and control characters."""
    print("seine:", one_line(text), file=sys.stderr)


def one_line(text: str) -> str:
    """Return a text in one line, without credentials and control characters."""
    return printable(" ".join(redact(text).split()))
