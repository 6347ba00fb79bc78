"""Processes that outlive their starter, and the files that name them."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from crawler.errors import EmbeddedError
from crawler.stores.embedded.account import Account, plain_environment

# The shell ends at once, so that the server is nobody's child: no starter has to wait for it.
_DETACH = '"$@" >&2 & echo $!'
_ZOMBIE = "Z"
#: Linux; elsewhere `ps` tells.
_HAS_PROC = Path("/proc/self/stat").exists()
#: A killed server's children notice and end well within this many seconds.
IN_USE_PATIENCE_S = 5.0


@attrs.frozen
class Process:
    """A process, told from a later one with the same id by the time it started."""

    pid: int
    started: str

    @property
    def alive(self) -> bool:
        """Whether this very process still runs."""
        return bool(self.started) and _start_time(self.pid) == self.started

    def stop(self, number: signal.Signals, patience_s: float) -> bool:
        """Send a signal and wait for the end; returns whether it came."""
        until = time.monotonic() + patience_s
        if self.alive:
            os.kill(self.pid, number)
        while self.alive:
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True


@contextmanager
def held(lock: Path) -> Iterator[int]:
    """Hold the lock that a server is to inherit, so that no two work on the same files.

    The server and its children hold it for as long as one of them lives, also where its process
    id means nothing to others: in a container that shares the folder.

    Raises:
        EmbeddedError: another server holds it.
    """
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(handle, lock)
        yield handle
    finally:
        os.close(handle)


def _take(handle: int, lock: Path) -> None:
    """Lock, once the last children of a killed server are gone."""
    until = time.monotonic() + IN_USE_PATIENCE_S
    while not try_lock(handle):
        if time.monotonic() > until:
            raise EmbeddedError(
                f"{lock.parent} is in use by another server; end it or set SEINE_DATA_DIR"
            )
        time.sleep(0.02)


def try_lock(handle: int) -> bool:
    """Lock an open file if nobody else holds its lock; the system frees it when we die."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def spawn(argv: Sequence[str | Path], *, account: Account, log: Path, lock: int) -> Process:
    """Start a server in a session of its own, its output appended to *log*; it inherits *lock*.

    Raises:
        EmbeddedError: it cannot be started.
    """
    command = ["/bin/sh", "-c", _DETACH, "sh", *map(str, argv)]
    try:
        with log.open("ab") as output:
            done = subprocess.run(
                command,
                cwd="/",
                env=plain_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,
                pass_fds=(lock,),
                timeout=20,
                check=True,
                **account.options(),  # type: ignore[call-overload]
            )
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedError(f"cannot start {argv[0]} as user {account.name}: {error}") from None
    return find(int(done.stdout))


def find(pid: int) -> Process:
    """Return the process that has this id now."""
    return Process(pid, _start_time(pid))


def remember(process: Process, file: Path) -> None:
    """Write the file that names a process, at once or not at all."""
    new = file.with_suffix(".new")
    new.write_text(json.dumps({"pid": process.pid, "started": process.started}))
    new.replace(file)


def recall(file: Path) -> Process | None:
    """Read the file that names a process; None where it is missing, broken, or of a dead one."""
    try:
        found = json.loads(file.read_text())
        process = Process(int(found["pid"]), str(found["started"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return process if process.alive else None


def command_line(pid: int) -> str:
    """Return a process's command line, or nothing where there is no such process."""
    try:
        return (
            Path(f"/proc/{pid}/cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode("utf-8", "replace")
        )
    except OSError:
        return "" if _HAS_PROC else _ps(pid, "args")


def _start_time(pid: int) -> str:
    """Return when a process started, in the system's own words; nothing where it is dead."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "" if _HAS_PROC else _start_time_of_ps(pid)
    state, *fields = text.rpartition(")")[2].split()
    return "" if state == _ZOMBIE else f"{fields[18]} ticks"


def _start_time_of_ps(pid: int) -> str:
    return "" if _ps(pid, "state").startswith(_ZOMBIE) else _ps(pid, "lstart")


def _ps(pid: int, what: str) -> str:
    command = ["ps", "-o", f"{what}=", "-p", str(pid)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def outlives(process: Process, ready: Callable[[], bool], patience_s: float = 60) -> bool:
    """Wait until a server that runs already answers; False where it ended instead, or is mute."""
    until = time.monotonic() + patience_s
    while process.alive and time.monotonic() < until:
        if ready():
            return process.alive
        time.sleep(0.02)
    return False


def wait_ready(
    name: str, process: Process, log: Path, ready: Callable[[], bool], patience_s: float = 60
) -> None:
    """Wait until a new server answers.

    Raises:
        EmbeddedError: it ended or stayed silent; with the last words of its log.
    """
    until = time.monotonic() + patience_s
    while not ready():
        if not process.alive:
            raise EmbeddedError(f"{name} did not start: {last_words(log)} (log: {log})")
        if time.monotonic() > until:
            raise EmbeddedError(f"{name} does not answer after {patience_s:.0f} s (log: {log})")
        time.sleep(0.01)


def last_words(log: Path) -> str:
    """Return the line of a log that most likely says what went wrong."""
    try:
        lines = log.read_text("utf-8", "replace").splitlines()[-20:]
    except OSError:
        return "no log"
    lines = [line.strip() for line in lines if line.strip()]
    telling = [s for s in lines if any(w in s for w in ("FATAL", "PANIC", "atal", "rror", "an't"))]
    return (telling or lines or ["the log is empty"])[-1]
