"""Worker processes of the demo: `scrapy crawl catalog`, each with its own log file."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

#: Time for a worker to release its leases and end, seconds.
STOP_TIMEOUT_S = 25


_DEQUEUED = re.compile(r"'seine/dequeued': (\d+)")


@attrs.define(eq=False)
class Worker:
    """One process of the fleet."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    killed: bool = False
    """Whether the demo killed the worker."""

    @property
    def pid(self) -> int:
        """The process id, as in the frontier's worker info."""
        return self.process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None

    @property
    def failed(self) -> bool:
        """Whether the process ended with an error, without being killed."""
        return not self.alive and not self.killed and self.process.returncode != 0

    @property
    def pages(self) -> int:
        """Requests that the worker took, by the statistics at the end of its log; 0 before."""
        if self.alive or self.killed:
            return 0
        match = _DEQUEUED.search(self.log.read_text(encoding="utf-8", errors="replace"))
        return int(match[1]) if match else 0

    def kill(self) -> None:
        """Kill the worker with SIGKILL, so that it releases no lease."""
        self.killed = True
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@attrs.define(eq=False)
class Fleet:
    """Starts and stops workers that share one crawl."""

    settings: Mapping[str, object]
    """Scrapy settings of every worker."""
    environment: Mapping[str, str]
    """Additions to the workers' environment: the addresses of the stores."""
    folder: Path
    """Folder of the workers' logs."""
    arguments: Sequence[str] = ()
    """Arguments after the spider's name: -a url=…"""
    workers: list[Worker] = attrs.Factory(list)

    def start(self) -> Worker:
        """Start one more worker."""
        number = len(self.workers) + 1
        log = self.folder / f"worker-{number}.log"
        command = [sys.executable, "-m", "scrapy", "crawl", "catalog", *self.arguments]
        # STATS_DUMP, because a worker's statistics are read from the end of its log.
        for name, value in {"STATS_DUMP": 1, **self.settings}.items():
            command += ["-s", f"{name}={value}"]
        with log.open("wb") as log_file:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.environment},
                start_new_session=True,  # a Ctrl-C reaches this process only, which stops them
            )
        worker = Worker(f"worker {number}", process, log)
        self.workers.append(worker)
        return worker

    @property
    def alive(self) -> list[Worker]:
        """Workers that run."""
        return [worker for worker in self.workers if worker.alive]

    @property
    def failed(self) -> list[Worker]:
        """Workers that failed without being killed."""
        return [worker for worker in self.workers if worker.failed]

    def stop(self) -> None:
        """Terminate every worker; kill those that do not end in PATIENCE_S."""
        for worker in self.alive:
            worker.process.terminate()
        deadline = time.monotonic() + STOP_TIMEOUT_S
        for worker in self.alive:
            try:
                worker.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.kill()


@contextlib.contextmanager
def fleet(
    settings: Mapping[str, object],
    environment: Mapping[str, str],
    folder: Path,
    arguments: Sequence[str] = (),
) -> Iterator[Fleet]:
    """Make a fleet that is stopped at the end of the block, also after an error."""
    folder.mkdir(parents=True, exist_ok=True)
    workers = Fleet(settings, environment, folder, arguments)
    try:
        yield workers
    finally:
        workers.stop()
