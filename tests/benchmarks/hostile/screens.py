"""What an operator sees after an attack: the output of commands, and whether it is harmless."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

import attrs

from crawler.stores.export import TABLES

#: Control characters that a terminal acts upon; C1 ones among them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.I)
#: A command that takes longer than this hangs, seconds.
LIMIT_S = 60
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("workers",),
    ("domains", "show"),
    ("frontier",),
    ("dlq", "list", "--limit", "3000"),
    ("dlq", "list", "--limit", "3000", "--json"),
    ("jobs", "list"),
    ("attempts",),
    *(("export", table, "--format", "csv") for table in TABLES),
    *(("export", table, "--format", "jsonl") for table in TABLES),
)
WITHOUT_CRAWL = {"export", "attempts", "domains"}
#: Those of a short attack.
FEW = tuple(
    command
    for command in COMMANDS
    if command[0] in {"status", "workers", "dlq"} or command[1:] == ("products", "--format", "csv")
)
#: Commands that run at a time.
AT_ONCE = 3


@attrs.frozen
class Screen:
    """What one command printed."""

    command: str
    code: int
    text: str

    @property
    def control_characters(self) -> int:
        """Control characters that reach the terminal; an export is a file."""
        return 0 if self.command.startswith("export") else len(_CONTROL.findall(self.text))

    @property
    def formulas(self) -> int:
        """Cells of a CSV file that a spreadsheet would work out."""
        if "--format csv" not in self.command:
            return 0
        csv.field_size_limit(1 << 30)
        cells = (cell for row in csv.reader(io.StringIO(self.text)) for cell in row)
        return sum(bool(_FORMULA.match(cell)) and not _NUMBER.fullmatch(cell) for cell in cells)


def run_all(
    crawl: str, environment: Mapping[str, str], commands: Iterable[tuple[str, ...]]
) -> list[Screen]:
    """Run the commands, a few at a time."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda command: _run(command, crawl, environment), commands))


def _run(command: tuple[str, ...], crawl: str, environment: Mapping[str, str]) -> Screen:
    more = [] if command[0] in WITHOUT_CRAWL else ["--crawl", crawl]
    if command[0] == "jobs":
        more = ["-s", f"SEINE_CRAWL={crawl}"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", *command, *more],
            env={**os.environ, **environment},
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Screen(" ".join(command), -1, "")
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    return Screen(" ".join(command), done.returncode, text)
