"""Drawing for a terminal: rich's Console, through which foreign text gives no orders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console as RichConsole
from rich.live import Live as RichLive
from rich.segment import Segment

from scrapy_seine.printable import printable


class Console(RichConsole):
    """Writes text printable; rich's own styles and movements of the cursor are no text."""

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Lay out."""
        for segment in super().render(renderable, options):
            if not segment.control and (text := printable(segment.text)) != segment.text:
                yield Segment(text, segment.style)
            else:
                yield segment


class Live(RichLive):
    """A part of a terminal that is drawn anew.

    rich would put a proxy around the guarded standard output, and then unwrap only that one: the
    orders of its own moving line would be made printable. Nothing is printed beside it but through
    its console.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"redirect_stdout": False, "redirect_stderr": False, **kwargs})
