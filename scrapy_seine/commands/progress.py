"""`scrapy progress`: watch a crawl until it is done."""

from __future__ import annotations

import argparse

from scrapy_seine.commands.fleet_base import INTERVAL_S, FleetCommand
from scrapy_seine.reads import lazy_rich, terminal_tables
from scrapy_seine.reads.formatting import time_left
from scrapy_seine.reads.overview import Overview
from scrapy_seine.reads.progress import Pace, estimate, follow


class Command(FleetCommand):
    """Draws a bar that moves, and ends when nothing is left to do."""

    summary = "Watch a crawl until nothing is left to do"
    arguments = "[--once] [--json]"
    example = "scrapy progress"
    minutes = 10
    domains = 1
    full_screen = False

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --once; the default is to watch."""
        super().add_options(parser)
        parser.add_argument("--once", action="store_true", help="draw once, do not wait")

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Watch, unless asked not to."""
        opts.watch = None if opts.once or opts.json else opts.watch or str(INTERVAL_S / 2)
        return super().perform(args, opts)

    pace: Pace | None = None
    """The speed so far, while the command watches."""

    def draw(self, overview: Overview) -> lazy_rich.RenderableType:
        """Draw the bar."""
        counts, at_s = overview.fleet.counts, overview.fleet.at
        ended_count = counts.totals.get("done", 0) + counts.dead
        if self.pace is None:
            # The first read knows the speed of the last minutes.
            rate = overview.pages_a_minute / 60
            self.pace = Pace(at_s, ended_count + counts.undone, ended_count, rate, 0.0)
        self.pace = follow(self.pace, at_s, ended_count + counts.undone, ended_count, at_s)
        return terminal_tables.progress(overview, time_left(estimate(self.pace)))

    def should_stop(self, overview: Overview) -> bool:
        """Whether the crawl had work, and none is left."""
        return overview.fleet.counts.undone == 0 and overview.fleet.counts.totals != {}
