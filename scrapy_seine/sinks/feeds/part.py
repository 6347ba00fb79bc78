"""One part of a feed while it is filled: its bytes, where each row ends, and each row's page."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any, Literal

import attrs
import orjson
from scrapy.exporters import (
    BaseItemExporter,
    CsvItemExporter,
    JsonItemExporter,
    XmlItemExporter,
)

from scrapy_seine.attrs_bases import Value
from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.sinks.feeds.compressed_parts import is_packed

#: Version of the sidecar's format.
VERSION = 1
#: A part is closed at so many bytes or rows, or after so many seconds.
_MOST_BYTES, _MOST_ROWS, LONGEST_S = 8 << 20, 20_000, 1.0
#: Size up to which closing a part takes less time than handing it to a thread, bytes.
SMALL = 64 << 10
#: What no XML document may contain (XML 1.0, 2.2), and Scrapy's exporter writes.
_NOT_IN_XML = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|&#6553[45];")
#: Name of a sidecar: its part's, and this.
SIDECAR = ".rows"
#: How an exporter's rows are joined; `opaque`: they cannot be.
Kind = Literal["rows", "json", "csv", "parquet", "packed", "opaque"]


@attrs.frozen(eq=False, repr=False)
class Reading(Value):
    """One reading of one page: a page is read again after a worker's death, for instance."""

    page: str
    """The crawl's state and the request's id; empty for items without a page."""
    token: str
    """Token of the lease."""
    at_ms: int
    """When its first item came, by the frontier's clock."""


#: Items that `start()` yields: they have no page, so nothing shows that they are complete.
NO_PAGE = Reading("", "", 0)


@attrs.frozen(eq=False, repr=False)
class Sealed(Value):
    """A part that is ready to be written."""

    data: bytes
    sidecar_fields: dict[str, Any]
    """The content of its sidecar."""
    rows: int

    @property
    def is_plain(self) -> bool:
        """Whether it has only rows, so that it may follow another part in one file."""
        ends = self.sidecar_fields["ends_at"]
        return (
            self.sidecar_fields["kind"] == "rows"
            and self.sidecar_fields["head"] == 0
            and len(self.data) == (ends[-1] if ends else 0)
        )

    def sidecar(self, name: str = "", offset: int = 0) -> bytes:
        """Return its line in the sidecar; *offset*: where it begins in its file, bytes."""
        place = {"name": name, "at": offset} if name else {}
        fields = {**self.sidecar_fields, **place, "size": len(self.data)}
        return orjson.dumps(fields, default=str)


class Part:
    """Items of one feed, exported into memory by an exporter of Scrapy's or the project's."""

    def __init__(
        self, exporter: BaseItemExporter, buffer: BytesIO, *, appends: bool = False
    ) -> None:
        self.exporter, self.buffer, self.appends = exporter, buffer, appends
        self.ends_at: list[int] = []
        """Where each row ends, in bytes."""
        self.runs: list[tuple[Reading, int, int]] = []
        """Successive rows of one reading: the first, and how many."""
        self.finished_readings: list[tuple[Reading, str]] = []
        """Finished readings with their outcomes: no later part has rows of them."""
        exporter.start_exporting()
        self.head = buffer.tell()

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self.buffer.tell()

    @property
    def is_full(self) -> bool:
        """Whether it must be closed, because a page is held until its part is written."""
        return self.size >= _MOST_BYTES or self.rows >= _MOST_ROWS

    @property
    def ends_soon(self) -> bool:
        """Whether `seal` is quick: few rows, each written when it was added."""
        return self.head < self.size <= SMALL or not self.rows

    @property
    def rows(self) -> int:
        """Items so far."""
        return len(self.ends_at)

    def add(self, item: Any, reading: Reading) -> None:
        """Export an item.

        Raises:
            Exception: an exception of the exporter; the part is then unchanged.
        """
        begin = self.buffer.tell()
        try:
            self.exporter.export_item(item)
            if isinstance(self.exporter, XmlItemExporter):
                self._check_xml(begin)
        except BaseException:
            self.buffer.seek(begin)
            self.buffer.truncate()
            raise
        row = len(self.ends_at)
        self.ends_at.append(self.buffer.tell())
        if self.runs and self.runs[-1][0] is reading:
            self.runs[-1] = (reading, self.runs[-1][1], self.runs[-1][2] + 1)
        else:
            self.runs.append((reading, row, 1))

    def _check_xml(self, begin: int) -> None:
        """Check that the last item leaves the whole file readable.

        Raises:
            ValueError: it has a character that XML has not, not even escaped.
        """
        text = self.buffer.getbuffer()[begin:].tobytes().decode(self.exporter.encoding or "utf-8")
        if found := _NOT_IN_XML.search(text):
            raise ValueError(f"{found[0]!r} has no place in XML")

    def seal(self) -> Sealed:
        """Close the part. Some formats do all their work here, so it may need a thread.

        Raises:
            Exception: an exception of the exporter.
        """
        filled = self.buffer.tell()
        self.exporter.finish_exporting()
        data = self.buffer.getvalue()
        row_by_row = filled > self.head or not self.rows
        kind = "packed" if is_packed(data) else kind_of(self.exporter, row_by_row)
        sidecar: dict[str, Any] = {
            "seine_part": VERSION,
            "kind": kind,
            "rows": self.rows,
            "head": self.head,
            "ends_at": self.ends_at if kind not in {"parquet", "packed"} else [],
            "readings": [[r.page, r.token, r.at_ms, first_row, n] for r, first_row, n in self.runs],
            "ended": [[r.page, r.token, r.at_ms, outcome] for r, outcome in self.finished_readings],
        }
        if self.appends:
            sidecar["appends"] = True
        if isinstance(self.exporter, CsvItemExporter) and kind == "csv":
            sidecar["csv"] = csv_form(self.exporter)
        return Sealed(data, sidecar, self.rows)


def kind_of(exporter: BaseItemExporter, row_by_row: bool) -> Kind:
    """Return how an exporter's parts are joined; *row_by_row*: each item was written at once."""
    if getattr(exporter, "seine_kind", None) == "parquet":
        return "parquet"
    if isinstance(exporter, CsvItemExporter):
        return "csv"
    if isinstance(exporter, JsonItemExporter):
        return "json"
    return "rows" if row_by_row else "opaque"


def csv_form(exporter: CsvItemExporter) -> dict[str, Any]:
    """Return the options needed to read and write an exporter's rows."""
    form = {
        name: value
        for name, value in scrapy_internals.export_options_of(exporter).items()
        if isinstance(value, str | int | bool) or value is None
    }
    return {
        "encoding": exporter.encoding or "utf-8",
        "headers": exporter.include_headers_line,
        "dialect": form,
    }
