"""A part of a feed, and which of its rows go into the joined file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from scrapy_seine.attrs_bases import Value


@attrs.frozen(eq=False, repr=False)
class Piece(Value):
    """A part, and which of its rows are taken."""

    path: Path
    rows: Sequence[int]
    sidecar: dict[str, Any]

    def data(self) -> bytes:
        """Return what its exporter wrote; other parts may precede and follow it in the file."""
        with self.path.open("rb") as file:
            file.seek(self.sidecar.get("at", 0))
            return file.read(self.sidecar.get("size", -1))

    def slices(self) -> Iterator[bytes]:
        """Yield the rows' bytes."""
        data = self.data()
        ends: list[int] = self.sidecar["ends_at"]
        for row in self.rows:
            begin = ends[row - 1] if row else self.sidecar["head"]
            yield data[begin : ends[row]]
