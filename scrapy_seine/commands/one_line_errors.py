"""One line for what ends a command, and its exit status, in the place of a traceback."""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Callable
from pathlib import Path

from scrapy_seine.errors import ConfigError, SeineError
from scrapy_seine.interrupts import interruptible
from scrapy_seine.printable import OUTPUT_ERRORS, discard_output, open_streams, printable, redact
from scrapy_seine.store_errors import said_by

FAILED = 1
#: What a shell reports of a program that Ctrl-C ended.
INTERRUPTED = 130
#: Why a file or a folder is the user's to mend: its rights, or a disk that is read-only.
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def guarded(work: Callable[[], int | None], tell: Callable[[str], None] | None = None) -> int:
    """Do *work*; returns its exit status, with one line on stderr where it failed.

    *tell* says the line another way.
    """
    tell = _told_to_whom_reads(tell or complain)
    open_streams()
    try:
        with interruptible():
            status = work() or 0
            sys.stdout.flush()
    except SeineError as error:
        tell(str(error))
        return FAILED
    except KeyboardInterrupt:
        tell("stopped")
        return INTERRUPTED
    except BrokenPipeError:
        sys.stdout = None  # nobody reads; say nothing more at exit
        return FAILED
    except OSError as error:
        if error.filename and error.errno in _FORBIDDEN:
            tell(f"{error.filename} cannot be used: {error.strerror}")
            return FAILED
        if error.errno not in OUTPUT_ERRORS:
            raise
        complain(f"{error.filename or 'standard output'} cannot be written: {error.strerror}")
        discard_output()
        return FAILED
    except Exception as error:
        if (refusal := said_by(error)) is None:
            raise
        tell(refusal)
        return FAILED
    return status


def _told_to_whom_reads(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Say a line, or nothing where the reader of a pipe has gone."""

    def told(text: str) -> None:
        try:
            tell(text)
        except BrokenPipeError:
            sys.stdout = None

    return told


def complain(text: str) -> None:
    """Print one line on stderr, without credentials and control characters."""
    print("seine:", one_line(text), file=sys.stderr)


def one_line(text: str) -> str:
    """A text in one line, without credentials and control characters."""
    return printable(" ".join(redact(text).split()))


def check_outputs(opts: argparse.Namespace) -> None:
    """Make sure that --pidfile and --profile can be written: Scrapy would end in a traceback.

    Raises:
        ConfigError: one cannot be.
    """
    for option in ("pidfile", "profile"):
        if name := getattr(opts, option, None):
            try:
                Path(name).open("ab").close()
            except OSError as error:
                text = f"--{option} {name} cannot be written: {error.strerror}"
                raise ConfigError(text) from None
