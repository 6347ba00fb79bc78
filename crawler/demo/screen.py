"""The demo's output: a live line and a table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from crawler.demo.progress import Progress, line
from scrapy_seine.attrs_bases import Record
from scrapy_seine.terminal import Live

#: Interval of plain lines where the output is no terminal, seconds.
PRINT_EVERY_S = 2.0
#: Columns of a name, so that a row fits on 80 columns.
NAME_WIDTH = 33
COLUMNS = ("external_id", "name", "price", "currency", "availability")


@attrs.define(eq=False, repr=False)
class Screen(Record):
    """Shows a demo's events and progress on one console; a context manager."""

    console: Console
    _live: Live | None = None
    _printed_s: float = 0.0

    def __enter__(self) -> Screen:
        if self.console.is_terminal:
            self._live = Live(console=self.console, refresh_per_second=8, transient=False)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def report(self, text: str) -> None:
        """Print a line that stays."""
        self.console.print(Text(f"demo: {text}"), soft_wrap=True)

    def show(self, progress: Progress) -> None:
        """Update the progress line."""
        if not progress.total:
            return  # the workers are still starting
        text = Text(f"demo: {line(progress)}")
        now_s = time.monotonic()
        if self._live is not None:
            self._live.update(text)
        elif now_s - self._printed_s >= PRINT_EVERY_S:
            self._printed_s = now_s
            self.console.print(text, soft_wrap=True)

    def table(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Print rows of products."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in COLUMNS:
            side: JustifyMethod = "right" if column == "price" else "left"
            width = NAME_WIDTH if column == "name" else None
            table.add_column(column, justify=side, no_wrap=True, max_width=width)
        for row in rows:
            table.add_row(*(Text(str(row.get(column, ""))) for column in COLUMNS))
        self.console.print(table)
