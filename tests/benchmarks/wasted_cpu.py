"""An add-on that wastes CPU on every page, to see whether the guard notices."""

from __future__ import annotations

import time
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings


class Burn:
    """Brings `Waste` into a crawl."""

    def update_settings(self, settings: BaseSettings) -> None:
        settings["EXTENSIONS"]["tests.benchmarks.wasted_cpu.Waste"] = 0


class Waste:
    """Burns BURN_MS milliseconds of CPU for each response."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Waste:
        waste = cls(crawler.settings.getfloat("BURN_MS") / 1000)
        crawler.signals.connect(waste.respond, signals.response_received)
        return waste

    def respond(self, **_: Any) -> None:
        until = time.thread_time() + self.seconds
        while time.thread_time() < until:
            pass
