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
from typing import Literal

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.embedded.account import Account, plain_environment
from scrapy_seine.errors import EmbeddedError

# The shell ends at once, so that the server has no parent that has to wait for it.
_DETACH = '"$@" >&2 & echo $!'
_ZOMBIE = "Z"
#: Linux has it; elsewhere `ps` is used.
_HAS_PROC = Path("/proc/self/stat").exists()
#: A killed server's children notice and end well within this time, s.
IN_USE_PATIENCE_S = 5.0
#: How long a server may take to answer, s: it reads its data first.
PATIENCE_S = 60.0


@attrs.frozen(eq=False, repr=False)
class Process(Value):
    """A process, distinguished by its start time from a later process with the same id."""

    pid: int
    started: str

    @property
    def alive(self) -> bool:
        """Whether this very process still runs."""
        return bool(self.started) and _start_time(self.pid) == self.started

    def stop(self, number: signal.Signals, patience_s: float) -> bool:
        """Send a signal and wait for the end; returns whether the process ended."""
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
    """Hold the lock that a server will inherit, so that no two servers use the same files.

    The server and its children hold it while one of them lives, even where its process id is
    meaningless to others: in a container that shares the folder.

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
    """Lock the file, once the last children of a killed server are gone."""
    until = time.monotonic() + IN_USE_PATIENCE_S
    while not try_lock(handle):
        if time.monotonic() > until:
            raise EmbeddedError(
                f"{lock.parent} is in use by another server; end it or set SEINE_DATA_DIR"
            )
        time.sleep(0.02)


def try_lock(handle: int) -> bool:
    """Lock an open file if it is not locked; the system frees the lock when this process dies."""
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
            result = subprocess.run(
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
    return find(int(result.stdout))


def find(pid: int) -> Process:
    """Return the process that has this id now."""
    return Process(pid, _start_time(pid))


def remember(process: Process, file: Path) -> None:
    """Write the file that names a process, atomically."""
    temporary = file.with_suffix(".new")
    temporary.write_text(json.dumps({"pid": process.pid, "started": process.started}))
    temporary.replace(file)


def recall(file: Path) -> Process | None:
    """Read the file that names a process; None if it is missing, broken, or of a dead one."""
    try:
        fields = json.loads(file.read_text())
        process = Process(int(fields["pid"]), str(fields["started"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return process if process.alive else None


def command_line(pid: int) -> str:
    """Return a process's command line, '' if there is no such process."""
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
    """Return when a process started, in the system's own format; '' if it is dead."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "" if _HAS_PROC else _start_time_of_ps(pid)
    state, *fields = text.rpartition(")")[2].split()
    return "" if state == _ZOMBIE else f"{fields[18]} ticks"


def _start_time_of_ps(pid: int) -> str:
    return "" if _ps(pid, "state").startswith(_ZOMBIE) else _ps(pid, "lstart")


def _ps(pid: int, field: str) -> str:
    command = ["ps", "-o", f"{field}=", "-p", str(pid)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return result.stdout.strip()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Server(Value):
    """How to start and stop an embedded server."""

    name: str
    log: Path
    pid_file: Path
    socket: Path
    found: Callable[[], Process | None]
    """Returns the running process."""
    ready: Callable[[], bool]
    """Whether it answers."""
    spawn: Callable[[], Process]
    ends: Sequence[tuple[signal.Signals, float]]
    """Signals that end it, the mildest first, and how long to wait after each, s."""

    def start(self) -> None:
        """Start the server, or wait for one that is starting; called under the lock.

        Raises:
            EmbeddedError: it ended or did not answer; with the last line of its log.
        """
        if not self.socket.is_socket():
            self.stop()  # a server whose socket was deleted cannot be reached
        # A running one may still be reading its data, if its starter died early. One that was
        # killed a moment ago may still be found: then start another.
        running = self.found()
        if running is not None and answers(running, self.ready) == "yes" and running.alive:
            return
        self._wait(self.spawn())

    def _wait(self, process: Process) -> None:
        answer = answers(process, self.ready)
        if answer == "ended":
            reason = last_words(self.log)
            raise EmbeddedError(f"{self.name} did not start: {reason} (log: {self.log})")
        if answer == "silent":
            raise EmbeddedError(
                f"{self.name} does not answer after {PATIENCE_S:.0f} s (log: {self.log})"
            )

    def stop(self) -> bool:
        """Stop the server; returns whether it ran.

        Raises:
            EmbeddedError: it does not end.
        """
        running = self.found()
        if running is None:
            return False
        if not any(running.stop(number, patience_s) for number, patience_s in self.ends):
            raise EmbeddedError(f"{self.name} (pid {running.pid}) does not end")
        self.pid_file.unlink(missing_ok=True)
        return True


def answers(
    process: Process, ready: Callable[[], bool], patience_s: float = PATIENCE_S
) -> Literal["yes", "ended", "silent"]:
    """Wait until a process answers, ends, or has been silent for too long."""
    until = time.monotonic() + patience_s
    while not ready():
        if not process.alive:
            return "ended"
        if time.monotonic() > until:
            return "silent"
        time.sleep(0.01)
    return "yes"


def last_words(log: Path) -> str:
    """Return the line of a log that most likely shows what went wrong."""
    try:
        lines = log.read_text("utf-8", "replace").splitlines()[-20:]
    except OSError:
        return "no log"
    lines = [line.strip() for line in lines if line.strip()]
    error_lines = [
        s for s in lines if any(w in s for w in ("FATAL", "PANIC", "atal", "rror", "an't"))
    ]
    return (error_lines or lines or ["the log is empty"])[-1]
