"""Pages that do not end: an await that never returns holds its page, and with it the crawl.

No limit ends such a page, because a spider may wait for hours for what it needs; SIGTERM hands it
back like any other. It is logged when it has taken longer than a lease lives, then each time that
it has taken twice as long.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

import attrs
from scrapy import Request
from scrapy.utils.python import global_object_name

from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.printable import printable, redact
from scrapy_seine.records import Record

logger = logging.getLogger(__name__)
_LONGEST_URL = 300


@attrs.define(eq=False, repr=False)
class _Stay(Record):
    since: float
    tell_s: float
    """Age at which it is logged."""
    landed: bool


@attrs.define(eq=False, repr=False)
class LongPages(Record):
    """Finds the requests that a worker's spider, pipelines or middlewares do not finish."""

    limit_s: float
    """Age at which a page is logged, s."""
    download_s: float = 180.0
    """How long a download may take that names no limit of its own, s."""
    usual: Callable[[], Any] = lambda: None
    """The callback of a request that names none."""
    _stays: dict[InFlight, _Stay] = attrs.field(factory=dict)

    def look(self, entries: Iterable[InFlight], now: float | None = None) -> str:
        """Look at the requests that Scrapy works on, and log those that take too long.

        Returns what the oldest of them waits in, and for how long; empty where there is none.
        """
        now = monotonic() if now is None else now
        self._stays = {entry: self._stay(entry, now) for entry in entries}
        late = [(e, s) for e, s in self._stays.items() if now - s.since >= self._limit(e, s)]
        if not late:
            return ""
        entry, stay = min(late, key=lambda found: found[1].since)
        text = self._text(entry, stay, now)
        due = [s for _, s in late if now - s.since >= s.tell_s]
        if due:
            more = f" (and {len(late) - 1} more)" if len(late) > 1 else ""
            logger.warning("%s%s; the crawl cannot end before that page does", text, more)
        for stay in due:
            stay.tell_s = 2 * (now - stay.since)
        return text

    def _stay(self, entry: InFlight, now: float) -> _Stay:
        stay = self._stays.get(entry)
        if stay is None or stay.landed != entry.landed:  # its download is over
            return _Stay(now, self.limit_s, entry.landed)
        return stay

    def _limit(self, entry: InFlight, stay: _Stay) -> float:
        if stay.landed:
            return self.limit_s
        own = entry.request.meta.get("download_timeout")
        download_s = own if isinstance(own, int | float) else self.download_s
        return self.limit_s + 2 * download_s

    def _text(self, entry: InFlight, stay: _Stay, now: float) -> str:
        where = "the download or a downloader middleware"
        if stay.landed:
            where = f"{self._callback(entry.request)}, a spider middleware or an item pipeline"
        url = redact(printable(entry.request.url))[:_LONGEST_URL]
        return f"{url} has not returned from {where} for {now - stay.since:.0f} s"

    def _callback(self, request: Request) -> str:
        callback = request.callback or self.usual()
        try:
            return f"its callback {global_object_name(getattr(callback, '__func__', callback))}"
        except AttributeError:  # what is called is no function
            return f"its callback {type(callback).__name__}"
