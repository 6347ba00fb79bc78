"""Write docs/demo.svg from a real run: `python docs/write_terminal.py`.

`make demo KILL=1` runs in a terminal of its own; what it draws, and when, becomes an animated SVG
without a script: each screen is shown for as long as it stood. Pauses are cut to two seconds.
"""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import attrs

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "demo.svg"
COLUMNS, ROWS = 104, 26
#: No screen stands longer, and none shorter, in seconds; the last one stays.
LONGEST_S, SHORTEST_S, LAST_S = 2.0, 0.25, 6.0
LINE, WIDE = 17, 8.0
_STYLE = """\
text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#d8dee9;white-space:pre}
.p{fill:#8fbcbb}.g{visibility:hidden}"""
#: Movements of the cursor and erasures that rich's live line uses; colours are left out.
_CODE = re.compile(r"\x1b\[(\??[\d;]*)([A-Za-z])")


@attrs.define
class Screen:
    """A terminal with as much of one as a live line needs: lines, a cursor, erasing."""

    lines: list[str] = attrs.Factory(lambda: [""])
    row: int = 0
    column: int = 0

    def feed(self, text: str) -> None:
        """Write what a program wrote."""
        at = 0
        while at < len(text):
            code = _CODE.match(text, at)
            if code:
                self._obey(code[1], code[2])
                at = code.end()
                continue
            self._put(text[at])
            at += 1

    def _put(self, sign: str) -> None:
        if sign == "\n":
            self.row += 1
            if self.row == len(self.lines):
                self.lines.append("")
        elif sign == "\r":
            self.column = 0
        elif sign >= " ":
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[: self.column] + sign + line[self.column + 1 :]
            self.column += 1

    def _obey(self, numbers: str, verb: str) -> None:
        n = int(numbers) if numbers.isdecimal() else 0
        if verb == "A":
            self.row = max(0, self.row - max(1, n))
        elif verb == "K":
            self.lines[self.row] = "" if n else self.lines[self.row][: self.column]

    def shown(self) -> tuple[str, ...]:
        """The last lines, as many as fit."""
        return tuple(line.rstrip()[:COLUMNS] for line in self.lines[-ROWS:])


def record(command: list[str], prompt: str) -> list[tuple[float, tuple[str, ...]]]:
    """Run a command in a terminal; returns its screens with the seconds for which each stood."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "LINES": "40", "TERM": "xterm"}
    process = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, env=environment, cwd=ROOT
    )
    os.close(follower)
    screen = Screen()
    screen.feed(f"{prompt}\r\n")
    found, since = [], time.monotonic()
    for part in _output(leader, process):
        before = screen.shown()
        screen.feed(part)
        now = time.monotonic()
        if screen.shown() != before:
            found.append((now - since, before))
            since = now
    found.append((LAST_S, screen.shown()))
    if process.wait():
        raise SystemExit(f"the demo ended with {process.returncode}")
    return found


def _output(leader: int, process: subprocess.Popen[bytes]) -> Iterator[str]:
    while True:
        ready, _, _ = select.select([leader], [], [], 0.2)
        if not ready:
            if process.poll() is not None:
                return
            continue
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other side is closed
            return
        if not part:
            return
        yield part.decode("utf-8", "replace")


def condensed(
    screens: list[tuple[float, tuple[str, ...]]],
) -> list[tuple[float, tuple[str, ...]]]:
    """Leave out what stood too shortly to be read, and cut what stood too long."""
    kept: list[tuple[float, tuple[str, ...]]] = []
    spent = 0.0
    for seconds, lines in screens[:-1]:
        spent += seconds
        if spent >= SHORTEST_S:
            kept.append((min(spent, LONGEST_S), lines))
            spent = 0.0
    return [*kept, screens[-1]]


def svg(screens: list[tuple[float, tuple[str, ...]]]) -> str:
    """Draw the screens one after the other, for ever; a reader without animation sees the last."""
    whole = sum(seconds for seconds, _ in screens)
    height, width = LINE * ROWS + 24, int(COLUMNS * WIDE) + 24
    parts = [
        _line(row, text, at / whole, end / whole, whole) for row, text, at, end in runs(screens)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
        f"<title>make demo KILL=1 in a terminal</title><style>{_STYLE}</style>"
        f'<rect width="{width}" height="{height}" rx="8" fill="#20262e"/>{"".join(parts)}</svg>\n'
    )


def runs(
    screens: list[tuple[float, tuple[str, ...]]],
) -> Iterator[tuple[int, str, float, float]]:
    """Yield each line once for as long as it stood: its row, text, begin and end in seconds."""
    for row in range(ROWS):
        at, began, shown = 0.0, 0.0, ""
        for seconds, lines in [*screens, (0.0, ())]:
            text = lines[row] if row < len(lines) else ""
            if text != shown:
                if shown:
                    yield row, shown, began, at
                began, shown = at, text
            at += seconds


def _line(row: int, text: str, begin: float, end: float, whole: float) -> str:
    kinds = " ".join(name for name, on in (("p", text[:1] == "$"), ("g", end < 1)) if on)
    kind = f' class="{kinds}"' if kinds else ""
    animate = ""
    if begin > 0 or end < 1:
        animate = (
            f'<animate attributeName="visibility" dur="{whole:.2f}s" repeatCount="indefinite"'
            ' calcMode="discrete" values="hidden;visible;hidden"'
            f' keyTimes="0;{begin:.4f};{end:.4f}"/>'
        )
    return f'<text x="12" y="{24 + LINE * row}"{kind}>{escape(text)}{animate}</text>'


if __name__ == "__main__":
    scrapy = [sys.executable, "-m", "scrapy", "demo", "--kill"]
    TARGET.write_text(svg(condensed(record(scrapy, "$ make demo KILL=1"))), "utf-8")
