"""The demo shop as a subprocess, for the demo, tests and benchmarks."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from scrapy_seine.attrs_bases import Value


@attrs.frozen(eq=False, repr=False)
class ServedShop(Value):
    """A running shop."""

    url: str
    """URL of the home page, ending in a slash."""
    process: subprocess.Popen[str]
    log: Path | None

    def visits(self) -> list[dict[str, Any]]:
        """Return the access log: time (Unix s), method, path, status, host, client and bytes.

        A line that is being written is left out.
        """
        if self.log is None:
            return []
        *lines, _ = self.log.read_bytes().split(b"\n")
        return [json.loads(line) for line in lines]


@contextlib.contextmanager
def served(
    *, log: Path | None = None, guard: Sequence[str] = (), traps: bool = False, **options: object
) -> Iterator[ServedShop]:
    """Run a shop during the block; *options* are those of its command line, in snake case.

    The shop also ends when this process dies, even by SIGKILL.

    Raises:
        RuntimeError: the shop did not start; its own message is on standard error.
    """
    command = [sys.executable, "-m", "crawler.demo.shop", "--with-parent"]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    command += [f"--guard={text}" for text in guard] + (["--traps"] if traps else [])
    if log is not None:
        command += ["--log", str(log)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        url = process.stdout.readline().strip() if process.stdout else ""
        if not url:
            raise RuntimeError("the demo shop did not start")
        yield ServedShop(url, process, log)
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()
