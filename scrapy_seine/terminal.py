"""Drawing for a terminal: rich's Console, through which foreign text gives no orders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.cells import cell_len
from rich.console import Console as RichConsole
from rich.console import Group
from rich.live import Live as RichLive
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from scrapy_seine.printable import printable


class Console(RichConsole):
    """Writes text printable; rich's own styles and movements of the cursor are no text."""

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Lay out; a table that is too narrow for the names of its columns as a list."""
        width = (options or self.options).max_width
        if isinstance(renderable, Table) and renderable.show_header and _least(renderable) > width:
            renderable = _listed(renderable)
        for segment in super().render(renderable, options):
            if not segment.control and (text := printable(segment.text)) != segment.text:
                yield Segment(text, segment.style)
            else:
                yield segment


def _least(table: Table) -> int:
    """Return the width below which the names of columns are broken within a word."""
    words = (max(map(cell_len, str(column.header).split()), default=0) for column in table.columns)
    return sum(words) + 2 * len(table.columns)


def _listed(table: Table) -> Group:
    """Write each row as lines of its own: the first cell, and below it each other one's name."""
    names = [str(column.header) for column in table.columns]
    parts: list[Any] = [Text(str(table.title), "bold")] if table.title else []
    for first, *others in zip(*(column.cells for column in table.columns), strict=True):
        grid = Table.grid(padding=(0, 1))
        for name, cell in zip(names[1:], others, strict=True):
            grid.add_row(Text(f"  {name}", "dim"), cell)
        parts += [first, grid]
    return Group(*parts, *([table.caption] if table.caption else []))


class Live(RichLive):
    """A part of a terminal that is drawn anew.

    rich would put a proxy around the guarded standard output, and then unwrap only that one: the
    orders of its own moving line would be made printable. Nothing is printed beside it but through
    its console.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"redirect_stdout": False, "redirect_stderr": False, **kwargs})
