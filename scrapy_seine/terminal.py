"""Output to a terminal: rich's Console, with foreign text made printable."""

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
    """Writes printable text; rich's own styles and cursor movements are kept."""

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Render; a table that is too narrow for its columns' names is rendered as a list."""
        width = (options or self.options).max_width
        if (
            isinstance(renderable, Table)
            and renderable.show_header
            and _least_width(renderable) > width
        ):
            renderable = _as_list(renderable)
        for segment in super().render(renderable, options):
            if not segment.control and (text := printable(segment.text)) != segment.text:
                yield Segment(text, segment.style)
            else:
                yield segment


def _least_width(table: Table) -> int:
    """Return the width below which column names are broken within a word."""
    words = (max(map(cell_len, str(column.header).split()), default=0) for column in table.columns)
    return sum(words) + 2 * len(table.columns)


def _as_list(table: Table) -> Group:
    """Write each row as lines of its own: the first cell, and below it the others with names."""
    names = [str(column.header) for column in table.columns]
    parts: list[Any] = [Text(str(table.title), "bold")] if table.title else []
    for title, *cells in zip(*(column.cells for column in table.columns), strict=True):
        grid = Table.grid(padding=(0, 1))
        for name, cell in zip(names[1:], cells, strict=True):
            grid.add_row(Text(f"  {name}", "dim"), cell)
        parts += [title, grid]
    return Group(*parts, *([table.caption] if table.caption else []))


class Live(RichLive):
    """A part of a terminal that is redrawn.

    rich would put a proxy around the guarded standard output, and then unwrap only that one: the
    cursor commands of its own redrawing would be made printable. All other output goes through its
    console.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"redirect_stdout": False, "redirect_stderr": False, **kwargs})
