"""Ctrl-C at any moment of a command: one line, the status that a shell expects, no traceback.

Imports take a second or two before any command exists, and Python answers Ctrl-C there with a
traceback of the current import. So an installation for development has its own `scrapy`, `main`,
which ends the process at once while nothing is open that has to be closed. Only a command's work
(`interruptible`) sees a KeyboardInterrupt, because it has to close things.

Elsewhere Scrapy's own `scrapy` runs, and a project's code may wait for a KeyboardInterrupt; there
`one_line_errors` replaces only the traceback of what nothing handled: a Ctrl-C, or an error that a
setting or an option causes.
"""

from __future__ import annotations

# Only modules that Python has loaded already, or loads within a millisecond, because imports before
# `main` begins cannot be protected.
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Any


#: Open files that a process requests.
_MOST_FILES = 65_536


def end_at_once(_number: int = signal.SIGINT, _frame: FrameType | None = None) -> None:
    """Report that the process was stopped, and end it as if by the signal: a script ends, too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C needs no line
    os.write(2, b"seine: stopped\n")
    signal.raise_signal(signal.SIGINT)


@contextmanager
def interruptible() -> Iterator[None]:
    """Make Ctrl-C raise KeyboardInterrupt for the block, if `end_at_once` is installed."""
    import threading  # not at import, see there

    ends = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is end_at_once
    )
    if ends:  # asyncio.run handles Ctrl-C properly if it finds exactly this handler
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if ends:
            signal.signal(signal.SIGINT, end_at_once)


def one_line_errors() -> None:
    """Report what nothing handles in one line, unless the project reports errors itself.

    Python ends the process as if by the signal, or with status 1, all the same.
    """
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _report_uncaught


def _report_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        os.write(2, b"seine: stopped\n")
    elif fault := _fault_of(error):
        print(f"seine: {fault}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def _fault_of(error: BaseException) -> str | None:
    """Say what the user has to mend; None where the traceback says more."""
    from scrapy_seine.commands.failed_calls import fault_of_call

    try:
        return fault_of_call(error)
    except Exception:  # settings of any shape: the error itself is shown then
        return None


def _unraisable(unraisable: Any) -> None:
    """End the process if Ctrl-C came in a callback that swallows exceptions, as import hooks do."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        end_at_once()
    sys.__unraisablehook__(unraisable)


def _raise_open_files() -> None:
    """Raise the limit of open files to the hard limit, at most 65,536.

    The soft limit (1,024, on macOS 256) is kept low for programs that call select(), which none
    here does; a crawl of many sites and its servers need more.
    """
    try:
        import resource
    except ImportError:  # no such limit here
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with suppress(OSError, ValueError):  # the system's own limit is lower
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def main() -> None:
    """Run Scrapy's command line: the `scrapy` of an installation for development."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # `nohup` and & ignore it
        signal.signal(signal.SIGINT, end_at_once)
    sys.unraisablehook = _unraisable
    _raise_open_files()
    # Modules stay for good: scanning them during imports takes a sixth of the import time.
    gc.disable()
    from scrapy.cmdline import execute

    gc.freeze()
    gc.enable()
    try:
        execute()
    except Exception as error:
        if (fault := _fault_of(error)) is None:
            raise
        sys.exit(f"seine: {fault}")
