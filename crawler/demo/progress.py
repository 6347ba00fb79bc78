"""How far a crawl is, from the frontier's counters; and the one line that says so."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import attrs

from crawler.reads.crawl_report import time_left
from scrapy_seine.records import Record, Value

#: Speed is that of the last so many seconds.
WINDOW_S = 3.0


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Progress(Value):
    """A crawl at one moment."""

    seconds: float
    """Since the demo began to crawl."""
    done: int
    """Pages finished, or given up for good."""
    total: int
    """Pages known so far; grows while listings are read."""
    speed: float
    """Pages a second, lately."""
    shares: Mapping[str, int]
    """Pages by worker, as each last reported."""
    growing: bool = False
    """New links came in lately: what is left is more than what is known."""

    @property
    def eta_s(self) -> float | None:
        """Seconds until what is known is done; None while there is no speed to judge by."""
        return (self.total - self.done) / self.speed if self.speed > 0 else None


@attrs.define(eq=False, repr=False)
class Meter(Record):
    """Turns readings of the counters into progress."""

    started: float
    _readings: deque[tuple[float, int, int]] = attrs.Factory(deque)

    def read(self, now: float, totals: Mapping[str, int], shares: Mapping[str, int]) -> Progress:
        """Take one reading; *now* is in the seconds of the same clock as *started*."""
        done = totals.get("done", 0) + totals.get("buried", 0)
        known = totals.get("pushed", 0)
        self._readings.append((now, done, known))
        while len(self._readings) > 2 and now - self._readings[0][0] > WINDOW_S:  # noqa: PLR2004
            self._readings.popleft()
        then, before, knew = self._readings[0]
        return Progress(
            seconds=now - self.started,
            done=done,
            total=known,
            speed=(done - before) / (now - then) if now > then else 0.0,
            shares=shares,
            growing=known > knew,
        )


def line(progress: Progress) -> str:
    """Say it in one line.

    >>> line(Progress(seconds=4, done=600, total=1040, speed=146.7, shares={"1": 312, "2": 288}))
    '600 of 1,040 pages done | 147 pages/s | workers 1: 52 % 2: 48 % | 3 s left'
    """
    parts = [
        f"{progress.done:,} of {progress.total:,} pages done",
        f"{progress.speed:.0f} pages/s",
    ]
    every = sum(progress.shares.values())
    if every:
        shares = (f"{name}: {n / every:.0%}" for name, n in sorted(progress.shares.items()))
        parts.append("workers " + " ".join(shares).replace("%", " %"))
    if progress.eta_s is not None and progress.done < progress.total:
        parts.append(time_left(progress.eta_s, growing=progress.growing))
    return " | ".join(parts)
