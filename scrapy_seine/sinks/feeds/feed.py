"""One feed of one worker: items go into the current part; their pages end when it is durable."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

import attrs
from itemadapter import ItemAdapter
from scrapy.exporters import BaseItemExporter, CsvItemExporter

from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.lease.error_text import describe
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.page_end import Hold
from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.printable import redact
from scrapy_seine.sinks.feeds.part import LONGEST_S, NO_PAGE, Part, Reading
from scrapy_seine.sinks.feeds.part_names import Naming
from scrapy_seine.sinks.feeds.part_storage import Place
from scrapy_seine.store_wait import RetryUntil

logger = logging.getLogger(__name__)
#: Bytes of parts that wait to be written, beyond which the worker takes no more requests.
MOST_WAITING = 64 << 20
#: A worker that has had no page for so long closes its part, s.
IDLE_S = 0.25
#: A storage that takes a part for so long is reported, s: boto3 alone would be silent for minutes.
SLOW_S = 10.0
#: Makes an exporter that writes into a buffer; fields: the columns if the feed names none.
NewExporter = Callable[[BytesIO, Sequence[str] | None], BaseItemExporter]


@attrs.define(eq=False, repr=False)
class _Page:
    """A page whose items this feed holds."""

    reading: Reading
    hold: Hold
    has_failed: str = ""
    """Why some of its items will never be durable."""

    def end(self) -> None:
        """End the page, because all its items are written."""
        if self.has_failed:
            self.hold.fail(self.has_failed)
        else:
            self.hold.release()


class Feed:
    """Takes items, and keeps their pages open until they are durable."""

    def __init__(
        self,
        place: Place,
        exporter: NewExporter,
        inflight: InFlightTable,
        naming: Naming,
        *,
        outage_s: float,
        on_failure: Callable[[str], None],
        appends: bool = False,
    ) -> None:
        self.place = place
        self._exporter, self._inflight, self._naming = exporter, inflight, naming
        self._outage_s, self._on_failure = outage_s, on_failure
        self._appends = appends
        """Whether its file keeps what it holds (`-o`)."""
        self._pages: dict[InFlight, _Page] = {}
        self._part: Part | None = None
        self._ending_pages: list[_Page] = []
        """Pages that end in the current part."""
        self._sealed: deque[tuple[int, Part, list[_Page]]] = deque()
        self._waiting = 0
        self._number = 0
        self._columns: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self.items = 0

    def take(self, item: Any) -> None:
        """Take an item of the current page.

        Raises:
            Exception: an exception of the exporter; the feed does not have the item then.
        """
        entry = current.get()
        page = self._pages.get(entry) if entry is not None else None
        if page is None and entry is not None:
            page = self._begin(entry)
        columns = self._columns
        reading = page.reading if page is not None else self._reading_of(entry)
        part = self._part_for(item)
        try:
            part.add(item, reading)
        except Exception:
            if not part.rows:  # its exporter has the refused item's columns, and wrote its head
                self._columns = columns
                self._begin_part()
            raise
        self.items += 1
        if part.is_full:
            self.seal()

    def _begin(self, entry: InFlight) -> _Page | None:
        hold = self._inflight.hold(None)
        if hold.entry is None:  # its lease is lost: another worker parses the page
            return None
        page = self._pages[entry] = _Page(self._reading_of(entry), hold)
        return page

    def _reading_of(self, entry: InFlight | None) -> Reading:
        """Name a page's reading, also of a page without a lease: the join prefers another's."""
        if entry is None:
            return NO_PAGE
        at_ms = round(self._inflight.now(entry).timestamp() * 1000)
        return Reading(self._naming.page(entry), entry.lease.token, at_ms)

    def _part_for(self, item: Any) -> Part:
        """Return the current part; a new one if a CSV file would lack a column of the item."""
        part = self._part
        if part is not None and type(part.exporter) is not CsvItemExporter:
            return part
        missing = [name for name in ItemAdapter(item).field_names() if name not in self._columns]
        if part is not None and (part.exporter.fields_to_export != self._columns or not missing):
            return part
        if part is not None and part.rows:
            self.seal()
        self._columns = [*self._columns, *missing]
        return self._begin_part()

    def _begin_part(self) -> Part:
        """Begin a part, with the records of the one without rows that it replaces."""
        buffer = BytesIO()
        part = Part(self._exporter(buffer, self._columns), buffer, appends=self._appends)
        if self._part is not None:
            part.finished_readings = self._part.finished_readings
        else:
            self._timer = asyncio.get_running_loop().call_later(LONGEST_S, self.seal)
        self._part = part
        return part

    def page_finished(self, entry: InFlight) -> None:
        """Record how a finished page ended, for the join."""
        page = self._pages.pop(entry, None)
        if page is None:
            if not entry.tries and not entry.lease.deliveries:
                return  # no earlier reading of it left items to discard
            page = self._begin(entry)
            if page is None:
                return
            del self._pages[entry]
        part = self._part if self._part is not None else self._begin_part()
        part.finished_readings.append((page.reading, entry.outcome))
        self._ending_pages.append(page)
        if not self._inflight.scrapy_holds_any:
            asyncio.get_running_loop().call_soon(self._idle)

    def _idle(self) -> None:
        """Close the part if its pages' links wait for it; else wait for the next pages.

        Otherwise, in a crawl where each page leads to one other, each would be a part of its own.
        """
        if self._inflight.scrapy_holds_any or self._part is None:
            return
        if not self._inflight.send_links(page.hold for page in self._ending_pages):
            self.seal()
            return
        loop = asyncio.get_running_loop()
        loop.call_later(IDLE_S, self._seal_if_idle_since, self._part, len(self._ending_pages))

    def _seal_if_idle_since(self, part: Part, page_count: int) -> None:
        if (
            self._part is part
            and len(self._ending_pages) == page_count
            and not self._inflight.scrapy_holds_any
        ):
            self.seal()

    def seal(self) -> None:
        """Close the current part, and write it."""
        part, self._part = self._part, None
        if self._timer is not None:
            self._timer.cancel()
        if part is None:
            return
        self._sealed.append((self._number, part, self._ending_pages))
        self._number += 1
        self._ending_pages = []
        self._waiting += part.size
        self._press()
        if self._writing is None:
            self._writing = asyncio.ensure_future(self._write_all())

    def _press(self) -> None:
        self._inflight.request_pause(f"feed {self.place.name}", self._waiting > MOST_WAITING)

    async def _write_all(self) -> None:
        """Write closed parts one after the other, because a page may span several."""
        try:
            while self._sealed:
                number, part, pages = self._sealed[0]
                await self._write(number, part)
                self._sealed.popleft()
                self._waiting -= part.size
                self._press()
                for page in pages:
                    page.end()
        except Exception as error:
            # The pages stay held: their leases are handed back when the worker exits.
            self._on_failure(f"feed {self.place.name}: {redact(str(error))}")
        finally:
            self._writing = None

    async def _write(self, number: int, part: Part) -> None:
        try:
            sealed = part.seal() if part.ends_soon else await asyncio.to_thread(part.seal)
        except Exception as error:  # an item that its format cannot represent
            self._refuse(part, f"feed {self.place.name}: {describe(error)}")
            return
        name = await self._naming.part(number)

        async def work() -> None:
            slow = f"its storage has not answered for {SLOW_S:g} s; pages wait for it"
            timer = asyncio.get_running_loop().call_later(SLOW_S, self._warn, slow)
            try:
                await self.place.write(name, sealed)
            finally:
                timer.cancel()

        try:
            await work()
        except (OSError, StoreUnreachable):
            self._inflight.request_pause(f"feed {self.place.name} is away", True)
            await RetryUntil(self._outage_s, self._warn).try_until_async(work)
            self._inflight.request_pause(f"feed {self.place.name} is away", False)

    def _warn(self, text: str) -> None:
        logger.warning("feed %s: %s", self.place.name, redact(text))

    def _refuse(self, part: Part, reason: str) -> None:
        """Fail the pages of a part that cannot be closed, and no others; they may end in a later
        part."""
        logger.error("%s; %d items' pages are tried again", redact(reason), part.rows)
        readings = {id(reading) for reading, _, _ in part.runs}
        sealed_pages = (page for _, _, pages in self._sealed for page in pages)
        for page in (*sealed_pages, *self._pages.values(), *self._ending_pages):
            if id(page.reading) in readings:
                page.has_failed = reason

    async def flush(self) -> None:
        """Write the remaining parts, and return when they are durable or have failed."""
        self.seal()
        if self._writing is not None:
            await self._writing
