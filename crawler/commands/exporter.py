"""`scrapy exporter`: the fleet's metrics for Prometheus, without the dashboard."""

from __future__ import annotations

import argparse
from typing import Any, ClassVar

from crawler.access.shared_state import fleet_name
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.fleet_base import addresses
from scrapy_seine.commands.which_crawl import declare_crawl, frontier_of


class Command(SeineCommand):
    """Serves /metrics, /healthz and /readyz of the fleet until Ctrl-C or SIGTERM."""

    summary = "Serve the fleet's metrics for Prometheus"
    arguments = "[--host ADDRESS] [--port N]"
    example = "scrapy exporter --port 9808"
    usual_spider = "catalog"
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": True}

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the address and the crawl."""
        super().add_options(parser)
        parser.add_argument("--host", default="127.0.0.1", help="address (127.0.0.1)")
        parser.add_argument("--port", type=int, default=9808, help="port, 0 picks one (9808)")
        declare_crawl(self, parser)

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Serve until asked to stop.

        Raises:
            ConfigError: the address cannot be used.
        """
        # Imported here, because Scrapy imports every command, and a worker needs no web server.
        from crawler.dashboard.app import make_exporter
        from crawler.dashboard.config import DashboardConfig
        from crawler.dashboard.serve import serve

        frontier = frontier_of(self, opts)
        config = DashboardConfig(
            crawl=frontier.crawl,
            partitions=frontier.partitions,
            seeds_key=frontier.seeds_key,
            fleet=fleet_name(self.project),
        )
        serve(
            make_exporter(config, addresses(self.project)),
            opts.host,
            opts.port,
            lambda url: self.show(f"metrics of crawl {config.crawl} at {url}metrics", url=url),
        )
        return 0
