"""Worker processes of the demo: `scrapy crawl catalog`, each with a log file of its own."""

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

#: How long a worker may take to hand its leases back and leave, in seconds.
PATIENCE_S = 25


_TAKEN = re.compile(r"'seine/dequeued': (\d+)")


@attrs.define(eq=False)
class Worker:
    """One process of the fleet."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    killed: bool = False
    """Whether we took it down ourselves."""

    @property
    def pid(self) -> int:
        """Its process id; the frontier's worker info carries the same."""
        return self.process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    @property
    def failed(self) -> bool:
        """Whether it ended by itself, and badly."""
        return not self.alive and not self.killed and self.process.returncode != 0

    @property
    def pages(self) -> int:
        """How many requests it took, as it says when it leaves; 0 before."""
        if self.alive or self.killed:
            return 0
        found = _TAKEN.search(self.log.read_text(encoding="utf-8", errors="replace"))
        return int(found[1]) if found else 0

    def kill(self) -> None:
        """Kill it with SIGKILL, so that it hands nothing back."""
        self.killed = True
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@attrs.define(eq=False)
class Fleet:
    """Starts workers that share one crawl, and leaves none behind."""

    settings: Mapping[str, object]
    """Scrapy settings of every worker."""
    environment: Mapping[str, str]
    """What the workers' environment has beyond ours: the addresses of the stores."""
    folder: Path
    """Where their logs go."""
    arguments: Sequence[str] = ()
    """What comes after the spider's name: -a url=…"""
    workers: list[Worker] = attrs.Factory(list)

    def start(self) -> Worker:
        """Start one more worker."""
        number = len(self.workers) + 1
        log = self.folder / f"worker-{number}.log"
        command = [sys.executable, "-m", "scrapy", "crawl", "catalog", *self.arguments]
        # What a worker did is read from its statistics, at the end of its log.
        for name, value in {"STATS_DUMP": 1, **self.settings}.items():
            command += ["-s", f"{name}={value}"]
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.environment},
                start_new_session=True,  # a Ctrl-C reaches us only, and we end them in order
            )
        worker = Worker(f"worker {number}", process, log)
        self.workers.append(worker)
        return worker

    @property
    def alive(self) -> list[Worker]:
        """Workers that still run."""
        return [worker for worker in self.workers if worker.alive]

    @property
    def failed(self) -> list[Worker]:
        """Workers that ended badly by themselves."""
        return [worker for worker in self.workers if worker.failed]

    def stop(self) -> None:
        """Ask every worker to leave; those that do not leave in time are killed."""
        for worker in self.alive:
            worker.process.terminate()
        deadline = time.monotonic() + PATIENCE_S
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
    """Make a fleet that is gone when the block ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Fleet(settings, environment, folder, arguments)
    try:
        yield made
    finally:
        made.stop()
