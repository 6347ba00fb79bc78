"""`scrapy dashboard`: the fleet in a browser."""

from __future__ import annotations

import argparse
from typing import Any, ClassVar

import attrs

from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.fleet_base import addresses
from scrapy_seine.commands.which_crawl import declare_crawl, frontier_of


class Command(SeineCommand):
    """Serves the dashboard and the fleet's /metrics until Ctrl-C or SIGTERM."""

    summary = "Serve the dashboard, on this machine unless --host says otherwise"
    arguments = "[--host ADDRESS] [--port N]"
    example = "scrapy dashboard --port 8800"
    usual_spider = "catalog"
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": True}

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the address and the crawl."""
        super().add_options(parser)
        parser.add_argument("--host", default="", help="address (SEINE_DASHBOARD_HOST)")
        parser.add_argument("--port", default="", help="port, 0 picks one (SEINE_DASHBOARD_PORT)")
        declare_crawl(self, parser)

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Serve until a signal ends the server.

        Raises:
            ConfigError: a public address has no token, or the address cannot be used.
        """
        # Imported here, because Scrapy imports every command, and a worker needs no web server.
        from crawler.dashboard.app import make_app
        from crawler.dashboard.config import DashboardConfig
        from crawler.dashboard.serve import serve

        frontier = frontier_of(self, opts)
        crawl = frontier.crawl
        config = DashboardConfig.from_settings(self.project, crawl, host=opts.host, port=opts.port)
        config = attrs.evolve(config, seeds_key=frontier.seeds_key)
        stores = addresses(self.project)
        serve(
            make_app(config, stores),
            config.host,
            config.port,
            lambda url: self.show(f"dashboard of crawl {crawl} at {url}", url=url, crawl=crawl),
        )
        return 0
