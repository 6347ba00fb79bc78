"""Ctrl-C at any moment of a command: one line, the status that a shell expects, no traceback.

A start imports for a second or two before any command exists, and Python answers Ctrl-C there with
a traceback of whatever it was importing. So an installation for development has a `scrapy` of its
own, `main`, which ends the process at once while nothing is open that would have to be closed. Only
the work of a command (`interruptible`) sees a KeyboardInterrupt, because it has things to close.
"""

from __future__ import annotations

# Only what Python has loaded by now, or loads within a millisecond: what is imported before `main`
# begins is out of its reach.
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any


#: Open files that a process asks for.
_MOST_FILES = 65_536


def end_at_once(_number: int = signal.SIGINT, _frame: FrameType | None = None) -> None:
    """Say that the process was stopped, and end it as if by the signal: a script ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C needs no line
    os.write(2, b"seine: stopped\n")
    signal.raise_signal(signal.SIGINT)


@contextmanager
def interruptible() -> Iterator[None]:
    """Have Ctrl-C raise KeyboardInterrupt for the block, where `end_at_once` is in force."""
    import threading  # not at import, see there

    ends = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is end_at_once
    )
    if ends:  # asyncio.run handles Ctrl-C in order where it finds this very handler
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if ends:
            signal.signal(signal.SIGINT, end_at_once)


def _unraisable(found: Any) -> None:
    """End where a Ctrl-C came in a callback that passes nothing on, as those of imports."""
    if isinstance(found.exc_value, KeyboardInterrupt):
        end_at_once()
    sys.__unraisablehook__(found)


def _raise_open_files() -> None:
    """Allow as many open files as the hard limit does, up to 65,536.

    The soft limit (1,024, on macOS 256) is kept low for programs that call select(), which none
    here does; a crawl of many sites and its servers need more.
    """
    try:
        import resource
    except ImportError:  # no such limit here
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):  # the system's own limit is lower
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def main() -> None:
    """Run Scrapy's command line: what `scrapy` is in an installation for development."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # `nohup` and & ignore it
        signal.signal(signal.SIGINT, end_at_once)
    sys.unraisablehook = _unraisable
    _raise_open_files()
    # Modules stay for good: to look through them as they are imported takes a sixth of the import.
    gc.disable()
    from scrapy.cmdline import execute

    gc.freeze()
    gc.enable()
    execute()
