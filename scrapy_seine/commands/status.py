"""`scrapy status`: the fleet on one screen."""

from __future__ import annotations

from scrapy_seine.commands.fleet_base import FleetCommand
from scrapy_seine.reads import lazy_rich, terminal_tables
from scrapy_seine.reads.overview import Overview


class Command(FleetCommand):
    """Shows requests by state, speed, stores, busiest domains and workers."""

    summary = "Show the fleet on one screen"
    example = "scrapy status --watch"

    def draw(self, overview: Overview) -> lazy_rich.RenderableType:
        """Lay out the whole overview."""
        return terminal_tables.status(overview)
