"""The fleet under attack: kept at its size as a supervisor would, its event loops watched."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from crawler.demo.worker_processes import Fleet, Worker, fleet
from tests.benchmarks.server import free_port

#: Seconds between two questions to a worker, and between two looks while it does not answer.
PAUSE_S, LOOK_S = 0.1, 0.2
_ASK = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@attrs.define
class Silence:
    """How long one worker answered nothing, at worst."""

    worker: Worker
    port: int
    cpu_s: float = 0.0
    """CPU time that its main thread used meanwhile: the time that its event loop stood still."""
    wall_s: float = 0.0
    """The same by the clock, with the time for which the machine ran somebody else."""
    at: float = 0.0
    """When the longest one began (monotonic s)."""

    def watch(self, over: threading.Event) -> None:
        """Ask over and over until the worker is gone."""
        while not over.is_set() and self.worker.alive:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self.port), timeout=LOOK_S) as made,
            ):
                while not over.is_set() and self._ask(made):
                    time.sleep(PAUSE_S)
            time.sleep(PAUSE_S)

    def _ask(self, connection: socket.socket) -> bool:
        began, used = time.monotonic(), main_thread_s(self.worker.pid)
        connection.sendall(_ASK)
        while True:
            try:
                answered = connection.recv(4096)
            except TimeoutError:
                answered = None
            now = main_thread_s(self.worker.pid)
            if now - used > self.cpu_s:
                self.cpu_s, self.at = now - used, began
            self.wall_s = max(self.wall_s, time.monotonic() - began)
            if answered is not None:
                return bool(answered)
            if not self.worker.alive:
                return False


def main_thread_s(pid: int) -> float:
    """CPU seconds that a process's main thread has used; 0 if it is gone."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/schedstat").read_text(encoding="ascii")
        return int(text.split()[0]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


@attrs.define
class Guarded:
    """Three workers, each replaced when it stops."""

    fleet: Fleet
    common: Mapping[str, object]
    silences: list[Silence] = attrs.Factory(list)
    stopped: list[str] = attrs.Factory(list)
    """Workers that stopped before they were asked to, with their exit status."""
    _over: threading.Event = attrs.Factory(threading.Event)
    _threads: list[threading.Thread] = attrs.Factory(list)
    _counted: set[int] = attrs.Factory(set)

    def start(self) -> None:
        """Start one more worker, and watch it."""
        port = free_port()
        self.fleet.settings = {**self.common, "SEINE_METRICS_PORT": port}
        silence = Silence(self.fleet.start(), port)
        self.silences.append(silence)
        thread = threading.Thread(target=silence.watch, args=[self._over], daemon=True)
        thread.start()
        self._threads.append(thread)

    def look(self) -> None:
        """Count who stopped, and start another in its place."""
        for worker in list(self.fleet.workers):
            if not worker.alive and worker.pid not in self._counted:
                self._counted.add(worker.pid)
                self.stopped.append(f"{worker.name}: exit {worker.process.returncode}")
                self.start()

    def end(self) -> list[str]:
        """Ask all to leave; returns those that did not leave in order."""
        self._over.set()
        asked = self.fleet.alive
        self.fleet.stop()
        for thread in self._threads:
            thread.join()
        return [f"{w.name}: exit {w.process.returncode}" for w in asked if w.process.returncode]

    def logs(self) -> str:
        """Everything that the workers said."""
        texts = (w.log.read_text("utf-8", "replace") for w in self.fleet.workers)
        return "\n".join(texts)


@contextlib.contextmanager
def guarded(
    settings: Mapping[str, object], environment: Mapping[str, str], folder: Path, workers: int
) -> Iterator[Guarded]:
    """Run a fleet as long as the block."""
    with fleet(settings, environment, folder) as made:
        found = Guarded(made, settings)
        try:
            for _ in range(workers):
                found.start()
            yield found
        finally:
            found.end()
