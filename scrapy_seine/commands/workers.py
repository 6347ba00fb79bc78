"""`scrapy workers`: the workers, and their shares of the pages."""

from __future__ import annotations

from typing import Any

import attrs

from scrapy_seine.commands.fleet_base import FleetCommand
from scrapy_seine.reads import lazy_rich, terminal_tables
from scrapy_seine.reads.overview import Overview


class Command(FleetCommand):
    """Shows the workers of the last hour with their heartbeats."""

    summary = "Show the workers with their heartbeats and shares"
    example = "scrapy workers --json"
    minutes = 1
    domains = 1

    def draw(self, overview: Overview) -> lazy_rich.RenderableType:
        """Make the table of workers."""
        return terminal_tables.workers(overview.fleet)

    def plain(self, overview: Overview) -> dict[str, Any]:
        """Return the workers."""
        return {"workers": [attrs.asdict(worker) for worker in overview.fleet.workers]}
