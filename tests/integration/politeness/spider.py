"""A spider that asks for pages and looks at nothing but its loop's clock."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import monotonic
from typing import Any

from scrapy import signals

from scrapy_seine.engine.spider import FrontierSpider

TICK_S = 0.02


def starved_s() -> float:
    """Return the seconds in which the loop's thread waited for a processor; 0 where unknown."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_bytes().split()[1]) / 1e9
    except OSError:
        return 0.0


class PoliteSpider(FrontierSpider):
    """Seeds only; it counts for how long something held the event loop.

    Time in which the loop was ready and the machine gave it no processor counts for nothing.
    """

    name = "polite"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.watch, signals.spider_opened)
        return spider

    def watch(self) -> None:
        """Begin to look at the clock."""
        self._tick(monotonic(), starved_s())

    def _tick(self, due: float, starved_before_s: float) -> None:
        now, starved = monotonic(), starved_s()
        held_s = now - due - (starved - starved_before_s)
        self.crawler.stats.max_value("polite/max_lag_s", round(max(0.0, held_s), 3))
        asyncio.get_running_loop().call_later(TICK_S, self._tick, now + TICK_S, starved)

    def parse(self, response: Any) -> Any:
        """Pages have nothing to find; /links/N has N links."""
        if "/links/" in response.url:
            n = int(response.url.rpartition("/")[2])
            yield from (response.follow(f"/p/{i}") for i in range(n))

    def limits_of(self, url: str) -> tuple[int | None, int | None]:
        """What the test says."""
        limits = self.settings.getlist("POLITE_LIMITS") or [None, None]
        return limits[0], limits[1]
