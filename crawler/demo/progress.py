"""Compute a crawl's progress from the frontier's counters, and render it as a line."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import attrs

from crawler.reads.crawl_report import time_left
from scrapy_seine.attrs_bases import Record, Value

#: Interval over which the speed is measured, seconds.
WINDOW_S = 3.0


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Progress(Value):
    """A crawl's progress at one moment."""

    seconds: float
    """Since the start of the crawl."""
    done: int
    """Pages done or given up."""
    total: int
    """Pages known so far; grows while listings are read."""
    speed: float
    """Pages a second in the last WINDOW_S."""
    shares: Mapping[str, int]
    """Pages by worker, from each worker's last report."""
    growing: bool = False
    """Links were added lately, so that more pages will follow."""

    @property
    def eta_s(self) -> float | None:
        """Seconds until the known pages are done; None while no page was done."""
        return (self.total - self.done) / self.speed if self.speed > 0 else None


@attrs.define(eq=False, repr=False)
class Meter(Record):
    """Computes progress from readings of the counters."""

    started: float
    _readings: deque[tuple[float, int, int]] = attrs.Factory(deque)

    def read(self, now_s: float, totals: Mapping[str, int], shares: Mapping[str, int]) -> Progress:
        """Add one reading; *now_s* is by the same clock as *started*."""
        done_count = totals.get("done", 0) + totals.get("buried", 0)
        pushed_count = totals.get("pushed", 0)
        self._readings.append((now_s, done_count, pushed_count))
        while len(self._readings) > 2 and now_s - self._readings[0][0] > WINDOW_S:  # noqa: PLR2004
            self._readings.popleft()
        first_s, first_done, first_pushed = self._readings[0]
        return Progress(
            seconds=now_s - self.started,
            done=done_count,
            total=pushed_count,
            speed=(done_count - first_done) / (now_s - first_s) if now_s > first_s else 0.0,
            shares=shares,
            growing=pushed_count > first_pushed,
        )


def line(progress: Progress) -> str:
    """Render progress in one line.

    >>> line(Progress(seconds=4, done=600, total=1040, speed=146.7, shares={"1": 312, "2": 288}))
    '600 of 1,040 pages done | 147 pages/s | workers 1: 52 % 2: 48 % | 3 s left'
    """
    parts = [
        f"{progress.done:,} of {progress.total:,} pages done",
        f"{progress.speed:.0f} pages/s",
    ]
    total = sum(progress.shares.values())
    if total:
        shares = (f"{name}: {n / total:.0%}" for name, n in sorted(progress.shares.items()))
        parts.append("workers " + " ".join(shares).replace("%", " %"))
    if progress.eta_s is not None and progress.done < progress.total:
        parts.append(time_left(progress.eta_s, growing=progress.growing))
    return " | ".join(parts)
