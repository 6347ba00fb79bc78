"""`scrapy status`: the fleet on one screen."""

from __future__ import annotations

from crawler import paint
from crawler.cli_fleet import FleetCommand
from crawler.ops import screens
from crawler.ops.overview import Overview


class Command(FleetCommand):
    """Shows requests by state, speed, stores, busiest domains and workers."""

    summary = "Show the fleet on one screen"
    example = "scrapy status --watch"

    def draw(self, overview: Overview) -> paint.RenderableType:
        """Lay everything out."""
        return screens.status(overview)
