"""Drawing for a terminal: rich's Console, through which foreign text gives no orders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console as RichConsole
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
