"""Runs processes to their end and says what they cost: CPU by the kernel, time, memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import attrs
import psutil

from tests.benchmarks.processes import Cpu, cpu_of, memory_mb, peak_rss_mb, tree

ROOT = Path(__file__).parents[2]
#: A run that takes longer hangs; it is killed, and counts as failed.
LIMIT_S = 400


@attrs.frozen(kw_only=True)
class Command:
    """One process of a run."""

    arguments: Sequence[str]
    """What comes after `python`."""
    environment: Mapping[str, str] = attrs.Factory(dict)
    python: str = sys.executable


@attrs.frozen(kw_only=True)
class Cost:
    """What a run's processes used from start to end, their start-up and their children included."""

    cpu: Cpu
    wall_s: float
    rss_mb: float
    """The largest process at its largest, in MiB."""
    memory_mb: float
    """All processes together, at their largest, in MB; what they share counts once."""
    log: str
    running: Cpu = attrs.Factory(Cpu)
    """Without the start-up, if it was asked for."""

    def stat(self, name: str) -> int:
        """A number out of the statistics that Scrapy logs at its end, summed over the workers."""
        found = re.findall(rf"'{re.escape(name)}': (\d+)", self.log)
        return sum(int(number) for number in found)


def run(commands: Sequence[Command], folder: Path, begun: Callable[[], bool] | None = None) -> Cost:
    """Run the commands in the project, all at a time, to their end.

    *begun* says when the start-up is over; then its CPU is left out of `Cost.running`.

    Raises:
        RuntimeError: one failed; with the end of its log.
    """
    began = time.monotonic()
    logs = [folder / f"log-{number}" for number in range(len(commands))]
    started = [start(command, log) for command, log in zip(commands, logs, strict=True)]
    try:
        with _watched(started) as seen:
            starting = _starting(started, begun) if begun else Cpu()
            cpu = _ended(started)
    finally:
        end([process for process in started if process.returncode is None])
        for process in started:
            process.wait()
    wall_s = time.monotonic() - began
    texts = [log.read_text(errors="replace") for log in logs]
    for process, text in zip(started, texts, strict=True):
        if process.returncode:
            raise RuntimeError(f"{process.args} failed:\n{text[-3000:]}")
    return Cost(
        cpu=cpu,
        wall_s=wall_s,
        rss_mb=seen.rss_mb,
        memory_mb=seen.memory_mb,
        log="\n".join(texts),
        running=cpu - starting,
    )


def _ended(processes: Sequence[subprocess.Popen[bytes]]) -> Cpu:
    """Wait for all; returns what they and their children used."""
    cpu = Cpu()
    for process in processes:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu += Cpu(usage.ru_utime, usage.ru_stime)
    return cpu


def _starting(processes: Sequence[subprocess.Popen[bytes]], begun: Callable[[], bool]) -> Cpu:
    """CPU used until *begun*; a process that ends before has used no more than that."""
    pids = [process.pid for process in processes]
    while not begun():
        if all(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE for pid in pids):
            break
        time.sleep(0.02)
    return cpu_of(process for pid in pids for process in tree(pid))


def start(command: Command, log: Path) -> subprocess.Popen[bytes]:
    """Start a command in the project; what it says goes to *log*."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with log.open("wb") as out:
        return subprocess.Popen(
            [command.python, *command.arguments],
            cwd=ROOT,
            # `Cost.stat` reads the statistics.
            env={**kept, "PYTHONPATH": str(ROOT), "STATS_DUMP": "1", **command.environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Kill processes and their children."""
    for process in [each for started in processes for each in tree(started.pid)]:
        with suppress(psutil.Error):
            process.kill()


@attrs.define
class Memory:
    """The most that was seen of a run."""

    rss_mb: float = 0.0
    memory_mb: float = 0.0

    def look(self, pids: Sequence[int]) -> None:
        """Look at the processes and their children."""
        processes = [process for pid in pids for process in tree(pid)]
        self.rss_mb = max([self.rss_mb, *map(peak_rss_mb, processes)])
        self.memory_mb = max(self.memory_mb, memory_mb(processes))


@contextmanager
def _watched(processes: Sequence[subprocess.Popen[bytes]]) -> Iterator[Memory]:
    """Look every half second; each process remembers its own peak in between."""
    seen, over = Memory(), threading.Event()

    def watch() -> None:
        until = time.monotonic() + LIMIT_S
        while not over.wait(0.5):
            seen.look([process.pid for process in processes])
            if time.monotonic() > until:
                end(processes)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
