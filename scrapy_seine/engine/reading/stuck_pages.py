"""Reports pages that do not end: an await that never returns keeps its page, and the crawl, open.

No limit ends such a page, because a spider may wait for hours for what it needs; SIGTERM hands it
back like any other. It is logged when it is older than a lease's lifetime, then each time its age
has doubled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

import attrs
from scrapy import Request
from scrapy.utils.python import global_object_name

from scrapy_seine.attrs_bases import Record
from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.printable import printable, redact

logger = logging.getLogger(__name__)
_LONGEST_URL = 300


@attrs.define(eq=False, repr=False)
class _Stay(Record):
    since: float
    log_after_s: float
    """Age at which it is logged, s."""
    landed: bool


@attrs.define(eq=False, repr=False)
class LongPages(Record):
    """Finds requests that a worker's spider, pipelines or middlewares do not finish."""

    limit_s: float
    """Age at which a page is logged, s."""
    download_s: float = 180.0
    """Timeout of a download without a limit of its own, s."""
    usual: Callable[[], Any] = lambda: None
    """Returns the callback of a request that names none."""
    _stays: dict[InFlight, _Stay] = attrs.field(factory=dict)

    def log_slow(self, entries: Iterable[InFlight], now: float | None = None) -> str:
        """Log requests held by Scrapy that take too long.

        Returns what the oldest of them waits for, and how long; '' if there is none.
        """
        now = monotonic() if now is None else now
        self._stays = {entry: self._stay(entry, now) for entry in entries}
        overdue = [(e, s) for e, s in self._stays.items() if now - s.since >= self._limit(e, s)]
        if not overdue:
            return ""
        entry, stay = min(overdue, key=lambda pair: pair[1].since)
        text = self._text(entry, stay, now)
        to_log = [s for _, s in overdue if now - s.since >= s.log_after_s]
        if to_log:
            others = f" (and {len(overdue) - 1} more)" if len(overdue) > 1 else ""
            logger.warning("%s%s; the crawl cannot end before that page does", text, others)
        for stay in to_log:
            stay.log_after_s = 2 * (now - stay.since)
        return text

    def _stay(self, entry: InFlight, now: float) -> _Stay:
        stay = self._stays.get(entry)
        if stay is None or stay.landed != entry.landed:  # its download is over
            return _Stay(now, self.limit_s, entry.landed)
        return stay

    def _limit(self, entry: InFlight, stay: _Stay) -> float:
        if stay.landed:
            return self.limit_s
        timeout = entry.request.meta.get("download_timeout")
        download_s = timeout if isinstance(timeout, int | float) else self.download_s
        return self.limit_s + 2 * download_s

    def _text(self, entry: InFlight, stay: _Stay, now: float) -> str:
        place = "the download or a downloader middleware"
        if stay.landed:
            place = f"{self._callback(entry.request)}, a spider middleware or an item pipeline"
        url = redact(printable(entry.request.url))[:_LONGEST_URL]
        return f"{url} has not returned from {place} for {now - stay.since:.0f} s"

    def _callback(self, request: Request) -> str:
        callback = request.callback or self.usual()
        try:
            return f"its callback {global_object_name(getattr(callback, '__func__', callback))}"
        except AttributeError:  # the callback is no function
            return f"its callback {type(callback).__name__}"
