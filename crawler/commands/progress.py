"""`scrapy progress`: watch a crawl until it is done."""

from __future__ import annotations

import argparse

from rich.console import RenderableType

from crawler.cli_fleet import INTERVAL_S, FleetCommand
from crawler.ops import screens
from crawler.ops.overview import Overview


class Command(FleetCommand):
    """Draws a bar that moves, and ends when nothing is left to do."""

    summary = "Watch a crawl until nothing is left to do"
    arguments = "[--once] [--json]"
    example = "scrapy progress"
    minutes = 10
    domains = 1
    full_screen = False

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --once; to watch is the default here."""
        super().add_options(parser)
        parser.add_argument("--once", action="store_true", help="draw once, do not wait")

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Watch, unless asked not to."""
        opts.watch = None if opts.once or opts.json else opts.watch or str(INTERVAL_S / 2)
        return super().perform(args, opts)

    def draw(self, overview: Overview) -> RenderableType:
        """Draw the bar."""
        return screens.progress(overview)

    def over(self, overview: Overview) -> bool:
        """Whether work was seen, and none is left."""
        return overview.fleet.counts.undone == 0 and overview.fleet.counts.totals != {}
