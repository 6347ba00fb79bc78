"""Runs a process and says what it cost: CPU seconds by the kernel's account, wall time, memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[2]


@attrs.frozen(kw_only=True)
class Cost:
    """What one process used from its start to its end, its start-up included."""

    cpu_s: float
    wall_s: float
    rss_mb: float
    log: str

    def stat(self, name: str) -> int:
        """A whole number out of the statistics that Scrapy logs at its end; 0 if missing."""
        _, found, rest = self.log.rpartition(f"'{name}': ")
        digits = rest.split(",")[0].split("}")[0].strip() if found else "0"
        return int(float(digits))

    @property
    def pages(self) -> int:
        """Responses received."""
        return self.stat("response_received_count")


def run(command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """Run `python COMMAND` in the project to its end.

    Raises:
        RuntimeError: it failed; with the end of its log.
    """
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    began = time.monotonic()
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env={**kept, "PYTHONPATH": str(ROOT), **(environment or {})},
            stdout=out,
            stderr=out,
        )
        _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    text = log.read_text(errors="replace")
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{text[-3000:]}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Cost(cpu_s=cpu_s, wall_s=wall_s, rss_mb=usage.ru_maxrss / 1024, log=text)
